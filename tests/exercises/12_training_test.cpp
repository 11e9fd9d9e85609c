// Grades exercise 12. Where the library has a function, it is the right answer.
#include "mistakes/12_training.hpp"  // made from mistakes.diff
#include "optim/schedule.hpp"
#include "tests/exercises/oracle.hpp"  // refusing

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

real smoothed_loss(const Tensor& scores, int target, real smoothing) {
  const Tensor row = reshape(scores, {1, scores.size(0)});
  return cross_entropy(row, IntTensor({1}, {target}), {.smoothing = smoothing}).item();
}

real sentence_loss(const Tensor& logits, const IntTensor& targets, real smoothing) {
  for (const int target : targets.values())
    if (target != 0) return cross_entropy(logits, targets, {.smoothing = smoothing, .ignore = 0}).item();
  return 0;
}

real learning_rate(Index step, Index d_model, Index warmup) {
  const Schedule paper{.kind = ScheduleKind::noam, .peak = 1, .warmup = warmup, .d_model = d_model};
  return refusing([&] { return paper(step); });
}

real clip_gradients(std::vector<Tensor>& gradients, real limit) {
  real squares = 0;
  for (const Tensor& g : gradients) squares += sum(g * g).item();
  const real norm = std::sqrt(squares), factor = norm > limit ? limit / norm : 1;
  for (Tensor& g : gradients) g = g * factor;
  return norm;
}

real perplexity(const std::vector<real>& losses, const std::vector<Index>& words) {
  const real total = std::inner_product(losses.begin(), losses.end(), words.begin(), real(0));
  return std::exp(total / real(std::accumulate(words.begin(), words.end(), Index(0))));
}

Tensor sentence_loss_backward(const Tensor& logits, const IntTensor& targets, real smoothing) {
  for (const int target : targets.values())
    if (target != 0)
      return pulled_back(
          [&](const Tensor& x) { return cross_entropy(x, targets, {.smoothing = smoothing, .ignore = 0}); },
          logits, scalar(1));
  return zeros(logits.shape());
}

}  // namespace oracle

// The tensors that were handed in must hold the new numbers.
std::string changed_in_place(const coach::Witness<coach::Case<decltype(exercise::clip_gradients)>>& seen) {
  const std::vector<Tensor>&before = std::get<0>(seen.before), &after = std::get<0>(seen.after);
  for (Index i = 0; i < std::ssize(before) && i < std::ssize(after); ++i)
    if (after[i] && before[i].data() != after[i].data())
      return fmt::format(
          "It is not in place: gradients[{}] is a new tensor, and whoever holds the old one (the "
          "optimizer) never sees the change.",
          i);
  return "";
}

coach::Exercise coach::exercise() {
  return {"12_training",
          {Question<decltype(exercise::smoothed_loss)>{
               .name = "smoothed_loss",
               .answer = exercise::smoothed_loss,
               .oracle = oracle::smoothed_loss,
               .arguments = {"scores", "target", "smoothing"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::smoothed_loss)> {
                 return {{tidy({2}, rng), 1, real(0)},
                         {tidy({3}, rng), 1, real(0.3)},
                         {tidy({5}, rng), 0, real(0.1)},
                         {tensor({1000, 999, 998}), 2, real(0.1)},
                         {tensor({-1000, -1002}), 0, real(0.1)},
                         {normal({7}, rng) * real(3), 4, real(0.2)},
                         {tensor({1000, -1000, 0}), 1, real(0.1)}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::smoothed_loss)> {
                 const Index V = draw.size();
                 return {draw.up_to_1000({V}), int(draw.rng.below(V)), real(draw.between(0, 5)) / 10};
               },
               .mistakes = mistakes::smoothed_loss,
               .notice = "With smoothing even a perfect guess costs something, so the model never has a "
                         "reason to be infinitely sure.",
               .library = {"cross_entropy"}},
           Question<decltype(exercise::sentence_loss)>{
               .name = "sentence_loss",
               .answer = exercise::sentence_loss,
               .oracle = oracle::sentence_loss,
               .arguments = {"logits", "targets", "smoothing"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::sentence_loss)> {
                 return {{tidy({2, 3}, rng), IntTensor({2}, {1, 2}), real(0)},
                         {tidy({2, 3}, rng), IntTensor({2}, {1, 0}), real(0.2)},
                         {tidy({2, 3}, rng), IntTensor({2}, {0, 0}), real(0.1)},
                         {normal({4, 5}, rng), IntTensor({4}, {3, 0, 4, 0}), real(0.1)},
                         {normal({7, 3}, rng), IntTensor({7}, {1, 2, 2, 1, 1, 0, 0}), real(0.3)}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::sentence_loss)> {
                 const Index T = draw.size(), V = draw.size(2);
                 return {draw.tidy({T, V}), IntTensor({T}, draw.ints(T, 0, V - 1)),
                         real(draw.between(0, 3)) / 10};
               },
               .mistakes = mistakes::sentence_loss,
               .notice =
                   "The loss of a sentence no longer depends on how much padding its batch happens to need.",
               .library = {"cross_entropy"}},
           Question<decltype(exercise::learning_rate)>{
               .name = "learning_rate",
               .answer = exercise::learning_rate,
               .oracle = oracle::learning_rate,
               .arguments = {"step", "d_model", "warmup"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::learning_rate)> {
                 return {{1, 4, 4},
                         {4, 4, 4},
                         {16, 4, 4},
                         {2, 9, 25},
                         {0, 16, 10},
                         {-3, 16, 10},
                         {4000, 512, 4000},
                         {30000 + rng.below(1000), 512, 4000},
                         {3 + rng.below(5), 7, 30}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::learning_rate)> {
                 const Index step = draw.rng.below(5) ? draw.count(10000000) : -draw.size(0);
                 return {step, draw.count(10000), draw.count(100000)};
               },
               .mistakes = mistakes::learning_rate,
               .notice =
                   "The two parts meet at step = warmup: there the rate is highest, (d_model · warmup)^−½."},
           Question<decltype(exercise::clip_gradients)>{
               .name = "clip_gradients",
               .answer = exercise::clip_gradients,
               .oracle = oracle::clip_gradients,
               .arguments = {"gradients", "limit"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::clip_gradients)> {
                 return {{{tensor({3, 4}), tensor({12})}, real(1)},
                         {{tidy({3}, rng), tidy({2}, rng)}, real(0.5)},
                         {{tidy({2}, rng) * real(0.1), tidy({1}, rng) * real(0.1)}, real(5)},
                         {{tensor({0.3, -0.4}), tensor({0.5})}, real(0.6)},
                         {{tensor({0, 0}), tensor({0})}, real(1)},
                         {{normal({3, 5}, rng), normal({7}, rng), normal({1}, rng)}, real(2)}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::clip_gradients)> {
                 std::vector<Tensor> gradients;
                 for (Index i = draw.size(); i > 0; --i)
                   gradients.push_back(
                       draw.tidy(draw.coin() ? Shape{draw.size()} : Shape{draw.size(), draw.size()}));
                 return {gradients, real(draw.between(1, 40)) / 10};
               },
               .promise = changed_in_place,
               .mistakes = mistakes::clip_gradients,
               .notice = "Only the length changed: the ratios between any two numbers are as before."},
           Question<decltype(exercise::perplexity)>{
               .name = "perplexity",
               .answer = exercise::perplexity,
               .oracle = oracle::perplexity,
               .arguments = {"losses", "words"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::perplexity)> {
                 const real a = real(1 + 0.1 * static_cast<double>(rng.below(10)));
                 return {{{a}, {5}},
                         {{real(0.5), a}, {30, 10}},
                         {{a, a / 2, 2 * a}, {7, 1 + rng.below(5), 3}},
                         {{real(0), real(3), a, real(1)}, {1, 2, 40, 5}}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::perplexity)> {
                 std::vector<real> losses;
                 std::vector<Index> words;
                 for (Index i = draw.size(); i > 0; --i) {
                   losses.push_back(real(draw.between(0, 50)) / 10);
                   words.push_back(draw.count(1000000));
                 }
                 return {losses, words};
               },
               .mistakes = mistakes::perplexity,
               .notice = "A model that knows nothing has the perplexity V, one that knows everything 1."},
           Question<decltype(exercise::sentence_loss_backward)>{
               .name = "sentence_loss_backward",
               .answer = exercise::sentence_loss_backward,
               .oracle = oracle::sentence_loss_backward,
               .arguments = {"logits", "targets", "smoothing"},
               .cases = [](Rng& rng) -> Cases<decltype(exercise::sentence_loss_backward)> {
                 return {{tidy({2, 3}, rng), IntTensor({2}, {1, 2}), real(0)},
                         {tidy({2, 3}, rng), IntTensor({2}, {1, 0}), real(0.2)},
                         {tidy({2, 3}, rng), IntTensor({2}, {0, 0}), real(0.1)},
                         {normal({4, 5}, rng), IntTensor({4}, {3, 0, 4, 0}), real(0.1)},
                         {normal({7, 3}, rng), IntTensor({7}, {1, 2, 2, 1, 1, 0, 0}), real(0.3)}};
               },
               .draw = [](Draw& draw) -> Case<decltype(exercise::sentence_loss_backward)> {
                 const Index T = draw.size(), V = draw.size(2);
                 return {draw.tidy({T, V}), IntTensor({T}, draw.ints(T, 0, V - 1)),
                         real(draw.between(0, 3)) / 10};
               },
               .mistakes = mistakes::sentence_loss_backward,
               .notice = "Every row of the result sums to 0: what one word gains, the others lose.",
               .library = {"backward"}}}};
}
