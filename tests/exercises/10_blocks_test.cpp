// Grades exercise 10. Where the library has a function, it is the right answer.
#include "mistakes/10_blocks.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"

using namespace attn;
using coach::Cases;
using coach::Question;
using coach::tidy;
using exercise::Sublayer;

namespace oracle {

Tensor normalise(const Tensor& x, const Tensor& gain, const Tensor& bias, real epsilon) {
  return layer_norm(x, gain, bias, epsilon);
}

Tensor normalise_backward(const Tensor& x, const Tensor& gain, const Tensor& gradient, real epsilon) {
  return pulled_back([&](const Tensor& y) { return layer_norm(y, gain, {}, epsilon); }, x, gradient);
}

Tensor rms_normalise(const Tensor& x, const Tensor& gain, real epsilon) { return rms_norm(x, gain, epsilon); }

Tensor post_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                       const Sublayer& first_norm, const Sublayer& second_norm) {
  const auto residual = [](const Tensor& y, const Sublayer& f, const Sublayer& norm) {
    return norm(f(y) + y);
  };
  return residual(residual(x, attend, first_norm), feed_forward, second_norm);
}

Tensor pre_norm_block(const Tensor& x, const Sublayer& attend, const Sublayer& feed_forward,
                      const Sublayer& first_norm, const Sublayer& second_norm) {
  const auto residual = [](const Tensor& y, const Sublayer& f, const Sublayer& norm) {
    return f(norm(y)) + y;
  };
  return residual(residual(x, attend, first_norm), feed_forward, second_norm);
}

Tensor drop_out(const Tensor& x, const Tensor& u, real p, bool training) {
  Tensor out = from_values(x.shape(), x.values());
  for (Index i = 0; training && i < x.numel(); ++i)
    out.data()[i] = u.data()[i] < p ? 0 : out.data()[i] / (1 - p);
  return out;
}

}  // namespace oracle

namespace {

// Stand-ins for the parts of a block, each with its own numbers, so that none can be taken for another.
Sublayer scaled(real factor, real offset) {
  return [=](const Tensor& x) { return x * factor + offset; };
}
Sublayer bent(real factor) {
  return [=](const Tensor& x) { return tanh(x * factor) + real(0.3); };
}
Sublayer norm(real gain, real offset) {
  return [=](const Tensor& x) { return layer_norm(x, {}, {}, real(0.01)) * gain + offset; };
}

template <class Signature>
Cases<Signature> block_cases(Rng& rng) {
  return {{tidy({1, 1}, rng), scaled(2, 0), scaled(1, 3), scaled(-1, 0), scaled(real(0.5), 0)},
          {tidy({1, 2}, rng), scaled(2, 1), bent(1), scaled(real(0.5), 0), scaled(3, 0)},
          {normal({3, 5}, rng), bent(2), bent(-1), norm(2, 0), norm(1, 1)},
          {normal({5, 3}, rng), bent(1), scaled(-2, 1), norm(1, real(0.5)), norm(3, 0)}};
}

template <class Signature>
coach::Case<Signature> drawn_block(coach::Draw& draw) {
  const auto part = [&]() -> Sublayer {
    const real factor = real(draw.between(1, 9)) / 3, offset = draw.number();
    return draw.coin() ? scaled(factor, offset) : bent(-factor);
  };
  const auto a_norm = [&]() -> Sublayer {
    const real gain = real(draw.between(1, 9)) / 2, offset = draw.number();
    return draw.coin() ? norm(gain, offset) : scaled(gain, offset);
  };
  const Shape shape{draw.size(), draw.size()};
  return {draw.tidy(shape), part(), part(), a_norm(), a_norm()};
}

Tensor constant_row(Tensor x, Index row, real value) {
  for (Index c = 0; c < x.size(1); ++c) x(row, c) = value;
  return x;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "10_blocks",
      {Question<decltype(exercise::normalise)>{
           .name = "normalise",
           .answer = exercise::normalise,
           .oracle = oracle::normalise,
           .arguments = {"x", "gain", "bias", "epsilon"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::normalise)> {
             return {
                 {tidy({1, 3}, rng), tensor({1, 1, 1}), tensor({0, 0, 0}), real(0.1)},
                 {tidy({2, 3}, rng), tidy({3}, rng), tidy({3}, rng), real(0.1)},
                 {normal({5, 7}, rng) * real(3) + real(2), normal({7}, rng), normal({7}, rng), real(0.1)},
                 {constant_row(normal({3, 4}, rng), 1, 2), normal({4}, rng), normal({4}, rng), real(1e-3)},
                 {normal({3, 3}, rng), normal({3}, rng), normal({3}, rng), real(1e-5)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::normalise)> {
             const Index T = draw.size(), C = draw.size(2);
             Tensor x = draw.tidy({T, C});
             if (draw.scale > 1 && draw.rng.below(3) == 0) x = x + real(1000000);  // far above its deviation
             return {x, draw.tidy({C}), draw.tidy({C}),
                     draw.one_of<real>({real(1e-5), real(1e-3), real(0.1)})};
           },
           .mistakes = mistakes::normalise,
           .notice = "Multiply a token by 1000 or add 5 to all of its channels: the result stays. That is "
                     "what keeps a deep stack calm.",
           .library = {"layer_norm"}},
       Question<decltype(exercise::normalise_backward)>{
           .name = "normalise_backward",
           .answer = exercise::normalise_backward,
           .oracle = oracle::normalise_backward,
           .arguments = {"x", "gain", "gradient", "epsilon"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::normalise_backward)> {
             return {
                 {tidy({1, 3}, rng), tensor({1, 1, 1}), tidy({1, 3}, rng), real(0.1)},
                 {tidy({2, 3}, rng), tidy({3}, rng), tidy({2, 3}, rng), real(0.1)},
                 {normal({5, 7}, rng) * real(3) + real(1), normal({7}, rng), normal({5, 7}, rng), real(1e-5)},
                 {normal({4, 4}, rng), normal({4}, rng), normal({4, 4}, rng), real(0.01)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::normalise_backward)> {
             const Index T = draw.size(), C = draw.size(2);
             return {draw.tidy({T, C}), draw.tidy({C}), draw.tidy({T, C}),
                     draw.one_of<real>({real(1e-3), real(0.1)})};
           },
           .mistakes = mistakes::normalise_backward,
           .notice = "The gradients of each token sum to 0: adding the same number to all channels changes "
                     "nothing, so nothing can be gained by it.",
           .library = {"backward"}},
       Question<decltype(exercise::rms_normalise)>{
           .name = "rms_normalise",
           .answer = exercise::rms_normalise,
           .oracle = oracle::rms_normalise,
           .arguments = {"x", "gain", "epsilon"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::rms_normalise)> {
             return {{tidy({1, 3}, rng), tensor({1, 1, 1}), real(0.1)},
                     {tidy({2, 3}, rng), tidy({3}, rng), real(0.1)},
                     {normal({5, 7}, rng) * real(3) + real(2), normal({7}, rng), real(0.1)},
                     {constant_row(normal({3, 4}, rng), 1, 0), normal({4}, rng), real(1e-3)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::rms_normalise)> {
             const Index T = draw.size(), C = draw.size();
             return {draw.tidy({T, C}), draw.tidy({C}),
                     draw.one_of<real>({real(1e-5), real(1e-3), real(0.1)})};
           },
           .mistakes = mistakes::rms_normalise,
           .notice = "One loop less than LayerNorm, and C parameters less: T5 and most models since use it.",
           .library = {"rms_norm"}},
       Question<decltype(exercise::post_norm_block)>{
           .name = "post_norm_block",
           .answer = exercise::post_norm_block,
           .oracle = oracle::post_norm_block,
           .arguments = {"x", "attend", "feed_forward", "first_norm", "second_norm"},
           .cases = block_cases<decltype(exercise::post_norm_block)>,
           .draw = drawn_block<decltype(exercise::post_norm_block)>,
           .mistakes = mistakes::post_norm_block,
           .notice = "Whatever happens inside, what comes out is normalised; and so is the gradient on its "
                     "way back."},
       Question<decltype(exercise::pre_norm_block)>{
           .name = "pre_norm_block",
           .answer = exercise::pre_norm_block,
           .oracle = oracle::pre_norm_block,
           .arguments = {"x", "attend", "feed_forward", "first_norm", "second_norm"},
           .cases = block_cases<decltype(exercise::pre_norm_block)>,
           .draw = drawn_block<decltype(exercise::pre_norm_block)>,
           .mistakes = mistakes::pre_norm_block,
           .notice = "Follow x: two additions and nothing else lie on its way. The gradient takes the same "
                     "way back."},
       Question<decltype(exercise::drop_out)>{
           .name = "drop_out",
           .answer = exercise::drop_out,
           .oracle = oracle::drop_out,
           .arguments = {"x", "u", "p", "training"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::drop_out)> {
             return {{tidy({1, 2}, rng), tensor({{0.1, 0.9}}), real(0.2), true},
                     {tidy({2, 2}, rng), tensor({{0.1, 0.9}, {0.8, 0.2}}), real(0.3), false},
                     {tidy({1, 3}, rng), tensor({{0.25, 0.5, 0.75}}), real(0.5), true},
                     {normal({5, 7}, rng), uniform({5, 7}, rng), real(0.4), true},
                     {normal({3, 5}, rng), uniform({3, 5}, rng), real(0.1), false}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::drop_out)> {
             const Shape shape{draw.size(), draw.size()};
             Tensor u = uniform(shape, draw.rng);
             for (Index i = 0; i < u.numel(); ++i)
               u.data()[i] = std::floor(10 * u.data()[i]) / 10;  // meets p, too
             return {draw.tidy(shape), u, real(draw.between(0, 9)) / 10, draw.coin()};
           },
           .mistakes = mistakes::drop_out,
           .notice = "With p = 0.1 the mean stays and the noise is small; the paper drops a tenth after "
                     "every sublayer."}}};
}
