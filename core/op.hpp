// What the author of an op needs. An op computes its result and then calls `record` with what it was computed
// from and a function that passes the gradient of the result on to them:
//
//   Tensor exp(const Tensor& x) {
//     const Tensor y = ...;
//     return record(y, "exp", {x}, [x](const Tensor& y) {
//       add_grad(x, [&](Index i) { return grad_data(y)[i] * y.data()[i]; });
//     });
//   }
//
// Note [Order of creation]: `backward` sets the gradient of the loss to 1 and runs these functions, youngest
// first. An op is always younger than its inputs, so when its turn comes, everything that used its result has
// run, and its gradient is complete. The first contribution to a gradient writes, later ones add: nothing has
// to be zeroed beforehand. `GradTarget` says which of the two it is.
//
// Note [Why the output is never captured]: a tensor owns its node and the node owns the function. If the
// function captured the output, the output would own itself and would never be freed. It gets it as an
// argument instead. It may capture inputs: they are older, so no cycle can come about.
#pragma once

#include <algorithm>         // clamp
#include <array>             // array
#include <cstdint>           // uint64_t
#include <functional>        // reference_wrapper
#include <initializer_list>  // initializer_list
#include <new>               // placement new
#include <span>              // span
#include <type_traits>       // decay_t
#include <vector>            // vector

#include "core/autograd.hpp"
#include "core/kernels.hpp"  // GradTarget
#include "core/parallel.hpp"
#include "core/pool.hpp"  // Scratch
#include "core/rng.hpp"

namespace attn {

struct Node {
  const char* op;
  std::uint64_t order;  // nodes are numbered as they are created
  int input_count;
  std::size_t bytes;
  void (*run)(Node*, const Tensor& output);
  void (*destroy)(Node*);
#ifdef ATTN_DOUBLE
  struct Fingerprint {
    const void* tensor;
    std::uint64_t of_values;
    bool compared = false;
  };
  std::vector<Fingerprint> fingerprints{};  // of the inputs and the output: Note [Values that change]
#endif
  std::span<Tensor> inputs() {  // those that need a gradient; they lie behind the node
    Tensor* end = reinterpret_cast<Tensor*>(reinterpret_cast<char*>(this) + bytes);
    return {end - input_count, end};
  }
};

template <class Backward>
struct NodeOf : Node {
  Backward backward;
};

std::uint64_t next_node_order();
void remember_values(Node* node, const Tensor& tensor);  // where they are watched
void attach_node(const Tensor& output, Node* node);
void free_node(Node* node);

// Remembers how `output` was computed from `inputs`, `{a, b}` or a vector, if one of them needs a gradient
// and no NoGrad is alive; otherwise the function is dropped. Empty tensors (a missing bias) are skipped.
template <class Backward, class Inputs = std::initializer_list<std::reference_wrapper<const Tensor>>>
Tensor record(const Tensor& output, const char* op, const Inputs& inputs, Backward&& backward) {
  if (!grad_enabled()) return output;
  const auto needs_grad = [](const Tensor& input) { return input && input.needs_grad(); };
  int count = 0;
  for (const Tensor& input : inputs) count += needs_grad(input);
  if (count == 0) return output;

  using Concrete = NodeOf<std::decay_t<Backward>>;
  const std::size_t bytes = sizeof(Concrete) + std::size_t(count) * sizeof(Tensor);
  const auto run = [](Node* node, const Tensor& out) { static_cast<Concrete*>(node)->backward(out); };
  const auto destroy = [](Node* node) { static_cast<Concrete*>(node)->~Concrete(); };
  const Node base{op, next_node_order(), count, bytes, run, destroy};
  Node* node = new (pool_allocate(bytes)) Concrete{base, std::forward<Backward>(backward)};
  Tensor* place = node->inputs().data();
  for (const Tensor& input : inputs) {
    if (needs_grad(input)) new (place++) Tensor(input);
    if (watches_values && input) remember_values(node, input);
  }
  attach_node(output, node);
  return output;
}

// The way to the fields of a tensor that is not empty. Nobody outside core takes it.
struct TensorInternals {
  static auto& of(const Tensor& tensor) { return *tensor.body_.get(); }
};

inline Node* node_of(const Tensor& tensor) { return TensorInternals::of(tensor).node; }  // null for a leaf

// The gradient of an op's output, while its function runs.
inline const real* grad_data(const Tensor& tensor) { return TensorInternals::of(tensor).grad; }

// Where the gradient of `tensor` goes, and whether something is there already: see Note [Order of creation].
// Call it once per contribution, and write every element.
GradTarget grad_target(const Tensor& tensor);

// The same for a function that adds to some of the elements: what is new is zeroed.
real* zeroed_grad(const Tensor& tensor);

// Adds function(i) to element i of the gradient.
template <class Function>
void add_grad(const Tensor& tensor, const Function& function) {
  const GradTarget target = grad_target(tensor);
  real* gradient = target.data;
  parallel_for(tensor.numel(), elementwise_grain, [&](Index begin, Index end) {
    if (target.accumulate)
      for (Index i = begin; i < end; ++i) gradient[i] += function(i);
    else
      for (Index i = begin; i < end; ++i) gradient[i] = function(i);
  });
}

// Calls body(rows, sums) for the rows in parts, which threads share. It writes `cols` sums over its rows to
// each of the sums, which are null where the total is; in the end they are added up to the totals. So a
// thread sums the rows that it made, and the parts are the same for any number of threads.
template <std::size_t N, class Body>
void sum_over_rows(Index rows, Index cols, const std::array<GradTarget, N>& totals, const Body& body) {
  const Index parts = std::clamp<Index>(2 * (rows * cols / elementwise_grain), 1, 16);
  if (parts == 1) return body(Range{0, rows}, totals);
  Scratch<real> scratch(parts * cols * Index(N));
  const auto sums = [&](std::size_t total, Index part) {
    return totals[total].data ? scratch.data() + (Index(total) * parts + part) * cols : nullptr;
  };
  parallel_for(parts, 1, [&](Index begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      std::array<GradTarget, N> own;
      for (std::size_t i = 0; i < N; ++i) own[i] = {sums(i, part), false};
      body(Range{rows * part / parts, rows * (part + 1) / parts}, own);
    }
  });
  for (std::size_t i = 0; i < N; ++i) {
    if (totals[i].data) kernels().column_sum({0, parts}, cols, sums(i, 0), totals[i]);
  }
}

// Passes the gradient of `output` on to `input` as it is. It is copied only if something is added to it while
// another tensor still needs it as it was.
void pass_grad(const Tensor& output, const Tensor& input);

// The gradient of `output`, to write over: null if it is not the function's alone.
real* own_grad(const Tensor& output);

// Drops n elements with probability p, to 16 bits, by the next random words of rng.
Dropout draw_dropout(double p, Index n, Rng& rng);

// Where the gradient of `input` goes when element i of it comes from element i of the output's gradient
// alone: over that one, where both allow it. Then nothing is allocated, and what is read is what is written.
GradTarget grad_target_over(const Tensor& output, const Tensor& input);

}  // namespace attn
