// Grades exercise 16. Where the library has a function, it is the right answer.
#include "mistakes/16_bert.hpp"  // made from mistakes.diff

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::cls, exercise::first_word, exercise::Gaps, exercise::mask, exercise::pad, exercise::PairRow,
    exercise::sep;

namespace oracle {

Gaps mask_tokens(const std::vector<int>& tokens, const std::vector<double>& choose,
                 const std::vector<double>& lot, const std::vector<int>& other) {
  Gaps gaps;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool chosen = tokens[t] >= first_word && choose[t] < 0.15;
    const int read = lot[t] < 0.8 ? mask : lot[t] < 0.9 ? other[t] : tokens[t];
    gaps.reads.push_back(chosen ? read : tokens[t]);
    gaps.asked.push_back(chosen ? 1 : 0);
  }
  return gaps;
}

double mlm_loss(const Tensor& logits, const std::vector<int>& words, const std::vector<int>& asked) {
  IntTensor targets({logits.size(0)}, words);
  for (Index t = 0; t < targets.numel(); ++t)
    if (!asked[t]) targets[t] = -1;
  const bool any = std::count(asked.begin(), asked.end(), 0) < std::ssize(asked);
  return any ? cross_entropy(logits, targets, {.ignore = -1}).item() : 0;
}

PairRow join_pair(const std::vector<int>& first, const std::vector<int>& second) {
  PairRow row{{cls}, {0}};
  for (const int word : first) row.tokens.push_back(word), row.segments.push_back(0);
  row.tokens.push_back(sep), row.segments.push_back(0);
  for (const int word : second) row.tokens.push_back(word), row.segments.push_back(1);
  row.tokens.push_back(sep), row.segments.push_back(1);
  return row;
}

Tensor classify(const Tensor& states, const Tensor& pool_w, const Tensor& pool_b, const Tensor& head_w,
                const Tensor& head_b) {
  const Tensor pooled = tanh(matmul(select(states, 1, 0), pool_w, Transpose::second) + pool_b);
  return matmul(pooled, head_w, Transpose::second) + head_b;
}

// The cross-entropy of teacher and student, less the teacher's own entropy.
double distillation_loss(const Tensor& student, const Tensor& teacher, double temperature) {
  const Tensor p = softmax(teacher / real(temperature));
  const auto cost = [&](const Tensor& logits) {
    return -sum(p * log_softmax(logits / real(temperature))).item();
  };
  return temperature * temperature * (cost(student) - cost(teacher)) / double(student.size(0));
}

}  // namespace oracle

namespace {

using MaskCase = Cases<decltype(exercise::mask_tokens)>::value_type;

// A padded sentence with every case in it: each word is chosen or not, and of each kind.
MaskCase sentence_of(Index words, Index padding, Rng& rng) {
  std::vector<int> tokens{cls}, other;
  for (Index i = 0; i < words; ++i) tokens.push_back(first_word + int(rng.below(20)));
  tokens.push_back(sep);
  tokens.insert(tokens.end(), std::size_t(padding), pad);
  std::vector<double> choose, lot;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    choose.push_back(t % 3 == 2 ? 0.2 + 0.7 * rng.uniform() : 0.14 * rng.uniform());
    const double kinds[] = {0.4, 0.85, 0.95};
    lot.push_back(kinds[(t / 3 + t) % 3] + 0.03 * rng.uniform());
    other.push_back(first_word + 20 + int(rng.below(20)));
  }
  return {tokens, choose, lot, other};
}

std::vector<int> some_words(Index n, Rng& rng) {
  std::vector<int> words;
  for (Index i = 0; i < n; ++i) words.push_back(first_word + int(rng.below(20)));
  return words;
}
std::vector<int> some_targets(Index n, Index V, Rng& rng) {
  std::vector<int> words;
  for (Index i = 0; i < n; ++i) words.push_back(int(rng.below(V)));
  return words;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "16_bert",
      {Question<decltype(exercise::mask_tokens)>{
           .name = "mask_tokens",
           .answer = exercise::mask_tokens,
           .oracle = oracle::mask_tokens,
           .arguments = {"tokens", "choose", "lot", "other"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::mask_tokens)> {
             const int word = first_word + int(rng.below(9));
             return {
                 {{cls, word, sep}, {0.5, 0.1, 0.6}, {0.2, 0.3, 0.4}, {30, 31, 32}},
                 {{cls, word, word + 1, sep}, {0.5, 0.1, 0.4, 0.9}, {0.2, 0.85, 0.4, 0.1}, {30, 31, 32, 33}},
                 {{cls, word, word + 1, sep}, {0.5, 0.6, 0.1, 0.9}, {0.2, 0.1, 0.95, 0.1}, {30, 31, 32, 33}},
                 {{cls, word, sep, pad}, {0.1, 0.6, 0.05, 0.02}, {0.2, 0.1, 0.85, 0.3}, {30, 31, 32, 33}},
                 {{cls, word, word, word, sep},
                  {0.5, 0.15, 0.149, 0.01, 0.9},
                  {0.1, 0.1, 0.8, 0.9, 0.1},
                  {30, 31, 32, 33, 34}},
                 // A sentence that has a gap already, an unknown word (3), and a word at its very end.
                 {{cls, mask, first_word, 3, word},
                  {0.5, 0.1, 0.1, 0.1, 0.1},
                  {0.1, 0.85, 0.1, 0.1, 0.85},
                  {30, 31, 32, 33, 34}},
                 sentence_of(11, 3, rng),
                 sentence_of(17, 0, rng)};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::mask_tokens)> {
             const Index T = draw.size();
             Case<decltype(exercise::mask_tokens)> drawn;
             auto& [tokens, choose, lot, other] = drawn;
             for (Index t = 0; t < T; ++t) {  // the limits themselves, too
               tokens.push_back(int(draw.between(0, first_word + 6)));
               choose.push_back(draw.one_of<double>({0.0, 0.1, 0.149, 0.15, 0.5}));
               lot.push_back(draw.one_of<double>({0.0, 0.5, 0.8, 0.85, 0.9, 0.95}));
               other.push_back(first_word + 20 + int(draw.rng.below(20)));
             }
             return drawn;
           },
           .mistakes = mistakes::mask_tokens,
           .notice =
               "One word in seven is asked for, so BERT learns from a text seven times less at once than "
               "GPT, but from both sides."},
       Question<decltype(exercise::mlm_loss)>{
           .name = "mlm_loss",
           .answer = exercise::mlm_loss,
           .oracle = oracle::mlm_loss,
           .arguments = {"logits", "words", "asked"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::mlm_loss)> {
             return {{tidy({2, 2}, rng), some_targets(2, 2, rng), {0, 1}},
                     {tidy({3, 3}, rng), some_targets(3, 3, rng), {1, 0, 1}},
                     {tidy({2, 3}, rng), some_targets(2, 3, rng), {0, 0}},
                     {normal({5, 7}, rng), some_targets(5, 7, rng), {0, 1, 1, 0, 1}},
                     {normal({9, 5}, rng), some_targets(9, 5, rng), {0, 1, 0, 0, 0, 1, 1, 0, 1}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::mlm_loss)> {
             const Index T = draw.size(), V = draw.size();
             return {draw.tidy({T, V}), draw.ints(T, 0, V - 1), draw.ints(T, 0, 1)};
           },
           .mistakes = mistakes::mlm_loss,
           .notice =
               "Rows that are not asked for get no gradient through the head, but attention still looks at "
               "their words.",
           .library = {"cross_entropy"}},
       Question<decltype(exercise::join_pair)>{
           .name = "join_pair",
           .answer = exercise::join_pair,
           .oracle = oracle::join_pair,
           .arguments = {"first", "second"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::join_pair)> {
             return {{some_words(1, rng), some_words(2, rng)},
                     {some_words(3, rng), some_words(1, rng)},
                     {some_words(5, rng), some_words(7, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::join_pair)> {
             return {some_words(draw.size(), draw.rng), some_words(draw.size(), draw.rng)};
           },
           .mistakes = mistakes::join_pair,
           .notice = "The same row serves every task on two texts: question and passage, claim and proof."},
       Question<decltype(exercise::classify)>{
           .name = "classify",
           .answer = exercise::classify,
           .oracle = oracle::classify,
           .arguments = {"states", "pool_w", "pool_b", "head_w", "head_b"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::classify)> {
             return {
                 {tidy({1, 2, 2}, rng), tidy({2, 2}, rng), tidy({2}, rng), tidy({2, 2}, rng), tidy({2}, rng)},
                 {tidy({2, 3, 3}, rng), tidy({3, 3}, rng), tidy({3}, rng), tidy({2, 3}, rng), tidy({2}, rng)},
                 {normal({5, 4, 7}, rng), normal({7, 7}, rng), normal({7}, rng), normal({3, 7}, rng),
                  normal({3}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::classify)> {
             const Index B = draw.size(), T = draw.size(), C = draw.size(), K = draw.size();
             return {draw.tidy({B, T, C}), draw.tidy({C, C}), draw.tidy({C}), draw.tidy({K, C}),
                     draw.tidy({K})};
           },
           .mistakes = mistakes::classify,
           .notice = "Leave out the selection and the same head tags every word: that is token "
                     "classification."},
       Question<decltype(exercise::distillation_loss)>{
           .name = "distillation_loss",
           .answer = exercise::distillation_loss,
           .oracle = oracle::distillation_loss,
           .arguments = {"student", "teacher", "temperature"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::distillation_loss)> {
             return {{tidy({1, 2}, rng), tidy({1, 2}, rng), 2.0},
                     {tidy({2, 3}, rng), tidy({2, 3}, rng), 2.0},
                     {normal({3, 3}, rng) * real(2), normal({3, 3}, rng) * real(2), 3.0},
                     {normal({5, 7}, rng) * real(2), normal({5, 7}, rng) * real(3), 1.5}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::distillation_loss)> {
             const Shape shape{draw.size(), draw.size(2)};
             return {draw.tidy(shape) * real(2), draw.tidy(shape) * real(2), double(draw.between(1, 8)) / 2};
           },
           .mistakes = mistakes::distillation_loss,
           .notice =
               "No label occurs in it: a student can be taught on any text that the teacher can read."}}};
}
