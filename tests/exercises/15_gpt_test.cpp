// Grades exercise 15. Where the library has a function, it is the right answer.
#include "mistakes/15_gpt.hpp"  // made from mistakes.diff
#include "lessons/coach/show.hpp"

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::Block, exercise::Model, exercise::TinyGpt, exercise::Windows;

namespace oracle {

Windows next_token_windows(const std::vector<int>& text, const std::vector<int>& starts, int T) {
  const Index B = std::ssize(starts);
  Windows windows{IntTensor({B, T}), IntTensor({B, T})};
  for (Index b = 0; b < B; ++b)
    for (Index t = 0; t < T; ++t) {
      const Index at = starts[b] + t;
      if (at < 0 || at + 1 >= std::ssize(text)) throw std::invalid_argument("a window leaves the text");
      windows.reads(b, t) = text[at], windows.writes(b, t) = text[at + 1];
    }
  return windows;
}

double next_token_loss(const Tensor& logits, const std::vector<int>& writes) {
  return cross_entropy(logits, IntTensor({logits.size(0)}, writes)).item();
}

Tensor gpt_logits(const TinyGpt& gpt, const std::vector<int>& tokens) {
  const Index T = std::ssize(tokens);
  if (T > gpt.positions.size(0)) throw std::invalid_argument("more tokens than positions");
  Tensor h = take_rows(gpt.embedding, tokens) + slice(gpt.positions, 0, 0, T);
  for (const Block& block : gpt.blocks) h = block(h);
  return linear(layer_norm(h, gpt.gain, gpt.bias), gpt.embedding);
}

std::vector<int> generate(const Model& model, const std::vector<int>& prompt, int count, int limit) {
  std::vector<int> text = prompt, context;
  for (int step = 0; step < count; ++step) {
    context = text;
    while (std::ssize(context) > limit) context.erase(context.begin());
    text.push_back(argmax(model(context)).values().back());
  }
  return text;
}

}  // namespace oracle

namespace {

std::vector<int> some_tokens(Index n, Index V, Rng& rng) {
  std::vector<int> tokens;
  for (Index i = 0; i < n; ++i) tokens.push_back(int(rng.below(V)));
  return tokens;
}
// Distinct neighbours, so that every shift can be told apart.
std::vector<int> counting(int n, int first) {
  std::vector<int> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(first + i);
  return tokens;
}

// Looks back evenly: x_t + tanh(mean of x_0 … x_t through a random matrix).
Block block_of(Index C, Rng& rng) {
  const Tensor w = normal({C, C}, rng);
  return [w](const Tensor& x) {
    Tensor before = zeros(x.shape());
    for (Index t = 0; t < x.size(0); ++t)
      for (Index s = 0; s <= t; ++s)
        for (Index c = 0; c < x.size(1); ++c) before(t, c) += x(s, c) / real(t + 1);
    return x + tanh(matmul(before, w));
  };
}

TinyGpt gpt_of(Index V, Index C, Index length, int blocks, Rng& rng) {
  TinyGpt gpt{coach::tidy({V, C}, rng),
              coach::tidy({length, C}, rng),
              {},
              coach::tidy({C}, rng),
              coach::tidy({C}, rng)};
  for (int i = 0; i < blocks; ++i) gpt.blocks.push_back(block_of(C, rng));
  return gpt;
}

// Logits around `middle` that depend on all tokens of the context and where they stand in it,
// and on nothing else.
Model model_of(std::uint64_t seed, Index V, int limit, double middle = 0) {
  return [=](const std::vector<int>& tokens) {
    if (int(tokens.size()) > limit) throw std::invalid_argument("the table of positions ends");
    Tensor logits = empty({Index(tokens.size()), V});
    std::uint64_t past = seed;
    for (Index t = 0; t < logits.size(0); ++t) {
      past = past * 6364136223846793005u + std::uint64_t(tokens[std::size_t(t)]) + 1442695040888963407u;
      Rng rng(past);
      for (Index v = 0; v < V; ++v) logits(t, v) = real(middle + rng.normal());
    }
    return logits;
  };
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "15_gpt",
      {Question<decltype(exercise::next_token_windows)>{
           .name = "next_token_windows",
           .answer = exercise::next_token_windows,
           .oracle = oracle::next_token_windows,
           .arguments = {"text", "starts", "T"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::next_token_windows)> {
             const int first = 3 + int(rng.below(5));
             return {{counting(4, first), {0}, 2},
                     {counting(6, first), {1, 0}, 3},
                     {counting(4, first), {1}, 2},
                     {counting(4, first), {2}, 2},
                     {counting(4, first), {-1}, 2},
                     {counting(6, first), {0, 4}, 2},  // only the second leaves the text
                     {counting(17, first), {3, 0, 9}, 5},
                     {some_tokens(33, 11, rng), {7, 20, 1, 25}, 7}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::next_token_windows)> {
             const int T = int(draw.size()), n = T + 1 + int(draw.size(0));
             const bool leaves = draw.rng.below(3) == 0;
             return {draw.ints(n, 3, 99),
                     draw.ints(draw.size(), leaves ? -2 : 0, n - T - 1 + (leaves ? 2 : 0)), T};
           },
           .mistakes = mistakes::next_token_windows,
           .notice = "T tokens give T lessons at once: that is why a language model learns so much from a "
                     "text, and why the causal mask has to be right."},
       Question<decltype(exercise::next_token_loss)>{
           .name = "next_token_loss",
           .answer = exercise::next_token_loss,
           .oracle = oracle::next_token_loss,
           .arguments = {"logits", "writes"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::next_token_loss)> {
             return {{tidy({1, 2}, rng), some_tokens(1, 2, rng)},
                     {tidy({2, 3}, rng), some_tokens(2, 3, rng)},
                     {normal({5, 7}, rng) * real(3), some_tokens(5, 7, rng)},
                     {tensor({{1000, 999}, {-1000, -1001}}), {1, 0}},
                     {tensor({{-1000, -1001}, {-1002, -1000}}), {1, 0}},
                     {tensor({{1000, -1000, 0}}), {1}},
                     {normal({7, 5}, rng), some_tokens(7, 5, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::next_token_loss)> {
             const Index T = draw.size(), V = draw.size();
             return {draw.up_to_1000({T, V}), draw.ints(T, 0, V - 1)};
           },
           .mistakes = mistakes::next_token_loss,
           .notice = "A model that knows nothing pays log V; divide a loss by log 2 and you have bits.",
           .library = {"cross_entropy"}},
       Question<decltype(exercise::gpt_logits)>{
           .name = "gpt_logits",
           .answer = exercise::gpt_logits,
           .oracle = oracle::gpt_logits,
           .arguments = {"gpt", "tokens"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::gpt_logits)> {
             return {{gpt_of(2, 3, 2, 0, rng), {1}},
                     {gpt_of(3, 3, 4, 1, rng), {2, 0}},
                     {gpt_of(5, 3, 7, 2, rng), some_tokens(4, 5, rng)},
                     {gpt_of(5, 3, 3, 1, rng), some_tokens(3, 3, rng)},
                     {gpt_of(5, 3, 3, 1, rng), some_tokens(4, 3, rng)},
                     {gpt_of(11, 7, 13, 3, rng), some_tokens(9, 11, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::gpt_logits)> {
             const Index V = draw.size(), length = draw.size();
             const Index T = draw.rng.below(5) ? draw.between(1, length) : length + 1;
             return {gpt_of(V, draw.size(2), length, int(draw.between(0, 3)), draw.rng),
                     draw.ints(T, 0, V - 1)};
           },
           .mistakes = mistakes::gpt_logits,
           .notice = "Nothing here depends on how long the training was or how large the model is: GPT-2 is "
                     "these lines with 48 blocks of 1600 channels.",
           .tolerance = 1e-4},
       Question<decltype(exercise::generate)>{
           .name = "generate",
           .answer = exercise::generate,
           .oracle = oracle::generate,
           .arguments = {"model", "prompt", "count", "limit"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::generate)> {
             return {{model_of(rng.bits64(), 5, 8), {4}, 2, 8},
                     {model_of(rng.bits64(), 17, 8), {4, 1, 3}, 5, 8},
                     {model_of(rng.bits64(), 17, 3), {2, 1}, 7, 3},
                     {model_of(rng.bits64(), 33, 5), {7, 3, 1, 0, 2, 6, 4}, 9, 5},
                     {model_of(rng.bits64(), 7, 5), {3, 2}, 0, 5},
                     {model_of(rng.bits64(), 3, 5, -6), {1}, 15, 5}};  // all logits are negative
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::generate)> {
             const Index V = draw.size(2), limit = draw.size();
             return {model_of(draw.rng.bits64(), V, int(limit), draw.one_of<double>({0, 0, -6})),
                     draw.ints(draw.size(), 0, V - 1), int(draw.size(0)), int(limit)};
           },
           .mistakes = mistakes::generate,
           .notice =
               "Each token costs a pass over the whole context; the cache of lesson 14 makes it one step.",
           .show_answer = highest_scores}}};
}
