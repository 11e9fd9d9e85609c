// The wrong answers to exercise 07 that the grader knows by name. Here the masked softmax and the leak; the
// masks in mistakes_masks.hpp.
#pragma once

#include "lessons/07_masking/mistakes_masks.hpp"

namespace mistakes {

inline const coach::Mistakes<decltype(exercise::masked_softmax)> masked_softmax = {
    {.name = "mask after the softmax",
     .why = "The hidden keys had already taken their share: the visible ones no longer sum to 1, and how "
            "much is missing tells about what was hidden.",
     .where = "Three ways that do not hide",
     .answer = [](const Tensor& scores, const Tensor& visible) { return softmax(scores) * visible; }},
    {.name = "scores multiplied by 0",
     .why = "A score of 0 is not nothing: exp(0) = 1, and the hidden key still gets its share.",
     .where = "Three ways that do not hide",
     .answer = [](const Tensor& scores, const Tensor& visible) { return softmax(scores * visible); }},
    {.name = "the mask added to the scores",
     .why = "Adding 1 and 0 favours the visible keys a little and hides none. What is added must be 0 where "
            "visible and -∞ where not.",
     .where = "Hide, then share out",
     .answer = [](const Tensor& scores, const Tensor& visible) { return softmax(scores + visible); }},
    {.name = "NaN where nothing is visible",
     .why = "A row of nothing but -∞ has the sum 0, and 0/0 is NaN. One NaN spoils everything after it; such "
            "a row has to be zeros.",
     .where = "A row with nothing to see",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor hidden = hide(scores, visible, -std::numeric_limits<real>::infinity());
           const Tensor e = exp(hidden - max(hidden, -1, true));
           return e / sum(e, -1, true);
         }},
    {.name = "a large negative number instead of -∞",
     .why = "With -1e9 the hidden keys do get 0, as long as something is visible. Where nothing is, all "
            "scores are equal and the row looks evenly at everything that is hidden.",
     .where = "A row with nothing to see",
     .answer = [](const Tensor& scores,
                  const Tensor& visible) { return softmax(hide(scores, visible, -1e9)); }},
    {.name = "the hidden scores take part in the maximum",
     .why = "Where a hidden score is far above the visible ones, every visible exponential becomes 0. The "
            "maximum runs over visible keys alone.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor e = exp(scores - max(scores, -1, true)) * visible;
           const Tensor total = sum(e, -1, true);
           return where(total, e / total, scalar(0));
         }},
    {.name = "mask after the softmax, then divided again",
     .why = "On paper this is right. But where a hidden score is far above the visible ones these are 0 "
            "after the softmax, and so is their sum: 0/0.",
     .where = "Three ways that do not hide",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor weights = softmax(scores) * visible;
           return weights / sum(weights, -1, true);
         }},
    {.name = "mask inverted",
     .why = "The visible keys were hidden and the hidden ones shown: 1 stands for visible.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           return softmax(where(visible, scalar(-std::numeric_limits<real>::infinity()), scores));
         }},
    {.name = "no maximum subtracted",
     .why = "exp(1000) is infinite, and infinity over infinity is NaN. Subtract the largest visible score "
            "first.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor e = where(visible, exp(scores), scalar(0));
           const Tensor total = sum(e, -1, true);
           return where(total, e / total, scalar(0));
         }},
    {.name = "mask ignored",
     .why = "This is the plain softmax: hidden keys get a weight like all others.",
     .where = "Hide, then share out",
     .answer = [](const Tensor& scores, const Tensor&) { return softmax(scores); }},
    {.name = "softmax over the queries",
     .why = "Each column sums to 1 here. It is each query, each row, that shares out its attention.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor hidden =
               hide(transpose(scores), transpose(visible), -std::numeric_limits<real>::infinity());
           return transpose(softmax(hidden));
         }},
    {.name = "no maximum subtracted, and 0/0",
     .why = "Two things at once: exp(1000) is infinite, and a row that sees nothing is divided by 0.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           const Tensor e = where(visible, exp(scores), scalar(0));
           return where(visible, e / sum(e, -1, true), scalar(0));
         }},
    {.name = "the sum runs on from row to row",
     .why = "The sum was not set back to 0 for the next row: only the first row sums to 1.",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           Tensor weights = zeros(scores.shape());
           real total = 0;
           for (Index i = 0; i < scores.size(0); ++i) {
             real largest = -std::numeric_limits<real>::infinity();
             for (Index j = 0; j < scores.size(1); ++j)
               if (visible(i, j) != 0) largest = std::max(largest, scores(i, j));
             for (Index j = 0; j < scores.size(1); ++j)
               if (visible(i, j) != 0) total += weights(i, j) = std::exp(scores(i, j) - largest);
             for (Index j = 0; j < scores.size(1) && total > 0; ++j) weights(i, j) /= total;
           }
           return weights;
         }},
    {.name = "the maximum starts at 0",
     .why = "If all visible scores are far below 0, the largest of them and 0 is 0, and every exponential "
            "vanishes. It has to start at -∞ (or at a visible score).",
     .where = "Hide, then share out",
     .answer =
         [](const Tensor& scores, const Tensor& visible) {
           Tensor largest = zeros({scores.size(0), 1});
           for (Index i = 0; i < scores.size(0); ++i)
             for (Index j = 0; j < scores.size(1); ++j)
               if (visible(i, j) != 0) largest(i, 0) = std::max(largest(i, 0), scores(i, j));
           const Tensor e = where(visible, exp(scores - largest), scalar(0)), total = sum(e, -1, true);
           return where(total, e / total, scalar(0));
         }},
};

using Model = std::function<Tensor(const Tensor&)>;

// The tokens t whose change moves a row i, among those that `rows` lets it look at.
template <class Rows, class Change>
std::vector<int> detect(const Model& model, const Tensor& x, const Rows& rows, const Change& change,
                        double tolerance = 1e-9) {
  const Tensor before = model(x);
  std::vector<int> found;
  for (Index t = 0; t < x.size(0); ++t) {
    const Tensor changed = from_values(x.shape(), x.values());
    for (Index c = 0; c < x.size(1); ++c) change(changed, t, c);
    const Tensor after = model(changed);
    bool moved = false;
    for (Index i = 0; i < x.size(0); ++i)
      for (Index e = 0; e < after.size(1); ++e)
        moved = moved || (rows(i, t) && std::abs(after(i, e) - before(i, e)) > tolerance);
    if (moved) found.push_back(static_cast<int>(t));
  }
  return found;
}
inline void add_one(const Tensor& x, Index t, Index c) { x(t, c) += 1; }
inline bool is_before(Index i, Index t) { return i < t; }

inline const coach::Mistakes<decltype(exercise::leaking_tokens)> leaking_tokens = {
    {.name = "the token's own output counted",
     .why = "Output t may depend on token t: nearly every model would be called leaking. Only outputs before "
            "t are forbidden to move.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(
               model, x, [](Index i, Index t) { return i <= t; }, add_one);
         }},
    {.name = "outputs after the token compared",
     .why = "Those are meant to move: later tokens see earlier ones. A leak shows in the outputs before t.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(
               model, x, [](Index i, Index t) { return i > t; }, add_one);
         }},
    {.name = "all outputs compared",
     .why =
         "Of course something moves when a token changes. What counts is whether it is an output before it.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(
               model, x, [](Index, Index) { return true; }, add_one);
         }},
    {.name = "only the neighbour looked at",
     .why = "A leak may skip the nearest place: every output before t has to be compared, not just t - 1.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(
               model, x, [](Index i, Index t) { return i == t - 1; }, add_one);
         }},
    {.name = "only the first output looked at",
     .why = "A leak may reach back a few places only: every output before t has to be compared, not just "
            "output 0.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(
               model, x, [](Index i, Index t) { return i == 0 && t > 0; }, add_one);
         }},
    {.name = "a change that may be none",
     .why = "A token of zeros stays what it is when it is set to zero or multiplied. Then nothing can move "
            "and a leak goes unseen.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(model, x, is_before, [](const Tensor& y, Index t, Index c) { y(t, c) = 0; });
         }},
    {.name = "changes that pile up",
     .why = "Token 0 was still changed when it was the turn of token 1, and so on: after the first change "
            "nothing is compared with the input any more. Start from a fresh copy for each t.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(model, x, is_before, [](const Tensor& y, Index t, Index c) {
             for (Index s = 0; s <= t; ++s) y(s, c) += 1;
           });
         }},
    {.name = "the outputs that moved instead of the tokens",
     .why =
         "What is asked for are the tokens t that were seen too early. These are the outputs that saw them.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           const Tensor before = model(x);
           std::vector<int> found;
           for (Index i = 0; i < x.size(0); ++i) {
             bool moved = false;
             for (Index t = i + 1; t < x.size(0); ++t) {
               const Tensor changed = from_values(x.shape(), x.values());
               for (Index c = 0; c < x.size(1); ++c) changed(t, c) += 1;
               const Tensor after = model(changed);
               for (Index e = 0; e < after.size(1); ++e)
                 moved = moved || std::abs(after(i, e) - before(i, e)) > 1e-9;
             }
             if (moved) found.push_back(static_cast<int>(i));
           }
           return found;
         }},
    {.name = "the sign kept",
     .why = "An output may move downwards as well: compare the absolute difference.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           const Tensor before = model(x);
           std::vector<int> found;
           for (Index t = 0; t < x.size(0); ++t) {
             const Tensor changed = from_values(x.shape(), x.values());
             for (Index c = 0; c < x.size(1); ++c) changed(t, c) += 1;
             const Tensor after = model(changed);
             bool moved = false;
             for (Index i = 0; i < t; ++i)
               for (Index e = 0; e < after.size(1); ++e) moved = moved || after(i, e) - before(i, e) > 1e-9;
             if (moved) found.push_back(static_cast<int>(t));
           }
           return found;
         }},
    {.name = "no tolerance",
     .why = "Outputs that differ by a rounding error are called leaks here. Only a move of more than 1e-9 "
            "counts.",
     .where = "The leak detector",
     .answer = [](const Model& model, const Tensor& x) { return detect(model, x, is_before, add_one, 0); }},
    {.name = "too much tolerance",
     .why = "A faint leak goes unseen. Training finds it all the same: a move of more than 1e-9 counts.",
     .where = "The leak detector",
     .answer = [](const Model& model,
                  const Tensor& x) { return detect(model, x, is_before, add_one, 1e-6); }},
    {.name = "only the first channel of the outputs compared",
     .why = "A leak may show in one channel alone: every channel of the earlier outputs has to be compared.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect([&](const Tensor& y) { return slice(model(y), 1, 0, 1); }, x, is_before, add_one);
         }},
    {.name = "only one channel of the token changed",
     .why = "A model may look at another channel of the token: the whole row has to change.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           return detect(model, x, is_before, [](const Tensor& y, Index t, Index c) {
             if (c == 0) y(t, c) += 1;
           });
         }},
    {.name = "the flag never cleared",
     .why = "Once one token has been found, every later one is taken for leaking, too: the flag starts as "
            "false for each t.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           const std::vector<int> found = detect(model, x, is_before, add_one);
           std::vector<int> claimed;
           if (!found.empty())
             for (int t = found[0]; t < static_cast<int>(x.size(0)); ++t) claimed.push_back(t);
           return claimed;
         }},
    {.name = "tokens counted from 1",
     .why = "Tokens are numbered from 0.",
     .where = "The leak detector",
     .answer =
         [](const Model& model, const Tensor& x) {
           std::vector<int> found = detect(model, x, is_before, add_one);
           for (int& t : found) ++t;
           return found;
         }},
};

}  // namespace mistakes
