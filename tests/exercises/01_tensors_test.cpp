// Grades exercise 01. Where the library has a function, it is the right answer.
#include "mistakes/01_tensors.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"

using namespace attn;
using coach::Cases;
using coach::Question;

namespace oracle {

Index offset(const Shape& shape, const std::vector<Index>& index) {
  if (std::ssize(index) != shape.rank()) throw std::invalid_argument("offset: not one index for each axis");
  Index position = 0, stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (index[axis] < 0 || index[axis] >= shape[axis]) throw std::invalid_argument("offset: outside an axis");
    position += index[axis] * stride;
    stride *= shape[axis];
  }
  return position;
}

Shape broadcast(const Shape& a, const Shape& b) {
  return refusing([&] { return broadcast_shape("broadcast", a, b); });
}

Tensor broadcast_add(const Tensor& a, const Tensor& b) { return a + b; }

Tensor product(const Tensor& a, const Tensor& b) {
  return refusing([&] { return matmul(a, b); });
}

}  // namespace oracle

coach::Exercise coach::exercise() {
  return {
      "01_tensors",
      {Question<decltype(exercise::offset)>{
           .name = "offset",
           .answer = exercise::offset,
           .oracle = oracle::offset,
           .arguments = {"shape", "index"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::offset)> {
             const auto any = [&](Index size) { return rng.below(size); };
             return {{Shape{3}, {2}},
                     {Shape{2, 3}, {1, 2}},
                     {Shape{3, 2}, {any(3), 1}},
                     {Shape{2, 3, 5}, {1, any(3), any(5)}},
                     {Shape{3, 4, 5, 7}, {1 + any(2), 1 + any(3), any(5), any(7)}},
                     {Shape{}, {}},
                     {Shape{2, 3}, {1, 3}},
                     {Shape{2, 3}, {1, -1}},
                     {Shape{2, 3}, {0, 4 + any(3)}},
                     {Shape{2, 3, 4}, {1, 2}},
                     {Shape{2, 3}, {1, 2, 0}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::offset)> {
             std::vector<Index> sizes, index;
             const bool huge = draw.scale > 3 && draw.coin();  // an int cannot count these elements
             for (Index axis = draw.between(0, std::min<Index>(draw.scale, 3)); axis > 0; --axis) {
               sizes.push_back(huge ? draw.count(70000) : draw.size(0));
               index.push_back(draw.rng.below(std::max<Index>(sizes.back(), 1)));
             }
             const Index kind = draw.rng.below(6);
             if (kind == 0) index.push_back(0);
             if (kind == 1 && !index.empty()) index.pop_back();
             if (kind == 2 && !index.empty()) index[draw.rng.below(std::ssize(index))] = -1;
             if (kind == 3 && !index.empty()) index.back() = sizes.back();
             return {Shape(sizes.data(), int(sizes.size())), index};
           },
           .mistakes = mistakes::offset,
           .notice = "The offset of the next element of a row is one more: "
                     "walking along the last axis is what memory "
                     "likes best."},
       Question<decltype(exercise::broadcast)>{
           .name = "broadcast",
           .answer = exercise::broadcast,
           .oracle = oracle::broadcast,
           .arguments = {"a", "b"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::broadcast)> {
             const Index r = 2 + rng.below(3), c = r + 1 + rng.below(3);  // different, and none is 1
             return {{Shape{c}, Shape{c}},       {Shape{r, c}, Shape{c}}, {Shape{1, c}, Shape{r, c}},
                     {Shape{r, 1}, Shape{1, c}}, {Shape{3}, Shape{4}},    {Shape{4}, Shape{2}},
                     {Shape{r, c}, Shape{r}},    {Shape{}, Shape{r, c}},  {Shape{2, 1, 4}, Shape{3, 1}},
                     {Shape{1}, Shape{2, 0}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::broadcast)> {
             // Two shapes that fit, from the shape that they make; at times one size is changed.
             Shape shapes[2];
             std::vector<Index> whole;
             for (Index axis = draw.between(0, std::min<Index>(draw.scale, 4)); axis > 0; --axis)
               whole.push_back(draw.size(0));
             for (Shape& shape : shapes) {
               std::vector<Index> sizes(whole.begin() + draw.rng.below(std::ssize(whole) + 1), whole.end());
               for (Index& size : sizes)
                 if (draw.rng.below(3) == 0) size = 1;
               if (!sizes.empty() && draw.rng.below(6) == 0) sizes[draw.rng.below(std::ssize(sizes))] += 1;
               shape = Shape(sizes.data(), int(sizes.size()));
             }
             return {shapes[0], shapes[1]};
           },
           .mistakes = mistakes::broadcast,
           .notice =
               "That is why a bias (C) can be added to activations (B,T,C) without a copy of it being made.",
           .library = {"broadcast_shape"}},
       Question<decltype(exercise::broadcast_add)>{
           .name = "broadcast_add",
           .answer = exercise::broadcast_add,
           .oracle = oracle::broadcast_add,
           .arguments = {"a", "b"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::broadcast_add)> {
             return {{tidy({1, 2}, rng), tidy({1, 2}, rng)},   {tidy({2, 3}, rng), tidy({1, 3}, rng)},
                     {tidy({2, 3}, rng), tidy({2, 1}, rng)},   {tidy({1, 3}, rng), tidy({2, 1}, rng)},
                     {tidy({1, 1}, rng), normal({5, 3}, rng)}, {normal({3, 1}, rng), normal({3, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::broadcast_add)> {
             const Index R = draw.size(0), C = draw.size(0);
             const auto one = [&] { return draw.tidy({draw.coin() ? R : 1, draw.coin() ? C : 1}); };
             return {one(), one()};
           },
           .mistakes = mistakes::broadcast_add,
           .notice = "Nothing was copied to stretch it: an axis of size 1 is read with index 0, which is a "
                     "stride of 0.",
           .library = {"a + b", "b + a", "add"}},
       Question<decltype(exercise::product)>{
           .name = "product",
           .answer = exercise::product,
           .oracle = oracle::product,
           .arguments = {"a", "b"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::product)> {
             return {{tidy({1, 1}, rng), tidy({1, 1}, rng)},    {tidy({1, 2}, rng), tidy({2, 1}, rng)},
                     {tidy({2, 2}, rng), tidy({2, 2}, rng)},    {tidy({2, 3}, rng), tidy({3, 2}, rng)},
                     {tidy({2, 3}, rng), tidy({4, 2}, rng)},    {tidy({2, 4}, rng), tidy({3, 2}, rng)},
                     {normal({5, 7}, rng), normal({7, 3}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::product)> {
             const Index M = draw.size(), K = draw.size(0), N = draw.size();
             return {draw.tidy({M, K}), draw.tidy({draw.rng.below(5) ? K : K + 1, N})};
           },
           .mistakes = mistakes::product,
           .notice = "M·N·K multiplications: nearly all the time of a transformer goes into this loop.",
           .library = {"matmul"}}}};
}
