#include "core/tensor.hpp"

#include <doctest/doctest.h>

#include <cmath>   // isnan
#include <limits>  // numeric_limits

#include "core/error.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

using Values = std::vector<real>;
const real infinity = std::numeric_limits<real>::infinity();
const real nan = std::numeric_limits<real>::quiet_NaN();

TEST_CASE("tensors are made from shapes and from values") {
  CHECK(zeros({2, 2}).values() == Values{0, 0, 0, 0});
  CHECK(ones({3}).values() == Values{1, 1, 1});
  CHECK(full({2}, 2.5).values() == Values{2.5, 2.5});
  CHECK(arange(4).values() == Values{0, 1, 2, 3});
  CHECK(scalar(3).shape() == Shape{});
  CHECK(tensor({1, 2, 3}).shape() == Shape{3});
  const Tensor matrix = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(matrix.shape() == Shape{2, 3});
  CHECK(matrix.values() == Values{1, 2, 3, 4, 5, 6});
  CHECK(from_values({2, 1}, {7, 8}).values() == Values{7, 8});
  CHECK(zeros({2, 0, 3}).numel() == 0);
}

TEST_CASE("values that do not fill the shape are refused") {
  CHECK_THROWS_WITH_AS(from_values({2, 3}, {1, 2}), "from_values: 2 values do not fill the shape (2,3)",
                       Error);
  CHECK_THROWS_WITH_AS(tensor({{1, 2, 3}, {4, 5}}), "tensor: a row has 2 values, the first one 3", Error);
  CHECK_THROWS_WITH_AS(IntTensor({4}, {1, 2}), "IntTensor: 2 values do not fill the shape (4)", Error);
}

TEST_CASE("a copy of a handle is the same tensor") {
  const Tensor a = zeros({3});
  const Tensor b = a;
  b(1) = 5;
  CHECK(a.values() == Values{0, 5, 0});
  Tensor c = b;
  const Tensor& alias = c;
  c = alias;  // assignment to itself must not free it
  CHECK(c.values() == Values{0, 5, 0});
  c = Tensor();
  CHECK_FALSE(c);
  CHECK(b.is(a));
  CHECK_FALSE(b.is(a.detach()));
}

TEST_CASE("reshape and detach share the values, other ops do not") {
  const Tensor a = arange(6);
  const Tensor b = reshape(a, {2, 3}), c = a.detach(), d = a + 0;
  a(4) = 40;
  CHECK(b(1, 1) == 40);
  CHECK(c(4) == 40);
  CHECK(d(4) == 4);
}

TEST_CASE("elements are read and written by index") {
  const Tensor x = reshape(arange(24), {2, 3, 4});
  CHECK(x(1, 2, 3) == 23);
  CHECK(x(0, 1, 0) == 4);
  x(1, 0, 0) = -1;
  CHECK(x.data()[12] == -1);
  CHECK(x.size(-1) == 4);
  CHECK(x.size(0) == 2);
  CHECK(scalar(8)() == 8);
}

TEST_CASE("indices outside are refused with the shape") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(x(0, 3), "at: index 3 is outside axis 1 of (2,3), which has size 3", Error);
  CHECK_THROWS_WITH_AS(x(-1, 0), "at: index -1 is outside axis 0 of (2,3), which has size 2", Error);
  CHECK_THROWS_WITH_AS(x(0), "at: 1 indices for a tensor of shape (2,3)", Error);
  CHECK_THROWS_WITH_AS(x.size(2), "size: axis 2 is outside (2,3), which has 2 axes", Error);
}

TEST_CASE("square brackets take one part along the first axis") {
  const Tensor x = reshape(arange(6), {2, 3});
  CHECK(x[1].shape() == Shape{3});
  CHECK(x[1].values() == Values{3, 4, 5});
  CHECK(x[-1].values() == Values{3, 4, 5});
  CHECK(x[0][2].item() == 2);
  CHECK_THROWS_WITH_AS(x[2], "select: index 2 is outside axis 0 of (2,3), which has size 2", Error);
  CHECK_THROWS_WITH_AS(x[-3], "select: index -3 is outside axis 0 of (2,3), which has size 2", Error);
}

TEST_CASE("item is the value of one element, whatever the rank") {
  CHECK(scalar(4).item() == 4);
  CHECK(full({1, 1}, 5).item() == 5);
  CHECK_THROWS_WITH_AS(zeros({2}).item(),
                       "item: the tensor has shape (2); only a tensor with one element has an item", Error);
  CHECK_THROWS_AS(zeros({0}).item(), Error);
}

TEST_CASE("reshape keeps the number of elements") {
  CHECK(reshape(arange(6), {3, 1, 2}).shape() == Shape{3, 1, 2});
  CHECK(reshape(scalar(1), {1, 1}).shape() == Shape{1, 1});
  CHECK_THROWS_WITH_AS(reshape(zeros({2, 3}), {4, 2}), "reshape: (2,3) has 6 elements, (4,2) has 8", Error);
}

TEST_CASE("equal compares shapes and values exactly") {
  CHECK(equal(tensor({1, 2}), tensor({1, 2})));
  CHECK_FALSE(equal(tensor({1, 2}), tensor({1, 3})));
  CHECK_FALSE(equal(tensor({1, 2}), tensor({{1, 2}})));
  CHECK_FALSE(equal(tensor({nan}), tensor({nan})));
}

TEST_CASE("max_difference is the largest difference of two elements") {
  CHECK(max_difference(tensor({1, 5, 2}), tensor({1, 2, 4})) == 3);
  CHECK(max_difference(tensor({1, infinity}), tensor({1, infinity})) == 0);
  CHECK(std::isnan(max_difference(tensor({1, nan}), tensor({1, 2}))));
  CHECK_THROWS_WITH_AS(max_difference(zeros({2}), zeros({3})), "max_difference: (2) and (3)", Error);
}

TEST_CASE("an integer tensor shares its values with its copies") {
  const IntTensor a({2, 3}, {1, 2, 3, 4, 5, 6});
  const IntTensor b = a;
  b(1, 0) = 40;
  CHECK(a(1, 0) == 40);
  CHECK(a[3] == 40);
  CHECK(a.values() == std::vector<int>{1, 2, 3, 40, 5, 6});
  CHECK(IntTensor().numel() == 0);
  CHECK_THROWS_WITH_AS(a(2, 0), "at: index 2 is outside axis 0 of (2,3), which has size 2", Error);
}

}  // namespace
}  // namespace attn
