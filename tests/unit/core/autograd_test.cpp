#include "core/op.hpp"

#include <doctest/doctest.h>

#include <cmath>     // exp, ldexp
#include <iterator>  // ssize
#include <limits>    // numeric_limits

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

using Values = std::vector<real>;

TEST_CASE("backward gives the derivative of a formula") {
  Tensor x = tensor({1, 2, 3}).requires_grad(), y = tensor({4, 5, 6}).requires_grad();
  backward(sum(x * y + x * x));
  CHECK(x.grad().values() == Values{6, 9, 12});  // y + 2x
  CHECK(y.grad().values() == Values{1, 2, 3});   // x
}

TEST_CASE("the checker finds a wrong gradient and says where") {
  // A square whose derivative forgets the 2 for one element only.
  const auto wrong_square = [](const std::vector<Tensor>& in) {
    const Tensor x = in[1], y = x.detach() * x.detach();
    return record(y + 0, "wrong_square", {in[0], x}, [a = in[0], x](const Tensor& y) {
      add_grad(a, [](Index) { return real{0}; });
      add_grad(x, [&](Index i) { return grad_data(y)[i] * x.data()[i] * (i == 3 ? 1 : 2); });
    });
  };
  const std::string error = gradient_error(wrong_square, {ones({2}), random_tensor({5}, 1, 1, 2)});
  CAPTURE(error);
  CHECK(error.find("wrong_square: input 1 (5), element 3: the gradient is ") == 0);
  CHECK(error.find("central differences say") != std::string::npos);
}

TEST_CASE("the checker finds a gradient that overwrites instead of adding") {
  const auto overwriting = [](const std::vector<Tensor>& in) {
    const Tensor x = in[0];
    return record(x.detach() * 2, "twice", {x}, [x](const Tensor& y) {
      const GradTarget target = grad_target(x);
      for (Index i = 0; i < x.numel(); ++i) target.data[i] = 2 * grad_data(y)[i];
    });
  };
  CHECK(gradient_error(overwriting, {ones({3})}).find("after a second backward") != std::string::npos);
}

TEST_CASE("the checker finds an input that gets no gradient") {
  const auto forgetful = [](const std::vector<Tensor>& in) {
    return record(in[0] * 1, "forgetful", {in[0]}, [](const Tensor&) {});
  };
  CHECK(gradient_error(forgetful, {ones({3})}) == "forgetful: input 0 got no gradient");
  CHECK(gradient_error([](const auto& in) { return in[0].detach(); }, {ones({3})}) == "nothing was recorded");
}

// A graph of ops drawn at random from tensors computed before, so that many are used several times.
// Everything stays smooth and of moderate size.
Tensor random_graph(std::uint64_t seed, const std::vector<Tensor>& inputs) {
  Rng rng(seed);
  std::vector<Tensor> made = inputs;  // all (3, 4)
  const auto any = [&] { return made[rng.below(std::ssize(made))]; };
  for (int step = 0; step < 12; ++step) {
    const Tensor a = any(), b = any();
    const auto next = [&]() -> Tensor {
      switch (rng.below(17)) {
        case 0:
          return a + b;
        case 1:
          return a - b;
        case 2:
          return tanh(a) * b;
        case 3:
          return a / (exp(tanh(b)) + 1);
        case 4:
          return gelu(a);
        case 5:
          return silu(a) + tanh(b);
        case 6:
          return softmax(a) * b;
        case 7:
          return layer_norm(a, b[0], a[1]);
        case 8:
          return matmul(matmul(a, b, Transpose::second) * 0.2, tanh(a));  // (3, 3) x (3, 4)
        case 9:
          return transpose(reshape(sigmoid(a), {4, 3})) + b;
        case 10:
          return concat({slice(a, 1, 2, 4), slice(b, 1, 0, 2)}, 1);
        case 11:
          return a * mean(b, 0, true);
        case 12:
          return sum(tanh(a), 1, true) - b;
        case 13:
          return where(tensor({1, 0, 0, 1}), a, tanh(b));
        case 14:
          return embedding(a, IntTensor({3}, {2, 0, 2}));
        case 15:
          return reshape(reshape(a, {12}) * 0.5, {3, 4}) + a;
        default:
          return linear(a, reshape(tanh(concat({b, select(a, 0, 0) + zeros({1, 4})}, 0)), {4, 4}), b[2]);
      }
    };
    made.push_back(next());
  }
  // The youngest and a few others: some of the graph may well be left over, which is a case too.
  return made.back() + tanh(any()) + any();
}

TEST_CASE("random graphs of composed ops have the right gradients") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto function = [seed](const std::vector<Tensor>& in) {
      return random_graph(seed, in) + (in[0] + in[1] + in[2]) * 0.1;  // so that each input has a part
    };
    if (double_build)
      check_gradients(function,
                      {random_tensor({3, 4}, 1), random_tensor({3, 4}, 2), random_tensor({3, 4}, 3)});
    else
      backward(sum(function({ones({3, 4}).requires_grad(), ones({3, 4}).requires_grad(), ones({3, 4})})));
  }
}

TEST_CASE("gradients through every use of a tensor add up") {
  Tensor x = tensor({3}).requires_grad();
  backward(sum(x * x * x + x + x));
  CHECK(x.grad().values() == Values{29});  // 3 x^2 + 2
}

TEST_CASE("the number of paths through a graph does not matter") {
  // Each diamond doubles the number of paths: 2^60 of them end in x.
  Tensor x = scalar(1).requires_grad();
  Tensor y = x;
  for (int i = 0; i < 30; ++i) y = y + y;
  for (int i = 0; i < 30; ++i) y = (y * 3) - y;
  backward(y);
  CHECK(x.grad().item() == real(std::ldexp(1, 60)));
}

TEST_CASE("a wide graph is walked and freed") {
  const auto before = pool_statistics().bytes_in_use;
  {
    Tensor x = scalar(2).requires_grad();
    std::vector<Tensor> parts;
    for (int i = 0; i < 50000; ++i) parts.push_back(x * real(i % 3));
    backward(sum(stack(parts)));
    CHECK(x.grad().item() == 49999);  // 16666 times 0 + 1 + 2, then 0 and 1
  }
  CHECK(pool_statistics().bytes_in_use == before);
}

// x with a million ops behind it: -x + 1 leaves a slope of 1 or -1.
Tensor million_ops(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 500000; ++i) y = -y + 1;
  return y;
}

TEST_CASE("a million chained ops run backward and are freed") {
  const auto before = pool_statistics().bytes_in_use;
  {
    Tensor x = scalar(2).requires_grad();
    const Tensor y = million_ops(x);
    CHECK(y.item() == 2);
    backward(y);
    CHECK(x.grad().item() == 1);
  }
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("a million chained ops can be dropped without a backward") {
  const auto before = pool_statistics().bytes_in_use;
  Tensor x = scalar(2).requires_grad();
  Tensor y = million_ops(x);
  y = Tensor();
  CHECK_FALSE(x.grad());
  x = Tensor();
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("backward frees the graph as it goes, and what it kept alive") {
  Tensor x = ones({1000}).requires_grad();
  const auto before = pool_statistics().bytes_in_use;
  const Tensor loss = sum(tanh(x * x));
  const auto with_graph = pool_statistics().bytes_in_use;
  CHECK(with_graph - before > std::int64_t(2000 * sizeof(real)));
  backward(loss);
  x.zero_grad();
  CHECK(pool_statistics().bytes_in_use - before < std::int64_t(1000 * sizeof(real)));
}

TEST_CASE("gradients of leaves add up over backwards until they are zeroed") {
  Tensor x = tensor({1, 2}).requires_grad();
  backward(sum(x * x));
  backward(sum(x * 10));
  CHECK(x.grad().values() == Values{12, 14});
  x.zero_grad();
  CHECK_FALSE(x.grad());
  backward(sum(x));
  CHECK(x.grad().values() == Values{1, 1});
}

TEST_CASE("a gradient held in a handle is not changed by zero_grad or by what comes after it") {
  Tensor x = tensor({1, 2}).requires_grad();
  backward(sum(x * x));
  const Tensor saved = x.grad();
  x.zero_grad();
  backward(sum(x * 100));
  CHECK(saved.values() == Values{2, 4});
  CHECK(x.grad().values() == Values{100, 100});
}

TEST_CASE("backward from a tensor of any shape takes the gradient with respect to it") {
  Tensor x = tensor({1, 2, 3}).requires_grad();
  backward(x * x, tensor({1, 10, 100}));
  CHECK(x.grad().values() == Values{2, 40, 600});
  CHECK_THROWS_WITH_AS(backward(x * 2, ones({2})), "backward: the gradient has shape (2), the tensor (3)",
                       Error);
}

TEST_CASE("backward from a leaf is a gradient of one") {
  Tensor x = scalar(5).requires_grad();
  backward(x);
  CHECK(x.grad().item() == 1);
}

TEST_CASE("backward twice through one graph is refused") {
  Tensor x = tensor({1, 2}).requires_grad();
  const Tensor y = x * x, loss = sum(y);
  backward(loss);
  CHECK_THROWS_WITH_AS(backward(loss),
                       "backward: the graph behind () was freed by an earlier backward; compute it again",
                       Error);
  // And also where only a part of the graph was used before.
  CHECK_THROWS_WITH_AS(backward(sum(y * 3)),
                       "backward: mul used a tensor of shape (2) whose graph was freed by an earlier "
                       "backward; compute it again",
                       Error);
  backward(sum(y.detach() * x));  // its values may still be used
}

TEST_CASE("backward needs one number that depends on something") {
  Tensor x = tensor({{1, 2}}).requires_grad();
  CHECK_THROWS_WITH_AS(backward(x * 2),
                       "backward: the loss has shape (1,2); it must be one number (see sum and mean)", Error);
  CHECK_THROWS_WITH_AS(backward(sum(ones({3}))), "backward: () depends on nothing that requires a gradient",
                       Error);
}

TEST_CASE("a NaN loss is refused, and the op that made the first NaN is named") {
  Tensor x = tensor({1, -1, 4}).requires_grad();
  CHECK_THROWS_WITH_AS(backward(sum(log(x * 2) + 3)),
                       "backward: the loss is NaN; the first NaN is in log (3)", Error);
  x(1) = std::numeric_limits<real>::quiet_NaN();
  CHECK_THROWS_WITH_AS(backward(sum(exp(x))),
                       "backward: the loss is NaN; the first NaN is in a leaf of shape (3)", Error);
  CHECK_FALSE(x.grad());
}

TEST_CASE("only a leaf can be told to require a gradient") {
  Tensor x = ones({2, 3}).requires_grad();
  Tensor y = x * 2;
  CHECK(x.is_leaf());
  CHECK_FALSE(y.is_leaf());
  CHECK_THROWS_WITH_AS(y.requires_grad(),
                       "requires_grad: (2,3) was computed by an op; only leaves can be told to (see detach)",
                       Error);
  backward(sum(y));
  CHECK_THROWS_AS(y.requires_grad(), Error);
  CHECK(y.detach().requires_grad().is_leaf());
  CHECK_FALSE((ones({2}) * 2).requires_grad().grad());  // computed, but from nothing that needed a gradient
}

TEST_CASE("detach cuts the graph") {
  Tensor x = tensor({2, 3}).requires_grad();
  const Tensor y = x * x;
  CHECK_FALSE(y.detach().needs_grad());
  backward(sum(y.detach() * x));
  CHECK(x.grad().values() == Values{4, 9});  // y as a constant
}

TEST_CASE("inner tensors lose their gradient unless they are told to retain it") {
  Tensor x = tensor({1, 2}).requires_grad();
  Tensor y = x * x, z = y + 1, w = reshape(z, {2, 1});
  y.retain_grad();
  w.retain_grad();
  backward(sum(w * 5));
  CHECK(w.grad().values() == Values{5, 5});
  CHECK(w.grad().shape() == Shape{2, 1});
  CHECK_FALSE(z.grad());
  CHECK(y.grad().values() == Values{5, 5});
  CHECK(x.grad().values() == Values{10, 20});
  CHECK_THROWS_WITH_AS(ones({3}).retain_grad(), "retain_grad: (3) needs no gradient", Error);
}

TEST_CASE("a gradient handed on as it is may be wanted by two, and neither spoils the other's") {
  Tensor a = tensor({1, 2}).requires_grad(), b = tensor({3, 4}).requires_grad();
  Tensor p = a * 1, q = b * 1;
  p.retain_grad();
  q.retain_grad();
  Tensor s = p + q;
  backward(sum(s * s + p * 3));
  CHECK(q.grad().values() == Values{8, 12});
  CHECK(p.grad().values() == Values{11, 15});
  CHECK(a.grad().values() == Values{11, 15});
  CHECK(b.grad().values() == Values{8, 12});
}

TEST_CASE("what adds to a gradient handed on to two does not add to the other's") {
  const Tensor x = tensor({1, 2}).requires_grad();
  const Tensor q = x * 10, p = x * 1;
  const Tensor later = p * 3;    // younger than q: it adds to p's gradient before q has used its own
  backward(sum(p + q + later));  // 1 from p, 10 from q, 3 from later
  CHECK(x.grad().values() == Values{14, 14});
}

TEST_CASE("a gradient written over another is that of the values, and a retained one stays") {
  const auto gradients = [](bool retain) {
    const Tensor x = tensor({-1, 2}).requires_grad(), w = tensor({{1, 2}, {3, 4}}).requires_grad();
    Tensor y = linear(x, w, {}, Activation::relu), z = tanh(y);  // each may write over the one after it
    if (retain) y.retain_grad(), z.retain_grad();
    backward(sum(z * z));
    if (retain) CHECK(z.grad()(1) == doctest::Approx(2 * double(z(1))));
    return std::make_pair(x.grad().values(), w.grad().values());
  };
  CHECK(gradients(false) == gradients(true));
}

TEST_CASE("nothing is recorded while a NoGrad is alive") {
  Tensor x = ones({2}).requires_grad();
  CHECK(grad_enabled());
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      CHECK_FALSE((x * x).needs_grad());
    }
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x * x).needs_grad());
    CHECK_FALSE(concat({x, x}).needs_grad());
  }
  CHECK((x * x).needs_grad());
}

TEST_CASE("what needs no gradient gets none and keeps nothing alive") {
  Tensor x = ones({2}).requires_grad();
  const Tensor constant = ones({2});
  backward(sum(x * constant));
  CHECK_FALSE(constant.grad());
  CHECK_FALSE((constant * constant).needs_grad());
  x.requires_grad(false);
  CHECK_FALSE((x * constant).needs_grad());
}

TEST_CASE("an error in the middle of a backward leaves nothing stuck") {
  Tensor x = ones({2}).requires_grad();
  const auto before = pool_statistics().bytes_in_use;
  {
    const Tensor bad = record(x * 1, "bad", {x}, [](const Tensor&) { fail("bad: cannot"); });
    CHECK_THROWS_WITH_AS(backward(sum(bad + x * 2)), "bad: cannot", Error);
  }
  x.zero_grad();
  CHECK(pool_statistics().bytes_in_use == before);
  backward(sum(x * 2));
  CHECK(x.grad().values() == Values{2, 2});
}

TEST_CASE("an op made of other ops may bring a gradient of its own") {
  Tensor x = tensor({1, 2}).requires_grad();
  const auto before = pool_statistics().bytes_in_use;
  {
    const Tensor y =
        record(exp(x) * 0 + x, "straight through", {x}, [x](const Tensor& y) { pass_grad(y, x); });
    CHECK(graphviz(y).find("exp") == std::string::npos);
    backward(sum(y * 3));
  }
  CHECK(x.grad().values() == Values{3, 3});
  x.zero_grad();
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("an op may have any number of inputs; those that are empty or need no gradient are left out") {
  std::vector<Tensor> x;
  for (int i = 0; i < 12; ++i) x.push_back(full({2}, real(i)).requires_grad(i != 5));
  const auto add_all = [&](const auto& inputs) {
    return record(zeros({2}), "add_all", inputs, [x](const Tensor& out) {
      for (int i = 0; i < 12; ++i)
        if (i != 5) add_grad(x[i], [&](Index k) { return real(i + 1) * grad_data(out)[k]; });
    });
  };
  const Tensor none,
      from_list = record(zeros({2}), "list",
                         {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], none, x[11]},
                         [](const Tensor&) {});
  CHECK(node_of(from_list)->inputs().size() == 10);
  CHECK(node_of(from_list)->inputs()[9].is(x[11]));
  const Tensor out = add_all(x);
  CHECK(node_of(out)->inputs().size() == 11);
  backward(out, ones({2}));
  for (int i = 0; i < 12; ++i)
    if (i != 5) CHECK(x[i].grad().values() == Values{real(i + 1), real(i + 1)});
  CHECK_FALSE(x[5].has_grad());
}

TEST_CASE("the graph can be drawn: one box a tensor, with op and shape, and an arrow from each input") {
  Tensor x = ones({2, 3}).requires_grad();
  const Tensor y = tanh(x), loss = sum(y * y);
  const std::string text = graphviz(loss);
  CAPTURE(text);
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(text.find("digraph {") == 0);
  CHECK(text.substr(text.size() - 2) == "}\n");
  CHECK(count("label=\"leaf\\n(2,3)\"") == 1);
  CHECK(count("label=\"tanh\\n(2,3)\"") == 1);
  CHECK(count("label=\"mul\\n(2,3)\"") == 1);
  CHECK(count("label=\"sum\\n()\"") == 1);
  CHECK(count(" -> ") == 4);  // y goes into mul twice
}

}  // namespace
}  // namespace attn
