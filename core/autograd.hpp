// Autograd: how a program knows its own derivative.
//
// Each op computes its result and then calls `record` with what it was computed from and a function that
// passes the gradient of the result on to them:
//
//   Tensor exp(const Tensor& x) {
//     Tensor y = ...;
//     return record(y, "exp", {x}, [x](const Tensor& y) { ... add y.grad * y to the gradient of x ... });
//   }
//
// `backward(loss)` sets the gradient of the loss to 1 and runs these functions in reverse order of creation:
// an op is always younger than its inputs, so when its turn comes, everything that used its result has run.
// There is no recursion, so the depth of a graph does not matter. Each node is freed right after it ran.
//
// Note [Why the output is never captured]: a tensor owns its node and the node owns the function. If the
// function captured the output, the output would own itself and would never be freed. It gets it as an
// argument instead. It may capture inputs: they are older, so no cycle can come about.
#pragma once

#include <functional>   // reference_wrapper
#include <new>          // placement new
#include <type_traits>  // decay_t

#include "core/parallel.hpp"
#include "core/tensor.hpp"

namespace attn {

using Inputs = std::initializer_list<std::reference_wrapper<const Tensor>>;

struct Node {
  const char* op;
  std::uint64_t order;  // nodes are numbered as they are created
  int input_count;
  std::size_t bytes;
  void (*run)(Node*, const Tensor& output);
  void (*destroy)(Node*);
  Tensor* inputs() const;  // those that need a gradient; they lie behind the node
};

template <class Backward>
struct NodeOf : Node {
  Backward backward;
};

bool grad_enabled();

// While one is alive, ops record nothing: for evaluation and for updating parameters.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

std::uint64_t next_node_order();
void free_node(Node* node);
void attach_node(const Tensor& output, Node* node, const Tensor* const* inputs);

template <class Backward>
Tensor record_all(const Tensor& output, const char* op, const Tensor* const* inputs, int count,
                  Backward&& backward) {
  using Concrete = NodeOf<std::decay_t<Backward>>;
  const std::size_t bytes = sizeof(Concrete) + static_cast<std::size_t>(count) * sizeof(Tensor);
  Node base{op,
            next_node_order(),
            count,
            bytes,
            [](Node* node, const Tensor& out) { static_cast<Concrete*>(node)->backward(out); },
            [](Node* node) { static_cast<Concrete*>(node)->~Concrete(); }};
  void* block = pool_allocate(bytes);
  attach_node(output, new (block) Concrete{base, std::forward<Backward>(backward)}, inputs);
  return output;
}

// Remembers how `output` came from `inputs`, if one of them needs a gradient and no NoGrad is alive;
// otherwise the function is dropped.
template <class Backward>
Tensor record(const Tensor& output, const char* op, Inputs inputs, Backward&& backward) {
  if (!grad_enabled()) return output;
  const Tensor* needing[8];
  int count = 0;
  for (const Tensor& input : inputs)
    if (input && input.needs_grad()) needing[count++] = &input;
  if (count == 0) return output;
  return record_all(output, op, needing, count, std::forward<Backward>(backward));
}

template <class Backward>
Tensor record(const Tensor& output, const char* op, const std::vector<Tensor>& inputs, Backward&& backward) {
  if (!grad_enabled()) return output;
  std::vector<const Tensor*> needing;
  for (const Tensor& input : inputs)
    if (input.needs_grad()) needing.push_back(&input);
  if (needing.empty()) return output;
  return record_all(output, op, needing.data(), static_cast<int>(needing.size()),
                    std::forward<Backward>(backward));
}

// Where the gradient of `tensor` goes, and whether something is there already: the first contribution writes,
// later ones add. Call it once per contribution, and write every element.
struct GradTarget {
  real* data;
  bool accumulate;
};
GradTarget grad_target(const Tensor& tensor);

constexpr Index elementwise_grain = 16384;  // below this, an elementwise loop is not worth a second thread
inline Index row_grain(Index columns) { return 1 + elementwise_grain / (columns + 1); }  // the same, in rows

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

// Hands the gradient of `output` on to `input` as it is; without a copy where nobody else needs it. Must be
// the last use of the output's gradient.
void pass_grad(const Tensor& output, const Tensor& input);

inline const real* grad_data(const Tensor& tensor) { return tensor.body()->grad; }

// Computes the gradient of `loss` (one element) for every leaf that requires one, adding to what is there,
// and frees the graph.
void backward(const Tensor& loss);
// The same from a tensor of any shape, given the gradient with respect to it.
void backward(const Tensor& output, const Tensor& gradient);

// The graph behind a tensor as Graphviz text, with shapes: `dot -Tpng` draws it.
std::string graphviz(const Tensor& output);

}  // namespace attn
