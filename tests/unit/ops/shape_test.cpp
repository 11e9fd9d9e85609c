#include <doctest/doctest.h>

#include <algorithm>  // swap
#include <utility>    // pair

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

TEST_CASE("reshape keeps the order of the elements") {
  const Tensor x = random_tensor({2, 3, 4});
  CHECK(reshape(x, {4, 6}).values() == x.values());
  check_gradients([](const auto& in) { return reshape(in[0], {4, 6}); }, {x});
  check_gradients([](const auto& in) { return reshape(exp(in[0]), {24}) * 3; }, {x});
  check_gradients([](const auto& in) { return reshape(in[0], {1, 1}); }, {scalar(2)});
}

TEST_CASE("transpose swaps any two axes") {
  for (const Shape& shape : {Shape{3, 5}, Shape{1, 7}, Shape{2, 3, 4}, Shape{2, 1, 3, 5}, Shape{33, 17}})
    for (int i = 0; i < shape.rank(); ++i)
      for (int j = 0; j < shape.rank(); ++j) {
        const Tensor x = random_tensor(shape);
        INFO(shape.str() << " axes " << i << " and " << j);
        Shape swapped = shape;
        std::swap(swapped[i], swapped[j]);
        check_close(transpose(x, i, j), from_formula(swapped, [&](At at) {
                      std::swap(at[i], at[j]);
                      return element(x, at);
                    }));
        check_gradients([&](const auto& in) { return transpose(in[0], i, j); }, {x});
      }
  CHECK(transpose(zeros({2, 3, 4})).shape() == Shape{2, 4, 3});
  CHECK_THROWS_WITH_AS(transpose(zeros({3})), "transpose: axis -2 is outside (3), which has 1 axes", Error);
}

TEST_CASE("permute puts axis order[i] at place i") {
  const Tensor x = random_tensor({2, 3, 4, 5});
  check_close(permute(x, {2, 0, 3, 1}), from_formula({4, 2, 5, 3}, [&](const At& i) {
                return element(x, {i[1], i[3], i[0], i[2]});
              }));
  check_close(permute(x, {-1, 1, 0, -2}), from_formula({5, 3, 2, 4}, [&](const At& i) {
                return element(x, {i[2], i[1], i[3], i[0]});
              }));
  check_gradients([](const auto& in) { return permute(in[0], {2, 0, 3, 1}); }, {x});
  check_gradients([](const auto& in) { return permute(in[0], {0, 1}); }, {random_tensor({3, 1})});
  CHECK(permute(scalar(3), {}).item() == 3);
  CHECK(permute(zeros({2, 0, 3}), {2, 1, 0}).shape() == Shape{3, 0, 2});
}

TEST_CASE("a permutation must name every axis once") {
  const Tensor x = zeros({2, 3, 4});
  CHECK_THROWS_WITH_AS(permute(x, {0, 1}), "permute: 2 axes given for a tensor of shape (2,3,4)", Error);
  CHECK_THROWS_WITH_AS(permute(x, {0, 1, 1}), "permute: axis 1 of (2,3,4) is named twice", Error);
  CHECK_THROWS_WITH_AS(permute(x, {0, 1, 3}), "permute: axis 3 is outside (2,3,4), which has 3 axes", Error);
}

TEST_CASE("concat lines tensors up along an axis") {
  for (const int axis : {0, 1, 2, -1}) {
    const int place = axis < 0 ? axis + 3 : axis;
    const Shape shape{2, 3, 5};
    const Tensor a = random_tensor(shape, 1), b = random_tensor(shape.with(axis, 1), 2),
                 c = random_tensor(shape.with(axis, 4), 3);
    const Index size = shape[axis];
    check_close(concat({a, b, c}, axis), from_formula(shape.with(axis, size + 5), [&](const At& at) {
                  const Index i = at[place];
                  if (i < size) return element(a, at);
                  if (i == size) return element(b, with(at, place, 0));
                  return element(c, with(at, place, i - size - 1));
                }));
    check_gradients([&](const auto& in) { return concat({in[0], in[1], in[2]}, axis); }, {a, b, c});
    check_gradients([&](const auto& in) { return concat({in[0], in[1], in[0]}, axis); }, {a, b});
  }
  CHECK(concat({zeros({2, 0}), ones({2, 3})}, 1).shape() == Shape{2, 3});
}

TEST_CASE("concat and stack refuse shapes that do not fit") {
  CHECK_THROWS_WITH_AS(concat({zeros({2, 3}), zeros({3, 3})}, 1),
                       "concat: (2,3) and (3,3) differ in more than axis 1", Error);
  CHECK_THROWS_WITH_AS(concat({zeros({2, 3}), zeros({2})}, 0),
                       "concat: (2,3) and (2) differ in more than axis 0", Error);
  CHECK_THROWS_WITH_AS(concat({}), "concat: no tensors given", Error);
  CHECK_THROWS_WITH_AS(stack({zeros({2}), zeros({3})}), "stack: (2) and (3) are not the same shape", Error);
  CHECK_THROWS_WITH_AS(stack({}), "stack: no tensors given", Error);
}

TEST_CASE("stack makes a new axis anywhere") {
  const Tensor a = random_tensor({2, 3}, 1), b = random_tensor({2, 3}, 2);
  CHECK(stack({a, b}).shape() == Shape{2, 2, 3});
  CHECK(equal(stack({a, b})[1], b));
  CHECK(stack({a, b, a}, -1).shape() == Shape{2, 3, 3});
  CHECK(stack({a, b, a}, -1)(1, 2, 1) == b(1, 2));
  CHECK(equal(stack({scalar(1), scalar(2)}), tensor({1, 2})));
  for (const int axis : {0, 1, 2})
    check_gradients([&](const auto& in) { return stack({in[0], in[1]}, axis); }, {a, b});
}

TEST_CASE("slice takes a range of any axis") {
  const Tensor x = random_tensor({4, 5, 3});
  for (const int axis : {0, 1, 2, -1})
    for (const auto& range : {std::pair<Index, Index>{0, 1}, {1, 3}, {2, 3}, {0, 3}, {1, 1}}) {
      const int place = axis < 0 ? axis + 3 : axis;
      const Index begin = range.first, end = range.second;
      INFO("axis " << axis << " from " << begin << " to " << end);
      check_close(slice(x, axis, begin, end),
                  from_formula(x.shape().with(axis, end - begin),
                               [&](const At& at) { return element(x, with(at, place, at[place] + begin)); }));
      check_gradients([&](const auto& in) { return slice(in[0], axis, begin, end); }, {x});
    }
}

TEST_CASE("a slice outside is refused with its range, axis and shape") {
  const Tensor x = zeros({4, 5});
  CHECK_THROWS_WITH_AS(slice(x, 1, 2, 6), "slice: [2, 6) is outside axis 1 of (4,5), which has size 5",
                       Error);
  CHECK_THROWS_WITH_AS(slice(x, 0, -1, 2), "slice: [-1, 2) is outside axis 0 of (4,5), which has size 4",
                       Error);
  CHECK_THROWS_WITH_AS(slice(x, 0, 3, 2), "slice: [3, 2) is outside axis 0 of (4,5), which has size 4",
                       Error);
  CHECK_THROWS_WITH_AS(slice(x, 2, 0, 1), "slice: axis 2 is outside (4,5), which has 2 axes", Error);
}

TEST_CASE("select takes one part and drops its axis") {
  const Tensor x = random_tensor({4, 5, 3});
  check_close(select(x, 1, 2), from_formula({4, 3}, [&](const At& i) {
                return element(x, {i[0], 2, i[1]});
              }));
  CHECK(equal(select(x, -1, -1), select(x, 2, 2)));
  check_gradients([](const auto& in) { return select(in[0], 1, -2) + select(in[0], 1, 0); }, {x});
}

TEST_CASE("one axis of a reshape may be -1: what is left") {
  const Tensor x = arange(24);
  CHECK(reshape(x, {-1, 4}).shape() == Shape{6, 4});
  CHECK(reshape(x, {2, -1, 3}).shape() == Shape{2, 4, 3});
  CHECK(reshape(x, {24, -1}).shape() == Shape{24, 1});
  CHECK(reshape(scalar(1), {-1}).shape() == Shape{1});
  CHECK(reshape(scalar(1), {}).shape() == Shape{});
  CHECK(reshape(zeros({0, 3}), {-1, 3}).shape() == Shape{0, 3});
  const std::vector<Index> sizes{4, -1};
  CHECK(reshape(x, sizes).shape() == Shape{4, 6});
  check_gradients([](const auto& in) { return reshape(in[0], {-1, 2}); }, {random_tensor({3, 4})});
  CHECK_THROWS_WITH_AS(reshape(x, {-1, -1}), "reshape: only one axis can be -1", Error);
  CHECK_THROWS_WITH_AS(reshape(x, {-1, 5}),
                       "reshape: no size in place of -1 makes the 24 elements of (24): the other axes have 5",
                       Error);
  CHECK_THROWS_AS(reshape(zeros({0, 3}), {-1, 0}), Error);  // any size would do
  CHECK_THROWS_WITH_AS(reshape(x, {-2, 12}), "shape: axis 0 has a negative size (-2)", Error);
}

TEST_CASE("shapes and permutations may come from vectors") {
  const std::vector<Index> sizes{2, 3, 4};
  CHECK(Shape(sizes) == Shape{2, 3, 4});
  CHECK(zeros(Shape(sizes)).numel() == 24);
  const std::vector<int> axes{2, 0, 1};
  const Tensor x = random_tensor(Shape(sizes));
  CHECK(equal(permute(x, axes), permute(x, {2, 0, 1})));
  CHECK_THROWS_AS(Shape(std::vector<Index>(7, 1)), Error);
  CHECK_THROWS_AS(permute(x, std::vector<int>{0, 1}), Error);
}

TEST_CASE("negative bounds of a slice count from the end") {
  const Tensor x = random_tensor({3, 5});
  CHECK(equal(slice(x, 1, -2, 5), slice(x, 1, 3, 5)));
  CHECK(equal(slice(x, 1, 1, -1), slice(x, 1, 1, 4)));
  CHECK(equal(slice(x, 0, -3, -1), slice(x, 0, 0, 2)));
  CHECK(slice(x, 1, -1, -1).shape() == Shape{3, 0});
  check_gradients([](const auto& in) { return slice(in[0], 1, -3, -1); }, {x});
  CHECK_THROWS_WITH_AS(slice(x, 1, -6, 5), "slice: [-6, 5) is outside axis 1 of (3,5), which has size 5",
                       Error);
  CHECK_THROWS_AS(slice(x, 1, -1, 2), Error);
}

TEST_CASE("split cuts equal parts and a smaller last one; concat undoes it") {
  const Tensor x = random_tensor({2, 7});
  const std::vector<Tensor> parts = split(x, 3, 1);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].shape() == Shape{2, 3});
  CHECK(parts[2].shape() == Shape{2, 1});
  CHECK(equal(concat(parts, 1), x));
  check_gradients(
      [](const auto& in) {
        const std::vector<Tensor> parts = split(in[0], 3, 1);
        return concat({parts[2], parts[0] * parts[1]}, 1);
      },
      {x});
  CHECK_THROWS_WITH_AS(split(x, 0), "split: parts of size 0 of (2,7)", Error);
}

}  // namespace
}  // namespace attn
