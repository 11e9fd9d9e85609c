// Grades exercise 07. Where the library has a function, it is the right answer.
#include "mistakes/07_masking.hpp"  // made from mistakes.diff
#include "nn/attention.hpp"         // causal_mask, padding_mask, bias_of

using namespace attn;
using coach::Cases;
using coach::Question;
using coach::tidy;

namespace oracle {

Tensor causal_mask(Index T) { return attn::causal_mask(T); }

Tensor padding_mask(const std::vector<int>& lengths, Index S) {
  return reshape(attn::padding_mask(IntTensor({std::ssize(lengths)}, lengths), S), {std::ssize(lengths), S});
}

Tensor decoder_mask(const std::vector<int>& lengths, Index T) {
  return reshape(padding_mask(lengths, T), {std::ssize(lengths), 1, T}) * causal_mask(T);
}

Tensor masked_softmax(const Tensor& scores, const Tensor& visible) {
  return softmax(scores + bias_of(visible));
}

std::vector<int> leaking_tokens(const std::function<Tensor(const Tensor&)>& model, const Tensor& x) {
  const Tensor before = model(x);
  std::vector<int> leaking;
  for (Index t = 1; t < x.size(0); ++t) {
    Tensor changed = from_values(x.shape(), x.values());
    // By another amount in each channel: a model that normalises takes no notice of the same in all.
    for (Index c = 0; c < x.size(1); ++c) changed(t, c) += real(c + 1) * real(0.7);
    const Tensor after = model(changed);
    if (max_difference(slice(after, 0, 0, t), slice(before, 0, 0, t)) > 1e-9) leaking.push_back(int(t));
  }
  return leaking;
}

}  // namespace oracle

namespace {

using Model = std::function<Tensor(const Tensor&)>;

// A model whose output i adds up what it makes of the tokens j that `visible` shows it.
template <class Visible>
Model model_that_sees(Visible visible, real sign = 1) {
  return [visible, sign](const Tensor& x) {
    Tensor out = zeros({x.size(0), 2});
    for (Index i = 0; i < x.size(0); ++i)
      for (Index j = 0; j < x.size(0); ++j)
        if (visible(i, j))
          for (Index c = 0; c < x.size(1); ++c) {
            out(i, 0) += sign * x(j, c) * (i == j ? 3 : 1);
            out(i, 1) += sign * std::exp(x(j, c) / 4);
          }
    return out;
  };
}

// Its output i also sees one channel of token i + 1, in one of its own channels.
Model model_with_leak(real strength, Index from, Index to) {
  const auto honest = model_that_sees([](Index i, Index j) { return j <= i; });
  return [=](const Tensor& x) {
    Tensor out = honest(x);
    for (Index i = 0; i + 1 < x.size(0); ++i) out(i, to) += strength * x(i + 1, from);
    return out;
  };
}

// It first normalises each token, so that what is added to all of its channels alike is not seen.
Model normalised(const Model& model) {
  return [model](const Tensor& x) { return model(layer_norm(x, {}, {})); };
}

// Two outputs that move by the same amount in opposite directions: their sum does not tell.
Model cancelling(const Model& model) {
  return [model](const Tensor& x) {
    Tensor out = model(x);
    for (Index i = 0; i < out.size(0); ++i) out(i, 1) = -out(i, 0);
    return out;
  };
}

Tensor with_row(Tensor x, Index row, real value) {
  for (Index c = 0; c < x.size(1); ++c) x(row, c) = value;
  return x;
}
// A row of zeros or ones in every other input: a change to just that value is none.
Tensor with_telling_row(const Tensor& x, coach::Draw& draw) {
  if (draw.coin()) return x;
  return with_row(x, draw.rng.below(x.size(0)), real(draw.between(0, 1)));
}

// A model in which each output may or may not see each token; with normalised tokens and outputs that cancel.
Model drawn_model(coach::Draw& draw, Index T, Index C) {
  const Index kind = draw.rng.below(4);
  std::vector<bool> seen;
  for (Index cell = 0; cell < T * T; ++cell) {
    const bool past = cell % T <= cell / T;
    seen.push_back(kind == 0 ? true : kind == 1 ? past : past || draw.rng.below(4) == 0);
  }
  Model model = model_that_sees([seen, T](Index i, Index j) { return bool(seen[i * T + j]); });
  if (draw.coin()) model = cancelling(model);
  return C < 3 || draw.rng.below(3) ? model : normalised(model);  // of two channels only the sign is left
}

// 1 and 0 by lot; row `blind` sees nothing, every other row sees something.
Tensor random_mask(Index T, Index S, Index blind, Rng& rng) {
  Tensor mask = empty({T, S});
  for (Index i = 0; i < T; ++i)
    for (Index j = 0; j < S; ++j) mask(i, j) = i == blind ? 0 : j == i % S || rng.below(2) ? 1 : 0;
  return mask;
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "07_masking",
      {Question<decltype(exercise::causal_mask)>{
           .name = "causal_mask",
           .answer = exercise::causal_mask,
           .oracle = oracle::causal_mask,
           .arguments = {"T"},
           .cases = [](Rng&) -> Cases<decltype(exercise::causal_mask)> {
             return {{2}, {1}, {3}, {5}, {8}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::causal_mask)> {
             return {draw.size() + draw.size(0)};
           },
           .mistakes = mistakes::causal_mask,
           .notice = "T(T+1)/2 of the T² cells are visible: nearly half of the work on scores is thrown away "
                     "(lesson 18 saves it).",
           .library = {"attn::causal_mask"}},
       Question<decltype(exercise::padding_mask)>{
           .name = "padding_mask",
           .answer = exercise::padding_mask,
           .oracle = oracle::padding_mask,
           .arguments = {"lengths", "S"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::padding_mask)> {
             const auto length = [&](Index S) { return 1 + static_cast<int>(rng.below(S)); };
             return {{{3, 1}, 3}, {{2}, 5}, {{0, 4}, 4}, {{length(7), length(7), length(7), 7, 2}, 7}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::padding_mask)> {
             const Index S = draw.size();
             return {draw.ints(draw.size(), 0, S), S};
           },
           .mistakes = mistakes::padding_mask,
           .notice = "One row a sentence, for all of its queries and heads: it is broadcast over both.",
           .library = {"attn::padding_mask"}},
       Question<decltype(exercise::decoder_mask)>{
           .name = "decoder_mask",
           .answer = exercise::decoder_mask,
           .oracle = oracle::decoder_mask,
           .arguments = {"lengths", "T"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::decoder_mask)> {
             return {{{1}, 2}, {{2}, 3}, {{2, 4, 1}, 4}, {{static_cast<int>(1 + rng.below(6)), 7, 3}, 7}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::decoder_mask)> {
             const Index T = draw.size();
             return {draw.ints(draw.size(), 0, T), T};
           },
           .mistakes = mistakes::decoder_mask,
           .notice =
               "For words inside the sentence the causal part alone hides the filler behind them already; "
               "the padding part matters for an encoder, and wherever filler stands in front."},
       Question<decltype(exercise::masked_softmax)>{
           .name = "masked_softmax",
           .answer = exercise::masked_softmax,
           .oracle = oracle::masked_softmax,
           .arguments = {"scores", "visible"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::masked_softmax)> {
             return {{tidy({1, 3}, rng), tensor({{1, 1, 0}})},
                     {tidy({2, 3}, rng), tensor({{1, 0, 0}, {1, 1, 0}})},
                     {tidy({2, 2}, rng), tensor({{0, 0}, {1, 1}})},
                     {tensor({{1000, 0, 1}, {-1000, 3, 3}}), tensor({{0, 1, 1}, {1, 0, 0}})},
                     {tensor({{1000, 999, -1000}}), tensor({{1, 1, 1}})},
                     {normal({5, 7}, rng) * real(3), random_mask(5, 7, 2, rng)},
                     {normal({4, 4}, rng), random_mask(4, 4, -1, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::masked_softmax)> {
             const Index T = draw.size(), S = draw.size();
             return {draw.up_to_1000({T, S}), random_mask(T, S, draw.between(-1, T - 1), draw.rng)};
           },
           .mistakes = mistakes::masked_softmax,
           .notice = "A hidden key gets no weight and therefore no gradient either: nothing can be learned "
                     "about what was not seen."},
       Question<decltype(exercise::leaking_tokens)>{
           .name = "leaking_tokens",
           .answer = exercise::leaking_tokens,
           .oracle = oracle::leaking_tokens,
           .arguments = {"model", "x"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::leaking_tokens)> {
             const auto honest = model_that_sees([](Index i, Index j) { return j <= i; });
             const auto successor = model_that_sees([](Index i, Index j) { return j <= i + 1; });
             const auto past_only = model_that_sees([](Index i, Index j) { return j < i; });
             const auto second_next = model_that_sees([](Index i, Index j) { return j <= i || j == i + 2; });
             const auto falling = model_that_sees([](Index i, Index j) { return j <= i + 1; }, -1);
             const auto once = model_that_sees([](Index i, Index j) { return j <= i || (i == 1 && j == 2); });
             const auto unmasked = model_that_sees([](Index, Index) { return true; });
             return {{successor, tidy({3, 1}, rng)},
                     {honest, tidy({3, 2}, rng)},
                     {past_only, tidy({4, 2}, rng)},
                     {second_next, tidy({5, 2}, rng)},
                     {falling, tidy({4, 1}, rng)},
                     {once, tidy({5, 3}, rng)},
                     {once, with_row(tidy({4, 2}, rng), 2, 0)},
                     {successor, with_row(tidy({6, 2}, rng), 3, 0)},
                     {successor, with_row(tidy({5, 2}, rng), 2, 1)},
                     {unmasked, tidy({4, 2}, rng)},
                     {normalised(successor), tidy({4, 3}, rng)},
                     {cancelling(successor), tidy({4, 2}, rng)},
                     {model_with_leak(real(1e-12), 0, 0), tidy({3, 1}, rng)},
                     {model_with_leak(real(1e-7), 0, 0), tidy({3, 1}, rng)},
                     {model_with_leak(1, 0, 1), tidy({3, 2}, rng)},
                     {model_with_leak(1, 1, 0), tidy({3, 2}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::leaking_tokens)> {
             const Index T = draw.size(), C = draw.size();
             return {drawn_model(draw, T, C), with_telling_row(draw.tidy({T, C}), draw)};
           },
           .mistakes = mistakes::leaking_tokens,
           .notice = "Run this on every model that you mask: a leak throws no error and makes the loss look "
                     "better."}}};
}
