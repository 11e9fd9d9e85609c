// The wrong answers to exercise 01 that the grader knows by name: offsets and shapes.
#pragma once

#include "lessons/coach/grading.hpp"

namespace exercise {
Index offset(const Shape& shape, const std::vector<Index>& index);
Shape broadcast(const Shape& a, const Shape& b);
Tensor broadcast_add(const Tensor& a, const Tensor& b);
Tensor product(const Tensor& a, const Tensor& b);
}  // namespace exercise

namespace mistakes {

using namespace attn;

inline void require(bool holds) {
  if (!holds) throw std::invalid_argument("refused");
}
inline void check_indices(const Shape& shape, const std::vector<Index>& index) {
  require(static_cast<int>(index.size()) == shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) require(index[axis] >= 0 && index[axis] < shape[axis]);
}
inline Index row_major(const Shape& shape, const std::vector<Index>& index) {
  Index position = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) position = position * shape[axis] + index[axis];
  return position;
}

inline const coach::Mistakes<decltype(exercise::offset)> offset = {
    {.name = "column-major offset",
     .why = "This lets the first axis be contiguous, as Fortran and MATLAB do. Here the last axis is: its "
            "neighbours "
            "lie side by side in memory.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           Index position = 0;
           for (int axis = shape.rank() - 1; axis >= 0; --axis)
             position = position * shape[axis] + index[axis];
           return position;
         }},
    {.name = "each index times its own size",
     .why = "One step along an axis skips all that lies to its right: the product of the sizes of the later "
            "axes, not "
            "the size of the axis itself.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           Index position = 0;
           for (int axis = 0; axis < shape.rank(); ++axis) position += index[axis] * shape[axis];
           return position;
         }},
    {.name = "a stride that includes its own axis",
     .why =
         "The stride of an axis is the product of the sizes to its right, without its own: the last axis has "
         "stride 1.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           Index position = 0;
           for (int axis = 0; axis < shape.rank(); ++axis) position = (position + index[axis]) * shape[axis];
           return position;
         }},
    {.name = "only the next axis as the stride",
     .why = "The stride is the product of all sizes to the right. The next one alone is enough for a matrix, "
            "but not "
            "from three axes on.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           Index position = 0;
           for (int axis = 0; axis < shape.rank(); ++axis)
             position += index[axis] * (axis + 1 < shape.rank() ? shape[axis + 1] : 1);
           return position;
         }},
    {.name = "no check of the range",
     .why = "An index outside of its axis lands on some other element, or outside of the tensor, and nobody "
            "notices.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           require(static_cast<int>(index.size()) == shape.rank());
           return row_major(shape, index);
         }},
    {.name = "negative indices let through",
     .why = "The upper end is checked but not the lower one: (1, −1) of a matrix is the last element of the "
            "row above.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           require(static_cast<int>(index.size()) == shape.rank());
           for (int axis = 0; axis < shape.rank(); ++axis) require(index[axis] < shape[axis]);
           return row_major(shape, index);
         }},
    {.name = "an index equal to the size let through",
     .why = "Indices run from 0 to size − 1. The size itself is the first one outside: it is the next row's "
            "element.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           require(static_cast<int>(index.size()) == shape.rank());
           for (int axis = 0; axis < shape.rank(); ++axis)
             require(index[axis] >= 0 && index[axis] <= shape[axis]);
           return row_major(shape, index);
         }},
    {.name = "number of indices not checked",
     .why = "Two indices into a tensor of rank 3 name no element. This computes an offset from those that "
            "are there.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           Index position = 0;
           for (int axis = 0; axis < std::min<int>(shape.rank(), static_cast<int>(index.size())); ++axis) {
             require(index[axis] >= 0 && index[axis] < shape[axis]);
             position = position * shape[axis] + index[axis];
           }
           return position;
         }},
    {.name = "indices added up",
     .why = "One step down a matrix skips a whole row, not one element: each index counts as many times as "
            "its axis' "
            "stride.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           Index position = 0;
           for (const Index i : index) position += i;
           return position;
         }},
    {.name = "counted from 1",
     .why = "The first element lies at offset 0, as in every array of C++: the offset says how many elements "
            "to skip.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           check_indices(shape, index);
           return row_major(shape, index) + 1;
         }},
    {.name = "a negative index counted from the end",
     .why = "As Python does it. The contract here refuses negative indices, because in a loop they are a "
            "mistake far more "
            "often than a wish.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           std::vector<Index> wrapped = index;
           for (std::size_t axis = 0; axis < index.size(); ++axis)
             if (index[axis] < 0) wrapped[axis] += shape[axis];
           check_indices(shape, wrapped);
           return row_major(shape, wrapped);
         }},
    {.name = "an error code instead of an exception",
     .why = "−1 is a number like any other, and sooner or later somebody uses it as an offset. An exception "
            "cannot be "
            "overlooked.",
     .where = "Row-major",
     .answer =
         [](const Shape& shape, const std::vector<Index>& index) {
           if (static_cast<int>(index.size()) != shape.rank()) return Index{-1};
           for (int axis = 0; axis < shape.rank(); ++axis)
             if (index[axis] < 0 || index[axis] >= shape[axis]) return Index{-1};
           return row_major(shape, index);
         }},
};

// Sizes aligned at the right, joined one by one by `join`.
template <class Join>
Shape joined(const Shape& a, const Shape& b, const Join& join) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = a.rank() > b.rank() ? a : b;
  for (int back = 1; back <= rank; ++back)
    out[-back] = join(back <= a.rank() ? a[-back] : 1, back <= b.rank() ? b[-back] : 1);
  return out;
}
inline bool fit(Index m, Index n) { return m == n || m == 1 || n == 1; }

inline const coach::Mistakes<decltype(exercise::broadcast)> broadcast = {
    {.name = "aligned from the left",
     .why = "Shapes are aligned at their right ends, so that a row (C) can be added to a matrix (R,C). From "
            "the left, "
            "C would be held against R.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           Shape out = a.rank() > b.rank() ? a : b;
           for (int axis = 0; axis < out.rank(); ++axis) {
             const Index m = axis < a.rank() ? a[axis] : 1, n = axis < b.rank() ? b[axis] : 1;
             require(fit(m, n));
             out[axis] = m == 1 ? n : m;
           }
           return out;
         }},
    {.name = "a mismatch silently truncated",
     .why = "Sizes 3 and 4 do not fit. Taking the smaller one drops data without a word, and the error shows "
            "up much "
            "later as a wrong number.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) { return m == 1 ? n : n == 1 ? m : std::min(m, n); });
         }},
    {.name = "a mismatch stretched to the larger size",
     .why = "Only an axis of size 1 can stretch, because then it is clear which element to repeat. Sizes 3 "
            "and 4 must be "
            "refused.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) { return m == 1 ? n : n == 1 ? m : std::max(m, n); });
         }},
    {.name = "the smaller size kept",
     .why = "An axis of size 1 stretches to the other's size; here the other one shrinks to 1.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) {
             require(fit(m, n));
             return std::min(m, n);
           });
         }},
    {.name = "an empty axis stretched",
     .why = "With sizes 0 and 1 the axis of size 1 stretches to 0: there is nothing to add. The larger of "
            "the two is "
            "wrong here; the one that is not 1 is right.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) {
             require(fit(m, n));
             return std::max(m, n);
           });
         }},
    {.name = "size 1 does not stretch",
     .why =
         "Sizes that differ are refused even if one of them is 1. That one stretches: it is the point of it.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           Shape out = a.rank() > b.rank() ? a : b;
           for (int back = 1; back <= std::min(a.rank(), b.rank()); ++back) require(a[-back] == b[-back]);
           return out;
         }},
    {.name = "different ranks refused",
     .why = "A missing axis counts as 1: a row (C) and a matrix (R,C) do fit.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           require(a.rank() == b.rank());
           return joined(a, b, [](Index m, Index n) {
             require(fit(m, n));
             return m == 1 ? n : m;
           });
         }},
    {.name = "only the second one stretches",
     .why = "Either side may have the 1: (1,3) + (2,3) fits as well as (2,3) + (1,3).",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) {
             require(m == n || n == 1);
             return m;
           });
         }},
    {.name = "a multiple stretched",
     .why = "4 is twice 2, but broadcasting repeats single elements only: just an axis of size 1 stretches.",
     .where = "Broadcasting",
     .answer =
         [](const Shape& a, const Shape& b) {
           return joined(a, b, [](Index m, Index n) {
             require(fit(m, n) || m % n == 0 || n % m == 0);
             return m == 1 ? n : n == 1 ? m : std::max(m, n);
           });
         }},
};

}  // namespace mistakes
