// The same bits with 1, 2 and 4 threads, on sizes at which the work is really shared.
#include <omp.h>  // omp_get_thread_num

#include <algorithm>   // max
#include <functional>  // function
#include <utility>     // pair

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/parallel.hpp"
#include "tests/unit/core/every_kernel.hpp"  // Reals, same_bits
#include "tests/unit/reference.hpp"

namespace attn {
namespace {

struct ThreadCount {
  int before = thread_count();
  explicit ThreadCount(int count) { set_thread_count(count); }
  ThreadCount(const ThreadCount&) = delete;
  ~ThreadCount() { set_thread_count(before); }
};

void append(Reals& all, const Tensor& x) { all.insert(all.end(), x.data(), x.data() + x.numel()); }

void check_same_bits(const std::function<Reals()>& run) {
  const ThreadCount restore(1);
  const Reals one = run();
  REQUIRE(one.size() > 0);
  for (const int threads : {2, 4}) {
    set_thread_count(threads);
    CAPTURE(threads);
    CHECK(same_bits(run(), one));
  }
}

// The result of an op and the gradients of all inputs, on 1, 2 and 4 threads.
void check_op(const char* name, const std::function<Tensor(const std::vector<Tensor>&)>& op,
              const std::vector<Shape>& shapes) {
  CAPTURE(name);
  check_same_bits([&] {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      inputs.push_back(random_tensor(shapes[i], i + 1, 0.1, 2).requires_grad());
    Reals all;
    for (int accumulate = 0; accumulate < 2; ++accumulate) {
      const Tensor out = op(inputs);
      append(all, out);
      backward(out, random_tensor(out.shape(), 9));
      for (const Tensor& input : inputs) append(all, input.grad());
    }
    return all;
  });
}

TEST_CASE("a parallel loop visits each index once, in chunks that do not depend on the threads") {
  const ThreadCount restore(4);
  for (const Index n : {0, 1, 63, 64, 65, 1000, 1024}) {
    std::vector<int> visits(std::size_t(n), 0);
    parallel_for(n, 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) ++visits[i];
    });
    CHECK(visits == std::vector<int>(std::size_t(n), 1));
  }
}

TEST_CASE("a loop of any length above its grain gives each of two or four threads as much to do") {
  for (const int threads : {2, 4}) {
    const ThreadCount restore(threads);
    for (const auto& [n, grain] :
         {std::pair<Index, Index>{24576, 16384}, {384, 253}, {98304, 16384}, {8, 1}}) {
      Index most = 0;
      std::vector<Index> work(std::size_t(threads), 0);
      parallel_for(n, grain, [&](Index begin, Index end) { work[omp_get_thread_num()] += end - begin; });
      for (const Index one : work) most = std::max(most, one);
      CHECK(most == n / threads);
    }
  }
}

TEST_CASE("a long loop is really shared, a short one and one inside another are not") {
  const ThreadCount restore(2);
  std::vector<int> inside(4, 0), nested(4, 0);
  parallel_for(4, 1, [&](Index begin, Index) {
    inside[begin] = in_parallel();
    parallel_for(4, 1, [&](Index from, Index to) { nested[begin] = int(to - from); });
  });
  CHECK(inside == std::vector<int>(4, 1));
  CHECK(nested == std::vector<int>(4, 4));  // one call with the whole range
  bool shared = true;
  parallel_for(4, 4, [&](Index, Index) { shared = in_parallel(); });
  CHECK_FALSE(shared);
  CHECK_THROWS_WITH_AS(set_thread_count(0), "threads: 0 is not a number of threads; give 1 to 256", Error);
}

TEST_CASE("elementwise ops have the same bits on any number of threads") {
  const Shape large{50, 1003}, row{1003}, column{50, 1};
  const auto check = [&](const char* name, const std::function<Tensor(const Tensor&)>& op) {
    check_op(name, [&](const auto& in) { return op(in[0]); }, {large});
  };
  check("neg", [](const Tensor& x) { return -x; });
  check("log", [](const Tensor& x) { return log(x); });
  check("sqrt", [](const Tensor& x) { return sqrt(x); });
  check("pow", [](const Tensor& x) { return pow(x, 2.5); });
  for (const Activation f : {Activation::exp, Activation::tanh, Activation::sigmoid, Activation::relu,
                             Activation::silu, Activation::gelu, Activation::gelu_tanh})
    check(fmt::format("activation {}", int(f)).c_str(), [f](const Tensor& x) { return activate(x, f); });
  check("dropout", [](const Tensor& x) {
    Rng rng(3);
    return dropout(x, 0.4, rng);
  });
  for (const Shape& other : {large, row, column}) {
    check_op("add", [](const auto& in) { return in[0] + in[1]; }, {large, other});
    check_op("sub", [](const auto& in) { return in[0] - in[1]; }, {large, other});
    check_op("mul", [](const auto& in) { return in[0] * in[1]; }, {large, other});
    check_op("div", [](const auto& in) { return in[0] / in[1]; }, {large, other});
  }
}

TEST_CASE("reductions, rows and norms have the same bits on any number of threads") {
  const Shape large{301, 129};
  check_op("sum", [](const auto& in) { return sum(in[0]); }, {large});
  check_op("sum of long rows", [](const auto& in) { return sum(in[0], 1); }, {{7, 40001}});
  check_op("sum over axis 0", [](const auto& in) { return sum(in[0], 0); }, {large});
  check_op("mean over axis 1", [](const auto& in) { return mean(in[0], 1); }, {large});
  check_op("max", [](const auto& in) { return max(in[0], 1); }, {large});
  check_op("softmax", [](const auto& in) { return softmax(in[0]); }, {large});
  check_op("log_softmax", [](const auto& in) { return log_softmax(in[0]); }, {large});
  check_op("layer_norm", [](const auto& in) { return layer_norm(in[0], in[1], in[2]); },
           {large, {129}, {129}});
  check_op("rms_norm", [](const auto& in) { return rms_norm(in[0], in[1]); }, {large, {129}});
  // So many rows that the gradients of gain and bias are sums over parts of them.
  check_op("layer_norm, many rows", [](const auto& in) { return layer_norm(in[0], in[1], in[2]); },
           {{1200, 67}, {67}, {67}});
  const IntTensor targets({301});
  for (Index i = 0; i < 301; ++i) targets[i] = int(i * 7 % 129);
  check_op("cross_entropy",
           [&](const auto& in) { return cross_entropy(in[0], targets, {.smoothing = real(0.1)}); }, {large});
  check_op("embedding", [&](const auto& in) { return embedding(in[0], targets); }, {{129, 65}});
  check_op("transpose", [](const auto& in) { return transpose(in[0]); }, {large});
  check_op("concat", [](const auto& in) { return concat({in[0], in[1]}, 1); }, {large, large});
}

TEST_CASE("matrix products have the same bits on any number of threads") {
  for (const Transpose transpose : {Transpose::none, Transpose::first, Transpose::second, Transpose::both}) {
    const bool ta = transpose == Transpose::first || transpose == Transpose::both;
    const bool tb = transpose == Transpose::second || transpose == Transpose::both;
    check_op("matmul", [&](const auto& in) { return matmul(in[0], in[1], transpose); },
             {ta ? Shape{301, 203} : Shape{203, 301}, tb ? Shape{257, 301} : Shape{301, 257}});
    check_op("batched", [&](const auto& in) { return matmul(in[0], in[1], transpose); },
             {ta ? Shape{7, 33, 65} : Shape{7, 65, 33}, tb ? Shape{7, 67, 33} : Shape{7, 33, 67}});
  }
  check_op("stretched", [](const auto& in) { return matmul(in[0], in[1]); }, {{3, 1, 65, 33}, {2, 33, 65}});
  check_op("tall", [](const auto& in) { return matmul(in[0], in[1]); }, {{3000, 7}, {7, 5}});
  check_op("wide", [](const auto& in) { return matmul(in[0], in[1]); }, {{5, 7}, {7, 3000}});
  check_op("deep", [](const auto& in) { return matmul(in[0], in[1]); }, {{9, 5000}, {5000, 11}});
  for (const Activation f : {Activation::none, Activation::relu, Activation::gelu})
    check_op("linear", [f](const auto& in) { return linear(in[0], in[1], in[2], f); },
             {{211, 96}, {130, 96}, {130}});
  check_op("linear with dropout",
           [](const auto& in) {
             Rng rng(3);
             return linear(in[0], in[1], in[2], Activation::relu, {0.2, &rng});
           },
           {{1100, 33}, {67, 33}, {67}});
}

TEST_CASE("ten training steps of a small network have the same bits on any number of threads") {
  check_same_bits([] {
    Rng rng(42);
    const Index batch = 130, inputs = 96, hidden = 301, classes = 10;
    Tensor w1 = normal({hidden, inputs}, rng, 0, real(0.1)).requires_grad(),
           b1 = zeros({hidden}).requires_grad();
    Tensor w2 = normal({hidden, hidden}, rng, 0, real(0.1)).requires_grad(),
           b2 = zeros({hidden}).requires_grad();
    Tensor w3 = normal({classes, hidden}, rng, 0, real(0.1)).requires_grad(),
           b3 = zeros({classes}).requires_grad();
    Tensor gain = ones({hidden}).requires_grad(), bias = zeros({hidden}).requires_grad();
    const std::vector<Tensor> parameters = {w1, b1, w2, b2, w3, b3, gain, bias};
    const Tensor x = normal({batch, inputs}, rng);
    const IntTensor targets({batch});
    for (Index i = 0; i < batch; ++i) targets[i] = int(rng.below(classes));

    Reals all;
    real first = 0, last = 0;
    for (int step = 0; step < 10; ++step) {
      const Tensor h1 = linear(x, w1, b1, Activation::gelu);
      const Tensor h2 = tanh(matmul(layer_norm(h1, gain, bias), w2, Transpose::second) + b2) + h1;
      const Tensor loss = cross_entropy(linear(dropout(h2, 0.1, rng), w3, b3), targets);
      backward(loss);
      for (const Tensor& p : parameters) {
        const Tensor g = p.grad();
        for (Index i = 0; i < p.numel(); ++i) p.data()[i] -= real(0.1) * g.data()[i];
        p.zero_grad();
      }
      last = loss.item();
      if (step == 0) first = last;
      all.push_back(last);
    }
    for (const Tensor& p : parameters) append(all, p);
    CHECK(last < first / 2);
    return all;
  });
}

}  // namespace
}  // namespace attn
