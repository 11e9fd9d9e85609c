#include "core/autograd.hpp"

#include <algorithm>      // copy, pop_heap, push_heap
#include <cmath>          // isnan
#include <unordered_set>  // unordered_set

#include "core/error.hpp"
#include "core/kernels.hpp"

namespace attn {
namespace {

thread_local bool recording = true;
thread_local std::uint64_t node_counter = 0;

bool older(const Tensor& a, const Tensor& b) { return a.body()->node->order < b.body()->node->order; }

// The tensors whose node is still to run, youngest first.
class Queue {
 public:
  Queue() { waiting().clear(); }
  ~Queue() {
    for (const Tensor& tensor : waiting()) tensor.body()->queued = false;
    waiting().clear();
  }

  void push(const Tensor& tensor) {
    if (tensor.body()->queued) return;
    tensor.body()->queued = true;
    waiting().push_back(tensor);
    std::push_heap(waiting().begin(), waiting().end(), older);
  }

  Tensor pop() {
    std::pop_heap(waiting().begin(), waiting().end(), older);
    Tensor tensor = std::move(waiting().back());
    waiting().pop_back();
    tensor.body()->queued = false;
    return tensor;
  }

  bool empty() const { return waiting().empty(); }

 private:
  // Kept from one backward to the next, so that a training step allocates nothing.
  static std::vector<Tensor>& waiting() {
    static thread_local std::vector<Tensor> tensors;
    return tensors;
  }
};

bool has_nan(const Tensor& tensor) {
  return std::any_of(tensor.data(), tensor.data() + tensor.numel(), [](real x) { return std::isnan(x); });
}

// Everything that `output` was computed from and that still has a node or is a leaf, itself included.
std::vector<Tensor> graph_of(const Tensor& output) {
  std::vector<Tensor> found{output};
  std::unordered_set<const TensorBody*> seen{output.body()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Node* node = found[i].body()->node;
    for (int k = 0; node && k < node->input_count; ++k)
      if (seen.insert(node->inputs()[k].body()).second) found.push_back(node->inputs()[k]);
  }
  return found;
}

std::string describe(const Tensor& tensor) {
  const Node* node = tensor.body()->node;
  return fmt::format("{} {}", node ? node->op : "a leaf of shape", tensor.shape().str());
}

// A NaN spreads through everything after it: the oldest tensor that has one is where it came from.
[[noreturn]] void fail_on_nan(const Tensor& loss) {
  Tensor first = loss;
  for (const Tensor& tensor : graph_of(loss)) {
    if (!has_nan(tensor)) continue;
    const bool leaf = !tensor.body()->node;
    if (leaf || (first.body()->node && older(tensor, first))) first = tensor;
    if (leaf) break;
  }
  fail("backward: the loss is NaN; the first NaN is in {}", describe(first));
}

}  // namespace

Tensor* Node::inputs() const {
  char* end = reinterpret_cast<char*>(const_cast<Node*>(this)) + bytes;
  return reinterpret_cast<Tensor*>(end) - input_count;
}

bool grad_enabled() { return recording; }
NoGrad::NoGrad() : before_(std::exchange(recording, false)) {}
NoGrad::~NoGrad() { recording = before_; }

std::uint64_t next_node_order() { return ++node_counter; }

void free_node(Node* node) {
  for (int i = 0; i < node->input_count; ++i) node->inputs()[i].~Tensor();
  const std::size_t bytes = node->bytes;
  node->destroy(node);
  pool_release(node, bytes);
}

void attach_node(const Tensor& output, Node* node, const Tensor* const* inputs) {
  for (int i = 0; i < node->input_count; ++i) new (node->inputs() + i) Tensor(*inputs[i]);
  // An op made of other ops: its own gradient takes the place of theirs.
  if (Node* replaced = std::exchange(output.body()->node, node)) free_node(replaced);
  output.body()->requires_grad = true;
}

GradTarget grad_target(const Tensor& tensor) {
  TensorBody* body = tensor.body();
  if (!body->grad) {
    body->grad_storage = Storage::allocate(static_cast<std::size_t>(body->numel) * sizeof(real));
    body->grad = static_cast<real*>(body->grad_storage->data());
  }
  return {body->grad, std::exchange(body->has_grad, true)};
}

void pass_grad(const Tensor& output, const Tensor& input) {
  TensorBody* from = output.body();
  TensorBody* to = input.body();
  // A leaf keeps the buffer it has: an optimizer may look there.
  const bool may_move =
      !from->retains_grad && from->grad_storage->references == 1 && to->node && !to->has_grad;
  if (may_move) {
    input.zero_grad();
    std::swap(from->grad_storage, to->grad_storage);
    std::swap(from->grad, to->grad);
    from->has_grad = false;
    to->has_grad = true;
    return;
  }
  const real* gradient = from->grad;
  add_grad(input, [gradient](Index i) { return gradient[i]; });
}

void backward(const Tensor& output, const Tensor& gradient) {
  TensorBody* body = output.body();
  if (!(gradient.shape() == output.shape()))
    fail("backward: the gradient has shape {}, the tensor {}", gradient.shape().str(), output.shape().str());
  if (body->graph_freed)
    fail("backward: the graph behind {} was freed by an earlier backward; compute it again",
         output.shape().str());
  if (!body->requires_grad)
    fail("backward: {} depends on nothing that requires a gradient", output.shape().str());

  add_grad(output, [&](Index i) { return gradient.data()[i]; });
  if (!body->node) return;
  Queue queue;
  queue.push(output);
  while (!queue.empty()) {
    const Tensor tensor = queue.pop();
    Node* node = tensor.body()->node;
    if (tensor.body()->has_grad) {
      node->run(node, tensor);
      for (int i = 0; i < node->input_count; ++i) {
        const Tensor& input = node->inputs()[i];
        if (input.body()->node)
          queue.push(input);
        else if (input.body()->graph_freed)
          fail(
              "backward: {} used a tensor of shape {} whose graph was freed by an earlier backward; compute "
              "it again",
              node->op, input.shape().str());
      }
    }
    if (!tensor.body()->retains_grad) tensor.zero_grad();
    free_node(std::exchange(tensor.body()->node, nullptr));
    tensor.body()->graph_freed = true;
  }
}

void backward(const Tensor& loss) {
  if (loss.numel() != 1)
    fail("backward: the loss has shape {}; it must be one number (see sum and mean)", loss.shape().str());
  if (std::isnan(loss.item())) fail_on_nan(loss);
  backward(loss, full(loss.shape(), 1));
}

std::string graphviz(const Tensor& output) {
  std::string text = "digraph {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (const Tensor& tensor : graph_of(output)) {
    const Node* node = tensor.body()->node;
    const void* id = tensor.body();
    text += fmt::format("  \"{}\" [label=\"{}\\n{}\"{}];\n", id, node ? node->op : "leaf",
                        tensor.shape().str(), node ? "" : ", style=filled, fillcolor=lightgrey");
    for (int i = 0; node && i < node->input_count; ++i)
      text += fmt::format("  \"{}\" -> \"{}\";\n", static_cast<const void*>(node->inputs()[i].body()), id);
  }
  return text + "}\n";
}

}  // namespace attn
