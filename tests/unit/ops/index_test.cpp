#include <doctest/doctest.h>

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

TEST_CASE("embedding looks rows up") {
  const Tensor table = random_tensor({5, 3});
  const IntTensor ids({2, 4}, {4, 0, 0, 2, 1, 4, 4, 4});
  const Tensor out = embedding(table, ids);
  check_close(out, from_formula({2, 4, 3}, [&](const At& i) {
                return element(table, {ids(i[0], i[1]), i[2]});
              }));
  check_gradients([&](const auto& in) { return embedding(in[0], ids); }, {table});
  CHECK(embedding(table, IntTensor({}, {3})).shape() == Shape{3});
  CHECK(embedding(table, IntTensor({0}, {})).shape() == Shape{0, 3});
}

TEST_CASE("a row looked up several times gets the sum of the gradients, one never looked up zero") {
  Tensor table = zeros({4, 2}).requires_grad();
  const Tensor out = embedding(table, IntTensor({3}, {2, 0, 2}));
  backward(out, tensor({{1, 2}, {3, 4}, {10, 20}}));
  CHECK(equal(table.grad(), tensor({{3, 4}, {0, 0}, {11, 22}, {0, 0}})));
}

TEST_CASE("embedding refuses ids outside the table and tables that are none") {
  CHECK_THROWS_WITH_AS(embedding(zeros({5, 3}), IntTensor({2}, {1, 5})),
                       "embedding: id 5 (number 1 of (2)) is outside the table (5,3)", Error);
  CHECK_THROWS_WITH_AS(embedding(zeros({5, 3}), IntTensor({1}, {-1})),
                       "embedding: id -1 (number 0 of (1)) is outside the table (5,3)", Error);
  CHECK_THROWS_WITH_AS(embedding(zeros({5}), IntTensor({1}, {0})),
                       "embedding: the table has shape (5), not (V,C)", Error);
}

}  // namespace
}  // namespace attn
