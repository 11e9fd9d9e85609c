// The wrong answers to exercise 05 that the grader knows by name. Here batches and lookups; byte pair
// encoding in mistakes_bpe.hpp.
#pragma once

#include "lessons/05_tokens/mistakes_bpe.hpp"

namespace mistakes {

// A batch of width T whose cells are chosen by cell(sequence, t): the id and the mask.
template <class Cell>
PaddedBatch batch_of(const std::vector<Ids>& sequences, std::size_t width, const Cell& cell) {
  const Index B = static_cast<Index>(sequences.size()), T = static_cast<Index>(width);
  PaddedBatch batch{IntTensor({B, T}), IntTensor({B, T})};
  for (Index i = 0; i < B; ++i)
    for (Index t = 0; t < T; ++t)
      std::tie(batch.ids(i, t), batch.mask(i, t)) = cell(sequences[i], static_cast<std::size_t>(t));
  return batch;
}
inline std::size_t longest_of(const std::vector<Ids>& sequences) {
  std::size_t longest = 0;
  for (const Ids& sequence : sequences) longest = std::max(longest, sequence.size());
  return longest;
}

inline const coach::Mistakes<decltype(exercise::pad_rows)> pad_rows = {
    {.name = "padding in front",
     .why = "The sequences are moved to the right and begin with padding. Here they begin at 0 and are "
            "filled up at the end.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           const std::size_t width = longest_of(sequences);
           return batch_of(sequences, width, [=](const Ids& ids, std::size_t t) {
             const std::size_t front = width - ids.size();
             return t < front ? TokenPair{pad, 0} : TokenPair{ids[t - front], 1};
           });
         }},
    {.name = "mask the wrong way round",
     .why =
         "1 stands for what is real and 0 for padding. Upside down, a model would look at the padding only.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           return batch_of(sequences, longest_of(sequences), [=](const Ids& ids, std::size_t t) {
             return t < ids.size() ? TokenPair{ids[t], 0} : TokenPair{pad, 1};
           });
         }},
    {.name = "mask by the number of the padding",
     .why = "A real token with the same number as the padding was masked out. What is real follows from the "
            "length.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           return batch_of(sequences, longest_of(sequences), [=](const Ids& ids, std::size_t t) {
             const int id = t < ids.size() ? ids[t] : pad;
             return TokenPair{id, id == pad ? 0 : 1};
           });
         }},
    {.name = "no mask",
     .why = "Everything is marked as real: padding would be looked at and learned from.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           return batch_of(sequences, longest_of(sequences), [=](const Ids& ids, std::size_t t) {
             return TokenPair{t < ids.size() ? ids[t] : pad, 1};
           });
         }},
    {.name = "cut to the shortest",
     .why = "All rows have the length of the shortest sequence, and the ends of the others are lost. Fill up "
            "instead of "
            "cutting.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int) {
           std::size_t shortest = sequences[0].size();
           for (const Ids& sequence : sequences) shortest = std::min(shortest, sequence.size());
           return batch_of(sequences, shortest, [](const Ids& ids, std::size_t t) {
             return TokenPair{ids[t], 1};
           });
         }},
    {.name = "padded with 0 whatever `pad` is",
     .why = "The padding has a number of its own, which the caller chooses. 0 may be a real token.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int) {
           return batch_of(sequences, longest_of(sequences), [](const Ids& ids, std::size_t t) {
             return t < ids.size() ? TokenPair{ids[t], 1} : TokenPair{0, 0};
           });
         }},
    {.name = "time first",
     .why = "Each sequence stands in a column, (T,B). Asked for is (B,T): a row for each sequence.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           const Index B = static_cast<Index>(sequences.size()),
                       T = static_cast<Index>(longest_of(sequences));
           PaddedBatch batch{IntTensor({T, B}), IntTensor({T, B})};
           for (Index i = 0; i < B; ++i)
             for (Index t = 0; t < T; ++t) {
               const bool is_real = t < static_cast<Index>(sequences[i].size());
               batch.ids(t, i) = is_real ? sequences[i][t] : pad;
               batch.mask(t, i) = is_real;
             }
           return batch;
         }},
    {.name = "as wide as the first sequence",
     .why = "The width comes from the longest sequence, wherever it stands.",
     .where = "A batch",
     .answer =
         [](const std::vector<Ids>& sequences, int pad) {
           return batch_of(sequences, sequences[0].size(), [=](const Ids& ids, std::size_t t) {
             return t < ids.size() ? TokenPair{ids[t], 1} : TokenPair{pad, 0};
           });
         }},
};

inline const coach::Mistakes<decltype(exercise::lookup_backward)> lookup_backward = {
    {.name = "overwritten for a repeated token",
     .why =
         "A token that occurs twice gets two gradients, and only the last one is left of them. They add up.",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (std::size_t t = 0; t < ids.size(); ++t)
             for (Index c = 0; c < gradient.size(1); ++c) out(ids[t], c) = gradient(t, c);
           return out;
         }},
    {.name = "only the first occurrence",
     .why = "A token that was seen before is passed over. Every use of a row counts.",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (std::size_t t = ids.size(); t-- > 0;)
             for (Index c = 0; c < gradient.size(1); ++c) out(ids[t], c) = gradient(t, c);
           return out;
         }},
    {.name = "mean over repetitions",
     .why = "The row is used several times, and each use moves the loss: the gradients are summed, not "
            "averaged.",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (std::size_t t = 0; t < ids.size(); ++t)
             for (Index c = 0; c < gradient.size(1); ++c)
               out(ids[t], c) += gradient(t, c) / real(std::count(ids.begin(), ids.end(), ids[t]));
           return out;
         }},
    {.name = "rows in the order of the sentence",
     .why = "Row t of the result got the gradient of token number t. A row of the table belongs to a token: "
            "its index is "
            "ids[t].",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (std::size_t t = 0; t < ids.size(); ++t)
             for (Index c = 0; c < gradient.size(1); ++c)
               out(static_cast<Index>(t) % vocabulary, c) += gradient(t, c);
           return out;
         }},
    {.name = "added to memory that was never zeroed",
     .why = "empty() gives memory as it comes, here NaN on purpose. What is added to must start at 0, and so "
            "must the rows "
            "that get nothing.",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids&, const Tensor& gradient, Index vocabulary) {
           return full({vocabulary, gradient.size(1)}, std::numeric_limits<real>::quiet_NaN());
         }},
    {.name = "how often instead of how much",
     .why = "This counts how often each token occurs. What a row gets is the gradients of these occurrences, "
            "added up.",
     .where = "The gradient of a lookup",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (const int id : ids)
             for (Index c = 0; c < gradient.size(1); ++c) out(id, c) += 1;
           return out;
         }},
    {.name = "the forward lookup",
     .why = "This picks rows of the gradient by the ids, as the forward picks rows of the table. Backwards, "
            "rows are put where "
            "the ids say.",
     .where = "Embedding: a row for each token",
     .answer =
         [](const Ids& ids, const Tensor& gradient, Index vocabulary) {
           Tensor out = zeros({vocabulary, gradient.size(1)});
           for (Index v = 0; v < std::min(vocabulary, gradient.size(0)); ++v)
             for (Index c = 0; c < gradient.size(1); ++c) out(v, c) = gradient(ids[v] % gradient.size(0), c);
           return out;
         }},
};

}  // namespace mistakes
