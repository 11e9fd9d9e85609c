// The wrong answers to exercise 01 that the grader knows by name. Here the sums and products; offsets and
// shapes in mistakes_shapes.hpp.
#pragma once

#include "lessons/01_tensors/mistakes_shapes.hpp"

namespace mistakes {

inline const coach::Mistakes<decltype(exercise::broadcast_add)> broadcast_add = {
    {.name = "the small one read round and round",
     .why = "Going through memory and starting again at the end repeats rows. A column has to repeat each of "
            "its "
            "elements along a whole row instead.",
     .where = "Broadcasting",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           Tensor out = empty({std::max(a.size(0), b.size(0)), std::max(a.size(1), b.size(1))});
           for (Index i = 0; i < out.numel(); ++i)
             out.data()[i] = a.data()[i % a.numel()] + b.data()[i % b.numel()];
           return out;
         }},
    {.name = "added once instead of everywhere",
     .why = "The stretched matrix is added where it has an element of its own, and counts as 0 elsewhere. "
            "Stretching "
            "means that its row or column is used again for all others.",
     .where = "Broadcasting",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           Tensor out = zeros({std::max(a.size(0), b.size(0)), std::max(a.size(1), b.size(1))});
           for (const Tensor& x : {a, b})
             for (Index i = 0; i < x.size(0); ++i)
               for (Index j = 0; j < x.size(1); ++j) out(i, j) += x(i, j);
           return out;
         }},
    {.name = "result of the first one's shape",
     .why = "Either side may be the one that stretches, even both at once: the result has the shape that "
            "broadcast "
            "gives.",
     .where = "Broadcasting",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           Tensor out = empty(a.shape());
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < a.size(1); ++j)
               out(i, j) = a(i, j) + b(std::min(i, b.size(0) - 1), std::min(j, b.size(1) - 1));
           return out;
         }},
    {.name = "multiplied instead of added",
     .why = "The broadcasting is right, the operation is not: this is a · b.",
     .where = "Broadcasting",
     .answer = [](const Tensor& a, const Tensor& b) { return a * b; }},
    {.name = "only the rows of the second one stretch",
     .why = "This always reads row 0 of b. It may as well be a column that stretches, or a.",
     .where = "Broadcasting",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           Tensor out = empty(a.shape());
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < a.size(1); ++j) out(i, j) = a(i, j) + b(0, j);
           return out;
         }},
};

inline const coach::Mistakes<decltype(exercise::product)> product = {
    {.name = "a mismatch silently truncated",
     .why = "Inner sizes 3 and 4 do not fit. Summing over the first 3 gives numbers that look right and mean "
            "nothing: "
            "refuse it.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           Tensor c = zeros({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 0; k < std::min(a.size(1), b.size(0)); ++k) c(i, j) += a(i, k) * b(k, j);
           return c;
         }},
    {.name = "only one direction refused",
     .why = "The loop over a's columns runs off the end of b only when b is too short. When b has more rows "
            "than a has "
            "columns, the rest of it is dropped without a word.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) <= b.size(0));
           Tensor c = zeros({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 0; k < a.size(1); ++k) c(i, j) += a(i, k) * b(k, j);
           return c;
         }},
    {.name = "assigned instead of accumulated",
     .why = "Each k overwrites the one before it: only the last product is left of the whole sum.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           Tensor c = zeros({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 0; k < a.size(1); ++k) c(i, j) = a(i, k) * b(k, j);
           return c;
         }},
    {.name = "added to memory that was never zeroed",
     .why =
         "empty() gives memory as it comes, here NaN on purpose. What is added to must start at 0: zeros().",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           return full({a.size(0), b.size(1)}, std::numeric_limits<real>::quiet_NaN());
         }},
    {.name = "a sum that is never reset",
     .why = "Each element starts from the one before it: the running sum has to begin at 0 again for every "
            "(i, j).",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           Tensor c = empty({a.size(0), b.size(1)});
           real sum = 0;
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j) {
               for (Index k = 0; k < a.size(1); ++k) sum += a(i, k) * b(k, j);
               c(i, j) = sum;
             }
           return c;
         }},
    {.name = "second matrix transposed",
     .why = "This is a bᵀ: row i of a with row j of b. The product takes row i of a with column j of b.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           Tensor c = zeros({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 0; k < a.size(1); ++k) c(i, j) += a(i, k) * b(j, k);
           return c;
         }},
    {.name = "result transposed",
     .why = "The sums are right but each is stored at (j, i): rows of the result belong to rows of a.",
     .where = "Matmul",
     .answer = [](const Tensor& a, const Tensor& b) { return transpose(matmul(a, b)); }},
    {.name = "factors swapped",
     .why = "This is b a. The product of matrices depends on their order, and the sizes fit here by accident "
            "only.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           return matmul(b, a);
         }},
    {.name = "element by element",
     .why = "This multiplies elements that stand in the same place. A product of matrices sums over a row of "
            "one and "
            "a column of the other.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.shape() == b.shape());
           return a * b;
         }},
    {.name = "an integer sum",
     .why = "`auto sum = 0` or `int sum = 0` is an integer: each addition cuts off the decimals. Write real "
            "sum = 0.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           Tensor c = empty({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j) {
               int sum = 0;
               for (Index k = 0; k < a.size(1); ++k) sum += a(i, k) * b(k, j);
               c(i, j) = sum;
             }
           return c;
         }},
    {.name = "the first term left out",
     .why = "The sum runs from k = 1. Indices begin at 0 here, even where the formula on paper begins at 1.",
     .where = "Matmul",
     .answer =
         [](const Tensor& a, const Tensor& b) {
           require(a.size(1) == b.size(0));
           Tensor c = zeros({a.size(0), b.size(1)});
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 1; k < a.size(1); ++k) c(i, j) += a(i, k) * b(k, j);
           return c;
         }},
};

}  // namespace mistakes
