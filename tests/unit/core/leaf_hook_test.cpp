#include "core/leaf_hook.hpp"

#include <doctest/doctest.h>

#include "core/autograd.hpp"
#include "core/ops.hpp"

using namespace attn;

TEST_CASE("a hook hears of each leaf once, when its gradient is complete: the last layer first") {
  Rng rng(1);
  const Tensor x = normal({5, 3}, rng), first = normal({4, 3}, rng).requires_grad(),
               second = normal({4, 4}, rng).requires_grad(), unused = normal({2}, rng).requires_grad(),
               tied = normal({4, 4}, rng).requires_grad();
  const auto loss = [&] {
    const Tensor hidden = linear(tanh(linear(x, first)), tied);
    return mean(linear(tanh(linear(hidden, second)), tied));  // the tied weights are used twice
  };
  backward(loss());
  const std::vector<Tensor> leaves = {first, second, tied};
  std::vector<std::vector<real>> expected;
  for (const Tensor& leaf : leaves) {
    expected.push_back(leaf.grad().values());
    leaf.zero_grad();
  }

  std::vector<Index> order;
  {
    const LeafHook hook([&](const Tensor& leaf) {
      for (Index i = 0; i < 3; ++i)
        if (leaf.is(leaves[i])) {
          order.push_back(i);
          CHECK(leaf.grad().values() == expected[i]);
        }
      CHECK_FALSE(leaf.is(unused));
    });
    backward(loss());
  }
  CHECK(order == std::vector<Index>{1, 2, 0});
  backward(loss());  // nobody listens any more
  CHECK(order.size() == 3);
}
