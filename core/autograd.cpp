#include "core/autograd.hpp"

#include <algorithm>      // copy, fill, none_of, pop_heap, push_heap
#include <cmath>          // isnan
#include <optional>       // optional
#include <unordered_map>  // unordered_map
#include <unordered_set>  // unordered_set

#include "core/error.hpp"
#include "core/leaf_hook.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

thread_local bool recording = true;
thread_local std::uint64_t node_counter = 0;
thread_local Node* running = nullptr;                                        // whose gradient function runs
thread_local std::optional<Shape> changed;                                   // what it read and found changed
thread_local const std::function<void(const Tensor&)>* leaf_done = nullptr;  // of the LeafHook that is alive

auto& fields(const Tensor& tensor) { return TensorInternals::of(tensor); }
bool older(const Tensor& a, const Tensor& b) { return node_of(a)->order < node_of(b)->order; }

// The tensors whose node is still to run, youngest first.
class Queue {
 public:
  Queue() { waiting().clear(); }
  ~Queue() {
    for (const Tensor& tensor : waiting()) fields(tensor).queued = false;
    waiting().clear();
  }

  void push(const Tensor& tensor) {
    if (fields(tensor).queued) return;
    fields(tensor).queued = true;
    waiting().push_back(tensor);
    std::push_heap(waiting().begin(), waiting().end(), older);
  }

  Tensor pop() {
    std::pop_heap(waiting().begin(), waiting().end(), older);
    Tensor tensor = std::move(waiting().back());
    waiting().pop_back();
    fields(tensor).queued = false;
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

// Everything that `output` was computed from and that still has a node or is a leaf, itself included.
std::vector<Tensor> graph_of(const Tensor& output) {
  std::vector<Tensor> found{output};
  std::unordered_set<const void*> seen{&fields(output)};
  for (Index i = 0; i < std::ssize(found); ++i)
    if (Node* node = node_of(found[i]))
      for (const Tensor& input : node->inputs())
        if (seen.insert(&fields(input)).second) found.push_back(input);
  return found;
}

// Which op is the oldest that used a leaf: when it has run, the leaf's gradient is complete.
class OldestUses {
 public:
  explicit OldestUses(const Tensor& output) {
    if (!leaf_done) return;
    for (const Tensor& tensor : graph_of(output))
      if (Node* node = node_of(tensor))
        for (const Tensor& input : node->inputs())
          if (!node_of(input)) {
            std::uint64_t& order = orders_.try_emplace(&fields(input), node->order).first->second;
            order = std::min(order, node->order);
          }
  }
  void has_run(Node* node) {
    if (orders_.empty()) return;
    for (const Tensor& input : node->inputs()) {
      const auto found = orders_.find(&fields(input));
      if (found == orders_.end() || found->second != node->order || !input.has_grad()) continue;
      orders_.erase(found);
      (*leaf_done)(input);
    }
  }

 private:
  std::unordered_map<const void*, std::uint64_t> orders_;
};

// A NaN spreads through everything after it: the oldest tensor that has one is where it came from.
[[noreturn]] void fail_on_nan(const Tensor& loss) {
  Tensor first = loss;
  for (const Tensor& tensor : graph_of(loss)) {
    const real *begin = tensor.data(), *end = begin + tensor.numel();
    if (std::none_of(begin, end, [](real x) { return std::isnan(x); })) continue;
    const bool leaf = !node_of(tensor);
    if (leaf || (node_of(first) && older(tensor, first))) first = tensor;
    if (leaf) break;
  }
  const Node* node = node_of(first);
  fail("backward: the loss is NaN; the first NaN is in {} {}", node ? node->op : "a leaf of shape",
       first.shape().str());
}

// Note [Values that change]: a gradient function reads the values that its op read. If a program writes to
// data() between forward and backward, the gradient is that of another formula, and nothing says so. In the
// double build each node therefore keeps a fingerprint of the values of its inputs and its output. The first
// time its function asks for data(), they are compared; what it never reads may change. The function may be
// running on several threads, so the error waits until it is done.
void run_node(Node* node, const Tensor& tensor) {
  if (!watches_values) return node->run(node, tensor);
  struct Running {
    explicit Running(Node* node) { running = node, changed.reset(); }
    ~Running() { running = nullptr; }
  };
  {
    const Running guard(node);
    node->run(node, tensor);
  }
  if (changed)
    fail("backward: the gradient of {} needs the values of {}, but they were changed after it was computed",
         node->op, changed->str());
}

}  // namespace

#ifdef ATTN_DOUBLE
static std::uint64_t fingerprint(const real* values, Index n) {
  std::uint64_t hash = 0;
  for (Index i = 0; i < n; ++i)
    hash = (hash ^ __builtin_bit_cast(std::uint64_t, double(values[i]))) * 0x100000001b3;
  return hash;
}

void remember_values(Node* node, const Tensor& tensor) {
  const auto& body = fields(tensor);
  node->fingerprints.push_back({&body, fingerprint(body.values, body.numel)});
}

void Tensor::note_reading() const {
  if (!running) return;
  for (Node::Fingerprint& known : running->fingerprints) {
    if (known.tensor != body_.get() || std::exchange(known.compared, true)) continue;
    if (fingerprint(body().values, body().numel) != known.of_values) changed = shape();
  }
}
#else
void remember_values(Node*, const Tensor&) {}
void Tensor::note_reading() const {}
#endif

bool grad_enabled() { return recording; }
NoGrad::NoGrad() : before_(std::exchange(recording, false)) {}
NoGrad::~NoGrad() { recording = before_; }

LeafHook::LeafHook(std::function<void(const Tensor&)> done) : done_(std::move(done)) { leaf_done = &done_; }
LeafHook::~LeafHook() { leaf_done = nullptr; }

std::uint64_t next_node_order() { return ++node_counter; }

void attach_node(const Tensor& output, Node* node) {
  // An op made of other ops: its own gradient takes the place of theirs.
  if (Node* replaced = std::exchange(fields(output).node, node)) free_node(replaced);
  fields(output).requires_grad = true;
  if (watches_values) remember_values(node, output);
}

void free_node(Node* node) {
  for (Tensor& input : node->inputs()) input.~Tensor();
  const std::size_t bytes = node->bytes;
  node->destroy(node);
  pool_release(node, bytes);
}

GradTarget grad_target(const Tensor& tensor) {
  auto& to = fields(tensor);
  // Another tensor was handed the same gradient and has not used it yet.
  const bool shared = to.node && to.has_grad && to.grad_storage->references > 1;
  if (!to.grad || shared) {
    const Counted<Storage> before = to.grad_storage;
    to.grad_storage = Storage::allocate(std::size_t(to.numel) * sizeof(real));
    const real* values = std::exchange(to.grad, to.grad_storage->data<real>());
    if (shared) std::copy(values, values + to.numel, to.grad);
  }
  return {to.grad, std::exchange(to.has_grad, true)};
}

real* own_grad(const Tensor& output) {
  const auto& of = fields(output);
  return of.retains_grad || of.grad_storage->references > 1 ? nullptr : of.grad;
}

// A leaf keeps the buffer it has: an optimizer may look there.
static bool takes_buffer(const Tensor& input) { return node_of(input) && !input.has_grad(); }

static void hand_on_buffer(const Tensor& output, const Tensor& input) {
  const auto& from = fields(output);
  auto& to = fields(input);
  to.grad_storage = from.grad_storage;
  to.grad = from.grad;
  to.has_grad = true;
}

GradTarget grad_target_over(const Tensor& output, const Tensor& input) {
  if (!own_grad(output) || !takes_buffer(input)) return grad_target(input);
  hand_on_buffer(output, input);
  return {fields(input).grad, false};
}

real* zeroed_grad(const Tensor& tensor) {
  const GradTarget target = grad_target(tensor);
  if (!target.accumulate) std::fill(target.data, target.data + tensor.numel(), real{0});
  return target.data;
}

void pass_grad(const Tensor& output, const Tensor& input) {
  if (takes_buffer(input)) return hand_on_buffer(output, input);
  const real* gradient = grad_data(output);
  add_grad(input, [gradient](Index i) { return gradient[i]; });
}

void backward(const Tensor& output, const Tensor& gradient) {
  if (!(gradient.shape() == output.shape()))
    fail("backward: the gradient has shape {}, the tensor {}", gradient.shape().str(), output.shape().str());
  if (fields(output).graph_freed)
    fail("backward: the graph behind {} was freed by an earlier backward; compute it again",
         output.shape().str());
  if (!output.needs_grad())
    fail("backward: {} depends on nothing that requires a gradient", output.shape().str());

  add_grad(output, [&](Index i) { return gradient.data()[i]; });
  if (!node_of(output)) return;
  OldestUses oldest_uses(output);
  Queue queue;
  queue.push(output);
  while (!queue.empty()) {
    const Tensor tensor = queue.pop();
    Node* node = node_of(tensor);
    if (tensor.has_grad()) {
      run_node(node, tensor);
      for (const Tensor& input : node->inputs())
        if (node_of(input))
          queue.push(input);
        else if (fields(input).graph_freed)
          fail(
              "backward: {} used a tensor of shape {} whose graph was freed by an earlier backward; "
              "compute it again",
              node->op, input.shape().str());
    }
    oldest_uses.has_run(node);
    if (!fields(tensor).retains_grad) tensor.zero_grad();
    free_node(std::exchange(fields(tensor).node, nullptr));
    fields(tensor).graph_freed = true;
  }
}

void backward(const Tensor& loss) {
  if (loss.numel() != 1)
    fail("backward: the loss has shape {}; it must be one number (see sum and mean)", loss.shape().str());
  if (std::isnan(loss.item())) fail_on_nan(loss);
  backward(loss, full(loss.shape(), 1));
}

std::string graphviz(const Tensor& output) {
  if (!output) refuse_empty("Tensor");
  std::string text = "digraph {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (const Tensor& tensor : graph_of(output)) {
    Node* node = node_of(tensor);
    const void* id = &fields(tensor);
    text += fmt::format("  \"{}\" [label=\"{}\\n{}\"{}];\n", id, node ? node->op : "leaf",
                        tensor.shape().str(), node ? "" : ", style=filled, fillcolor=lightgrey");
    if (!node) continue;
    for (const Tensor& input : node->inputs())
      text += fmt::format("  \"{}\" -> \"{}\";\n", static_cast<const void*>(&fields(input)), id);
  }
  return text + "}\n";
}

}  // namespace attn
