#include "core/shape.hpp"

#include <doctest/doctest.h>

#include "core/error.hpp"

namespace attn {
namespace {

TEST_CASE("a shape knows its rank, its size and its strides") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.numel() == 24);
  CHECK(shape.stride(0) == 12);
  CHECK(shape.stride(1) == 4);
  CHECK(shape.stride(-1) == 1);
  CHECK(shape.str() == "(2,3,4)");
  CHECK(shape[-1] == 4);
  CHECK(shape[-3] == 2);
}

TEST_CASE("a scalar has no axes and one element, an axis of size 0 leaves none") {
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{}.numel() == 1);
  CHECK(Shape{}.str() == "()");
  CHECK(Shape{3, 0, 2}.numel() == 0);
}

TEST_CASE("shapes are equal when rank and all sizes are") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  CHECK_FALSE(Shape{} == Shape{1});
}

TEST_CASE("an axis can be resized, removed and inserted anywhere") {
  const Shape shape{2, 3, 4};
  CHECK(shape.with(1, 7) == Shape{2, 7, 4});
  CHECK(shape.with(-1, 7) == Shape{2, 3, 7});
  CHECK(shape.without(0) == Shape{3, 4});
  CHECK(shape.without(2) == Shape{2, 3});
  CHECK(shape.inserted(0, 9) == Shape{9, 2, 3, 4});
  CHECK(shape.inserted(3, 9) == Shape{2, 3, 4, 9});
  CHECK(Shape{}.inserted(0, 5) == Shape{5});
}

TEST_CASE("shapes that cannot be are refused") {
  CHECK_THROWS_WITH_AS((Shape{1, 2, 3, 4, 5, 6, 7}),
                       "shape: rank 7 is not between 0 and the 6 axes supported", Error);
  CHECK_THROWS_WITH_AS((Shape{2, -3}), "shape: axis 1 has a negative size (-3)", Error);
  CHECK_THROWS_WITH_AS((Shape{1, 2, 3, 4, 5, 6}.inserted(0, 1)),
                       "shape: (1,2,3,4,5,6) already has 6 axes, the most supported", Error);
}

TEST_CASE("negative axes count from the end, and axes outside are refused by name") {
  const Shape shape{2, 3};
  CHECK(normalize_axis("sum", shape, 0) == 0);
  CHECK(normalize_axis("sum", shape, -1) == 1);
  CHECK(normalize_axis("sum", shape, -2) == 0);
  CHECK_THROWS_WITH_AS(normalize_axis("sum", shape, 2), "sum: axis 2 is outside (2,3), which has 2 axes",
                       Error);
  CHECK_THROWS_WITH_AS(normalize_axis("max", shape, -3), "max: axis -3 is outside (2,3), which has 2 axes",
                       Error);
  CHECK_THROWS_AS(normalize_axis("sum", Shape{}, 0), Error);
}

TEST_CASE("broadcasting aligns from the right and stretches axes of size 1") {
  const struct {
    Shape a, b, out;
  } cases[] = {
      {{2, 3}, {3}, {2, 3}},
      {{2, 3}, {2, 1}, {2, 3}},
      {{2, 1}, {1, 3}, {2, 3}},
      {{}, {2, 3}, {2, 3}},
      {{5, 1, 4}, {3, 1}, {5, 3, 4}},
      {{1}, {}, {1}},
      {{0, 3}, {1, 3}, {0, 3}},
      {{1}, {0}, {0}},
      {{2, 1, 3, 1}, {4, 1, 5}, {2, 4, 3, 5}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.a.str());
    CAPTURE(c.b.str());
    CHECK(broadcast_shape("add", c.a, c.b) == c.out);
    CHECK(broadcast_shape("add", c.b, c.a) == c.out);
  }
  CHECK_THROWS_WITH_AS(broadcast_shape("mul", {2, 3}, {2, 4}),
                       "mul: (2,3) and (2,4) do not broadcast: axis 1 from the right is 3 and 4", Error);
  CHECK_THROWS_WITH_AS(broadcast_shape("add", {5, 2, 3}, {4, 1, 3}),
                       "add: (5,2,3) and (4,1,3) do not broadcast: axis 3 from the right is 5 and 4", Error);
}

}  // namespace
}  // namespace attn
