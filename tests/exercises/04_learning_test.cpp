// Grades exercise 04. Where the library has a function, it is the right answer.
#include "mistakes/04_learning.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"

namespace exercise {
inline auto fields(AdamState& state) {
  return std::tuple{coach::field("m", state.m), coach::field("v", state.v), coach::field("step", state.step)};
}
inline auto fields(AdamSettings& settings) {
  return std::tuple{coach::field("rate", settings.rate), coach::field("beta1", settings.beta1),
                    coach::field("beta2", settings.beta2), coach::field("epsilon", settings.epsilon)};
}
}  // namespace exercise

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::AdamSettings;
using exercise::AdamState;

namespace oracle {

Tensor loss(const Tensor& logits, const std::vector<int>& targets) {
  return cross_entropy(logits, IntTensor({logits.size(0)}, targets));
}

real batch_loss(const Tensor& logits, const std::vector<int>& targets) {
  return loss(logits, targets).item();
}

Tensor batch_loss_backward(const Tensor& logits, const std::vector<int>& targets) {
  return pulled_back([&](const Tensor& x) { return loss(x, targets); }, logits, scalar(1));
}

void sgd_step(Tensor& p, const Tensor& gradient, Tensor& velocity, real rate, real momentum) {
  velocity = momentum * velocity + gradient;
  p = p - rate * velocity;
}

void adam_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s) {
  ++state.step;
  state.m = s.beta1 * state.m + (1 - s.beta1) * gradient;
  state.v = s.beta2 * state.v + (1 - s.beta2) * gradient * gradient;
  const Tensor mean = state.m / (1 - std::pow(s.beta1, real(state.step)));
  const Tensor square = state.v / (1 - std::pow(s.beta2, real(state.step)));
  p = p - s.rate * mean / (sqrt(square) + s.epsilon);
}

void adamw_step(Tensor& p, const Tensor& gradient, AdamState& state, const AdamSettings& s, real decay) {
  p = (1 - s.rate * decay) * p;
  oracle::adam_step(p, gradient, state, s);
}

Tensor relu_backward(const Tensor& x, const Tensor& gradient) {
  return pulled_back([](const Tensor& leaf) { return relu(leaf); }, x, gradient);
}

}  // namespace oracle

std::vector<int> answers(Index count, Index classes, Rng& rng) {
  std::vector<int> targets;
  for (Index i = 0; i < count; ++i) targets.push_back(static_cast<int>(rng.below(classes)));
  return targets;
}

// A state as it is at the start, or as some steps leave it.
AdamState fresh(Index size) { return {zeros({size}), zeros({size}), 0}; }
AdamState after(int steps, Index size, Rng& rng) {
  const Tensor root = uniform({size}, rng, real(0.1), 1);
  return {normal({size}, rng) * real(0.3), root * root, steps};
}

AdamState drawn_state(coach::Draw& draw, Index size) {
  return draw.coin() ? fresh(size) : after(int(draw.between(1, 20)), size, draw.rng);
}
AdamSettings drawn_settings(coach::Draw& draw) {
  return {.rate = draw.one_of<real>({real(0.1), real(0.01)}),
          .beta1 = draw.one_of<real>({real(0.9), real(0.5)}),
          .beta2 = draw.one_of<real>({real(0.999), real(0.9)}),
          .epsilon = draw.one_of<real>({real(1e-8), real(0.05)})};
}

coach::Exercise coach::exercise() {
  return {
      "04_learning",
      {Question<decltype(exercise::batch_loss)>{
           .name = "batch_loss",
           .answer = exercise::batch_loss,
           .oracle = oracle::batch_loss,
           .arguments = {"logits", "targets"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::batch_loss)> {
             return {{tidy({1, 2}, rng), answers(1, 2, rng)},
                     {tidy({2, 3}, rng), {2, 0}},
                     {normal({5, 7}, rng) * real(2), answers(5, 7, rng)},
                     {tensor({{1000, 999}}), {1}},
                     {tensor({{1000, 999}, {-1000, -1001}}), {1, 0}},
                     {tensor({{-1000, -1001}}), {1}},
                     {tensor({{1000, -1000, 0}}), {1}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::batch_loss)> {
             const Index N = draw.size(), V = draw.size();
             return {draw.up_to_1000({N, V}), draw.ints(N, 0, V - 1)};
           },
           .mistakes = mistakes::batch_loss,
           .notice = "Guessing blindly among V answers costs log V: the number to compare a fresh network's "
                     "loss with.",
           .library = {"cross_entropy"}},
       Question<decltype(exercise::batch_loss_backward)>{
           .name = "batch_loss_backward",
           .answer = exercise::batch_loss_backward,
           .oracle = oracle::batch_loss_backward,
           .arguments = {"logits", "targets"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::batch_loss_backward)> {
             return {{tidy({1, 2}, rng), answers(1, 2, rng)},
                     {tidy({2, 3}, rng), {2, 0}},
                     {normal({3, 3}, rng), answers(3, 3, rng)},
                     {normal({5, 7}, rng) * real(2), answers(5, 7, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::batch_loss_backward)> {
             const Index N = draw.size(), V = draw.size();
             return {draw.tidy({N, V}), draw.ints(N, 0, V - 1)};
           },
           .mistakes = mistakes::batch_loss_backward,
           .notice = "The further off, the larger the gradient, and never larger than 1: that is why "
                     "cross-entropy goes so "
                     "well with softmax.",
           .library = {"backward"}},
       Question<decltype(exercise::sgd_step)>{
           .name = "sgd_step",
           .answer = exercise::sgd_step,
           .oracle = oracle::sgd_step,
           .arguments = {"p", "gradient", "velocity", "rate", "momentum"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::sgd_step)> {
             return {{tidy({1}, rng), tidy({1}, rng), tensor({2}), real(0.1), real(0.5)},
                     {tidy({2}, rng), tidy({2}, rng), zeros({2}), real(0.1), real(0.9)},
                     {normal({7}, rng), normal({7}, rng), normal({7}, rng), real(0.03), real(0.9)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::sgd_step)> {
             const Index n = draw.size();
             return {draw.tidy({n}), draw.tidy({n}), draw.tidy({n}), real(draw.between(1, 20)) / 100,
                     real(draw.between(0, 9)) / 10};
           },
           .mistakes = mistakes::sgd_step,
           .notice = "With momentum 0, it is plain SGD."},
       Question<decltype(exercise::adam_step)>{
           .name = "adam_step",
           .answer = exercise::adam_step,
           .oracle = oracle::adam_step,
           .arguments = {"p", "gradient", "state", "settings"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::adam_step)> {
             return {{tidy({1}, rng), tensor({5}), fresh(1), {.rate = real(0.1)}},
                     {tidy({2}, rng),
                      tidy({2}, rng),
                      after(1, 2, rng),
                      {.rate = real(0.1), .epsilon = real(0.05)}},
                     {normal({7}, rng),
                      normal({7}, rng),
                      after(9, 7, rng),
                      {.rate = real(0.01), .beta2 = real(0.98)}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::adam_step)> {
             const Index n = draw.size();
             return {draw.tidy({n}), draw.tidy({n}), drawn_state(draw, n), drawn_settings(draw)};
           },
           .mistakes = mistakes::adam_step,
           .notice =
               "A step is about `rate` long for every parameter, whether its gradients are 1000 or 0.001."},
       Question<decltype(exercise::adamw_step)>{
           .name = "adamw_step",
           .answer = exercise::adamw_step,
           .oracle = oracle::adamw_step,
           .arguments = {"p", "gradient", "state", "settings", "decay"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::adamw_step)> {
             return {{tensor({2}), tensor({5}), fresh(1), {.rate = real(0.1)}, real(0.5)},
                     {tidy({2}, rng) + 2, tidy({2}, rng), after(1, 2, rng), {.rate = real(0.1)}, real(0.5)},
                     {normal({7}, rng), normal({7}, rng), after(9, 7, rng), {.rate = real(0.05)}, real(0.1)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::adamw_step)> {
             const Index n = draw.size();
             return {draw.tidy({n}), draw.tidy({n}), drawn_state(draw, n), drawn_settings(draw),
                     real(draw.between(1, 10)) / 10};
           },
           .mistakes = mistakes::adamw_step,
           .notice = "A weight with no gradient at all still goes to 0, by the same share in every step."},
       Question<decltype(exercise::relu_backward)>{
           .name = "relu_backward",
           .answer = exercise::relu_backward,
           .oracle = oracle::relu_backward,
           .arguments = {"x", "gradient"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::relu_backward)> {
             return {{tensor({{-1, 2}}), tensor({{5, -7}})},
                     {tensor({{0, 3}, {-2, 1}}), tensor({{-4, 6}, {-8, 9}})},
                     {normal({5, 7}, rng), normal({5, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::relu_backward)> {
             const Shape shape{draw.size(), draw.size()};
             return {draw.tidy(shape), draw.tidy(shape)};
           },
           .mistakes = mistakes::relu_backward,
           .notice =
               "A unit whose x is below 0 for every example gets no gradient and stays as it is: a dead "
               "ReLU.",
           .library = {"backward"}}}};
}
