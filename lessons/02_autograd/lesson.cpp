/// To learn, a network must know for each of its numbers: if this one were a little larger, how would the
/// loss change? That is a derivative, and nobody writes it down by hand. Instead every step of the
/// computation leaves a note: what it was computed from, and how strongly it depends on each of these. Read
/// backwards, the notes give the derivative of the last number with respect to all others, at about the cost
/// of computing it once.
///
/// First by hand, on plain numbers; then the library's tensors do the same; then the three rules that all of
/// a transformer needs, for matmul, broadcasting and softmax.
#include <algorithm>   // max, min_element, reverse, unique
#include <cmath>       // exp, fabs, log, tanh
#include <functional>  // function

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

// One number of a computation. `derivatives[n]` is d value / d inputs[n], known at the moment it is computed.
struct Node {
  std::string name;
  double value;
  std::vector<int> inputs = {};
  std::vector<double> derivatives = {};
  double gradient = 0;  // d loss / d value, filled in by backward
};
using Graph = std::vector<Node>;

struct Value {
  Graph* graph;
  int id;
  Node& node() const { return (*graph)[id]; }
  double value() const { return node().value; }
};

Value number(Graph& graph, double value, const std::string& name = "") {
  graph.push_back({name, value});
  return {&graph, int(graph.size()) - 1};
}

// The whole of calculus that is needed: for each operation, its value and its derivative by each input.
Value result(const Value& a, double value, double by_a) {
  a.graph->push_back({"", value, {a.id}, {by_a}});
  return {a.graph, int(a.graph->size()) - 1};
}
Value result(const Value& a, const Value& b, double value, double by_a, double by_b) {
  a.graph->push_back({"", value, {a.id, b.id}, {by_a, by_b}});
  return {a.graph, int(a.graph->size()) - 1};
}
Value operator+(const Value& a, const Value& b) { return result(a, b, a.value() + b.value(), 1, 1); }
Value operator-(const Value& a, const Value& b) { return result(a, b, a.value() - b.value(), 1, -1); }
Value operator*(const Value& a, const Value& b) {
  return result(a, b, a.value() * b.value(), b.value(), a.value());
}
Value exp(const Value& a) { return result(a, std::exp(a.value()), std::exp(a.value())); }
Value log(const Value& a) { return result(a, std::log(a.value()), 1 / a.value()); }
Value tanh(const Value& a) {
  const double t = std::tanh(a.value());
  return result(a, t, 1 - t * t);
}

Value named(const Value& value, const std::string& name) {
  value.node().name = name;
  return value;
}

// The example: a model with one weight, that guesses w·x. It is wrong by `error`, which costs
// error², and every guess costs something, too. `guess` is used twice, and `error` is multiplied
// with itself: both matter below.
Value example(Graph& graph, double w_value, double x_value, double target_value) {
  const Value w = number(graph, w_value, "w"), x = number(graph, x_value, "x");
  const Value target = number(graph, target_value, "target");
  const Value guess = named(w * x, "guess = w·x");
  const Value error = named(guess - target, "error = guess − target");
  const Value square = named(error * error, "error²");
  return named(square + guess, "loss = error² + guess");
}

double example_loss(double w, double x, double target) {
  Graph graph;
  return example(graph, w, x, target).value();
}

// Depth first, and a node is written down after all it was computed from. Read from the end, each node comes
// after everything that uses it: when its turn comes, its gradient is complete.
void visit(const Graph& graph, int id, std::vector<bool>& seen, std::vector<int>& order) {
  if (seen[id]) return;
  seen[id] = true;
  for (const int input : graph[id].inputs) visit(graph, input, seen, order);
  order.push_back(id);
}
std::vector<int> backward_order(const Graph& graph, int root) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<int> order;
  visit(graph, root, seen, order);
  std::reverse(order.begin(), order.end());
  return order;
}

// d loss / d input += d loss / d node · d node / d input
void pass_on(Graph& graph, int id) {
  const Node& node = graph[id];
  for (std::size_t n = 0; n < node.inputs.size(); ++n)
    graph[node.inputs[n]].gradient += node.gradient * node.derivatives[n];
}

void backward(Value loss) {
  loss.node().gradient = 1;
  for (const int id : backward_order(*loss.graph, loss.id)) pass_on(*loss.graph, id);
}

void backward_overwriting(Value loss) {
  Graph& graph = *loss.graph;
  loss.node().gradient = 1;
  for (const int id : backward_order(graph, loss.id))
    for (std::size_t n = 0; n < graph[id].inputs.size(); ++n)
      graph[graph[id].inputs[n]].gradient = graph[id].gradient * graph[id].derivatives[n];  // = and not +=
}

// By distance from the loss: a node may have its turn before all that use it have had theirs.
void backward_too_early(Value loss) {
  Graph& graph = *loss.graph;
  loss.node().gradient = 1;
  std::vector<bool> seen(graph.size(), false);
  std::vector<int> queue = {loss.id};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    pass_on(graph, queue[next]);
    for (const int input : graph[queue[next]].inputs)
      if (!seen[input]) seen[input] = true, queue.push_back(input);
  }
}

// Plain recursion: whoever gets a share passes on all it has, each time. Returns how often a node had a turn.
long backward_each_time(Graph& graph, int id) {
  long turns = 1;
  for (std::size_t n = 0; n < graph[id].inputs.size(); ++n) {
    graph[graph[id].inputs[n]].gradient += graph[id].gradient * graph[id].derivatives[n];
    turns += backward_each_time(graph, graph[id].inputs[n]);
  }
  return turns;
}

void backward_recursing(Value loss) {
  loss.node().gradient = 1;
  backward_each_time(*loss.graph, loss.id);
}

// The gradients of w, x and target that a way of going backwards finds.
std::vector<double> gradients_by(const std::function<void(Value)>& way) {
  Graph graph;
  way(example(graph, 3, 2, 5));
  return {graph[0].gradient, graph[1].gradient, graph[2].gradient};
}

std::vector<double> gradients_by_nudging() {
  const double h = 1e-4;
  return {(example_loss(3 + h, 2, 5) - example_loss(3 - h, 2, 5)) / (2 * h),
          (example_loss(3, 2 + h, 5) - example_loss(3, 2 - h, 5)) / (2 * h),
          (example_loss(3, 2, 5 + h) - example_loss(3, 2, 5 - h)) / (2 * h)};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

/// ## Nudge it
///
/// A model guesses w·x with w = 3 and x = 2, but 5 would be right. The loss punishes the error, and the
/// guess:
///
/// $$ loss = (w·x − target)² + w·x $$
void by_hand(Lesson& lesson) {
  const double h = 1e-4, now = example_loss(3, 2, 5), up = example_loss(3 + h, 2, 5);
  lesson.say(
      "It is {:.0f}. If w were {} larger, it would be {:.7f}: it grows {:.2f} times as much as w. That "
      "ratio is the derivative of the loss with respect to w. To nudge each number in turn works, but a "
      "model with a "
      "million weights would have to run a million times for one step.",
      now, h, up, (up - now) / h);

  /// ## The chain rule backwards
  ///
  /// Instead, take the computation apart. Each step is so simple that its derivatives are known: a sum passes
  /// a nudge on as it is, a product multiplies it by the other factor. Along a chain of steps these factors
  /// multiply. Start at the loss, whose derivative by itself is 1, and walk back:
  ///
  /// $$ d loss / d input  +=  d loss / d node  ·  d node / d input $$
  Graph graph;
  const Value loss = example(graph, 3, 2, 5);
  backward(loss);
  std::vector<std::vector<std::string>> rows;
  for (const int id : backward_order(graph, loss.id)) {
    std::string shares;
    for (std::size_t n = 0; n < graph[id].inputs.size(); ++n) {
      const Node& input = graph[graph[id].inputs[n]];
      shares +=
          fmt::format("{}{} += {:.0f} · {:.0f}", n ? ",  " : "", input.name.substr(0, input.name.find(' ')),
                      graph[id].gradient, graph[id].derivatives[n]);
    }
    rows.push_back({graph[id].name, fmt::format("{:.0f}", graph[id].value),
                    fmt::format("{:.0f}", graph[id].gradient), shares.empty() ? "(was given)" : shares});
  }
  lesson.table({"node", "value", "gradient", "what it passes on"}, rows);
  const std::vector<double> right = gradients_by(backward), nudged = gradients_by_nudging();
  lesson.claim(
      distance(right, nudged) < 1e-6,
      "one walk back finds all three, ({:.0f}, {:.0f}, {:.0f}) for w, x, target: the same as nudging each",
      right[0], right[1], right[2]);

  std::vector<viz::GraphNode> boxes;
  std::vector<viz::GraphEdge> arrows;
  for (std::size_t id = 0; id < graph.size(); ++id) {
    boxes.push_back({.label = graph[id].name,
                     .value = viz::format_fixed(graph[id].value, 0),
                     .gradient = "gradient " + viz::format_fixed(graph[id].gradient, 0),
                     .color = graph[id].inputs.empty() ? 0 : -1});
    std::vector<int> inputs = graph[id].inputs;  // error² uses error twice: one arrow is enough
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (const int input : inputs) arrows.push_back({.from = input, .to = int(id)});
  }
  lesson.picture("graph.png",
                 viz::graph(boxes, arrows, {.title = "Values go to the right, gradients come back"}),
                 "The graph of loss = (w·x − target)² + w·x",
                 "Two arrows leave the guess, so its gradient has two parts: 1 from the loss itself and 2 "
                 "from the error.");

  /// ## Gradients add up
  ///
  /// The guess is used in two places, and a nudge of it goes both ways: the effects add up. The same with
  /// error · error, where one number is used twice in one step. And a node must wait until every share has
  /// arrived before it passes anything on. What happens otherwise:
  const std::vector<double> overwritten = gradients_by(backward_overwriting),
                            early = gradients_by(backward_too_early),
                            each_time = gradients_by(backward_recursing);
  rows.clear();
  const auto add_row = [&](const std::string& name, const std::vector<double>& g) {
    rows.push_back(
        {name, fmt::format("{:.0f}", g[0]), fmt::format("{:.0f}", g[1]), fmt::format("{:.0f}", g[2])});
  };
  add_row("nudging each number", nudged);
  add_row("backward, as above", right);
  add_row("shares overwritten (= instead of +=)", overwritten);
  add_row("passed on too early (nearest to the loss first)", early);
  add_row("passed on at every share (plain recursion)", each_time);
  lesson.table({"d loss / d", "w", "x", "target"}, rows);
  lesson.claim(
      distance(overwritten, right) > 0.5 && distance(early, right) > 0.5 && distance(each_time, right) > 0.5,
      "all three shortcuts are wrong, and none of them crashes");

  /// ## Topological order
  ///
  /// The order that always works: every node after all nodes that use it. Here it is the order in which they
  /// were computed, reversed, since nothing can be computed from what does not exist yet (the library uses
  /// just that). It also visits each node once. Plain recursion follows every path, and paths multiply:
  /// double a number n times by x = x + x.
  rows.clear();
  long turns = 0;
  std::size_t visits = 0;
  for (const int n : {5, 10, 20}) {
    Graph chain;
    Value x = number(chain, 1);
    for (int i = 0; i < n; ++i) x = x + x;
    visits = backward_order(chain, x.id).size();
    turns = backward_each_time(chain, x.id);
    rows.push_back({fmt::format("{}", n), fmt::format("{}", visits), fmt::format("{}", turns)});
  }
  lesson.table({"doublings", "turns, in topological order", "turns, by recursion"}, rows);
  lesson.claim(visits == 21 && turns == (1L << 21) - 1, "20 doublings: {} turns against {}", visits, turns);
}

/// ## The same through tensors
///
/// A Tensor does all this by itself. requires_grad() says that a gradient is wanted; every op then records
/// what it was computed from; backward(loss) walks back. The example again, with tensors of one number:
void by_tensors(Lesson& lesson) {
  Tensor w = scalar(3), x = scalar(2), target = scalar(5);
  w.requires_grad(), x.requires_grad(), target.requires_grad();
  const auto loss_of = [&] {
    const Tensor guess = w * x, error = guess - target;
    return error * error + guess;
  };
  attn::backward(loss_of());
  const std::vector<double> right = gradients_by(backward);
  const std::vector<double> found = {w.grad().item(), x.grad().item(), target.grad().item()};
  lesson.claim(distance(found, right) < 1e-5,
               "w.grad() = {:.0f}, x.grad() = {:.0f}, target.grad() = {:.0f}: as by hand", found[0], found[1],
               found[2]);

  /// Gradients add up over calls, too: that is how a large batch can be done in parts. So whoever wants a
  /// fresh one must zero it first. To forget that is the classic mistake of a training loop:
  attn::backward(loss_of());
  const real twice = w.grad().item();
  w.zero_grad(), x.zero_grad(), target.zero_grad();
  attn::backward(loss_of());
  lesson.claim(twice == 2 * w.grad().item(),
               "a second backward without zero_grad() gives {:.0f}, with it {:.0f}", twice, w.grad().item());

  const Index depth = lesson.fast ? 20000 : 200000;
  Tensor y = w;
  for (Index i = 0; i < depth; ++i) y = y + x;
  w.zero_grad(), x.zero_grad();
  attn::backward(y);
  lesson.claim(w.grad().item() == 1 && x.grad().item() == real(depth),
               "a sum of {} steps: its gradient by x is {:.0f}. No recursion, so no depth is too deep", depth,
               x.grad().item());
}

// The gradient of every element of `x` by nudging it: the loss is computed twice for each.
Tensor nudged(const Tensor& x, const std::function<double()>& loss) {
  const NoGrad no_grad;
  const real h = real(1e-2);
  Tensor gradient = empty(x.shape());
  for (Index i = 0; i < x.numel(); ++i) {
    const real before = x.data()[i];
    x.data()[i] = before + h;
    const double up = loss();
    x.data()[i] = before - h;
    gradient.data()[i] = real((up - loss()) / (2 * double(h)));
    x.data()[i] = before;
  }
  return gradient;
}

void rules_for_tensors(Lesson& lesson) {
  Rng rng(lesson.seed);
  /// ## The backward of matmul
  ///
  /// C = A B, and G says how the loss changes with each element of C. Element a(i,k) is used in all of row i
  /// of C, in c(i,j) with the factor b(k,j). So its gradient is the sum of g(i,j) · b(k,j) over j: row i of G
  /// with row k of B. For B the same with columns. Written with matrices, with the transposes that the shapes
  /// ask for:
  ///
  /// $$ dA = G Bᵀ   (M,N) x (N,K)          dB = Aᵀ G   (K,M) x (M,N) $$
  Tensor a = normal({2, 3}, rng), b = normal({3, 4}, rng);  // (M, K), (K, N)
  const Tensor g = normal({2, 4}, rng);                     // (M, N)
  a.requires_grad(), b.requires_grad();
  Tensor by_loops = zeros({2, 3});
  for (Index i = 0; i < 2; ++i)
    for (Index k = 0; k < 3; ++k)
      for (Index j = 0; j < 4; ++j) by_loops(i, k) += g(i, j) * b(k, j);
  attn::backward(matmul(a, b), g);
  const Tensor by_formula = matmul(g, b.detach(), Transpose::second);
  double worst = std::max({max_difference(by_loops, a.grad()), max_difference(by_formula, a.grad()),
                           max_difference(matmul(a.detach(), g, Transpose::first), b.grad())});
  lesson.claim(worst < 1e-5, "loops, formulas and the library agree: largest difference {:.0e}", worst);
  const auto product_loss = [&] { return double(sum(matmul(a, b) * g).item()); };
  worst = std::max(max_difference(nudged(a, product_loss), a.grad()),
                   max_difference(nudged(b, product_loss), b.grad()));
  lesson.claim(worst < 1e-3, "and so does nudging all 18 elements, as far as floats can tell: {:.0e}", worst);

  /// ## The backward of broadcasting
  ///
  /// A bias (4) is added to both rows of a (2,4) tensor: each of its elements is used twice, so its gradient
  /// is the sum of two. Whatever the forward stretched, the backward sums up:
  ///
  /// $$ y = x + bias   (R,C) + (C)          d bias(j) = Σ_i g(i, j) $$
  Tensor bias = normal({4}, rng);
  bias.requires_grad();
  attn::backward(normal({2, 4}, rng) + bias, g);
  lesson.numbers(concat({g, reshape(bias.grad(), {1, 4})}),
                 {"gradient, row 0", "gradient, row 1", "gradient of the bias"});
  lesson.claim(max_difference(bias.grad(), sum(g, 0)) < 1e-6, "the last row is the sum of the others");

  /// ## The backward of softmax
  const std::vector<std::string> animals = {"cat", "dog", "fish"};
  Tensor scores = tensor({{2.0, 1.0, 0.1}});
  const Tensor p = softmax(scores);
  lesson.say(
      "Softmax turns scores into shares of 1 (lesson 04 builds it). Scores 2.0, 1.0 and 0.1 give cat "
      "{:.2f}, dog {:.2f}, fish {:.2f}. Raise one score: its share grows, and all others shrink, since "
      "they still sum to 1. So there is not one derivative for each element but a whole table, p_i (1 if i "
      "= j, else 0) − p_i p_j:",
      p(0, 0), p(0, 1), p(0, 2));
  Tensor table = empty({3, 3});  // d p_i / d score_j
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) table(i, j) = p(0, i) * ((i == j ? 1 : 0) - p(0, j));
  lesson.numbers(table, {"share of cat", "share of dog", "share of fish"}, animals);
  /// Summed up for a gradient g that comes in, the table need never be written down:
  ///
  /// $$ d score = p ∘ (g − Σ g p) $$
  const Tensor wish = tensor({{1, 0, 0}});  // more cat
  const Tensor formula = p * (wish - sum(wish * p, -1, true)), elementwise = wish * p * (1 - p);
  scores.requires_grad();
  attn::backward(softmax(scores), wish);
  lesson.numbers(concat({formula, scores.grad(), elementwise}),
                 {"by the formula", "the library", "each element for itself"}, animals);
  lesson.claim(
      max_difference(formula, scores.grad()) < 1e-6 && max_difference(formula, matmul(wish, table)) < 1e-6,
      "to have more cat, raise its score and lower the others; they sum to {:.0f}",
      std::fabs(sum(formula).item()));
  lesson.claim(max_difference(elementwise, scores.grad()) > 0.05,
               "p (1 − p), which treats each element for itself, misses that the others must fall");
}

// A small network with every number written out: 5 inputs, 8 hidden units, 3 classes, 4 samples. `Number` may
// be float, double, or Value, which then records all of it. Parameters: W1 (5,8), b1 (8), W2 (8,3), b2 (3).
constexpr int inputs = 5, hidden = 8, classes = 3, samples = 4;
constexpr int parameter_count = inputs * hidden + hidden + hidden * classes + classes;

template <class Number>
Number sample_loss(const std::vector<Number>& p, const std::vector<Number>& x, int sample) {
  using std::exp, std::log, std::tanh;
  const Number* w1 = p.data();
  const Number *b1 = w1 + inputs * hidden, *w2 = b1 + hidden, *b2 = w2 + hidden * classes;
  std::vector<Number> h, logits;
  for (int j = 0; j < hidden; ++j) {
    Number total = b1[j];
    for (int i = 0; i < inputs; ++i) total = total + x[sample * inputs + i] * w1[i * hidden + j];
    h.push_back(tanh(total));
  }
  for (int c = 0; c < classes; ++c) {
    Number total = b2[c];
    for (int j = 0; j < hidden; ++j) total = total + h[j] * w2[j * classes + c];
    logits.push_back(total);
  }
  Number denominator = exp(logits[0]);
  for (int c = 1; c < classes; ++c) denominator = denominator + exp(logits[c]);
  return log(denominator) - logits[sample % classes];  // −log of the right class's share: lesson 04
}

template <class Number>
Number network_loss(const std::vector<Number>& p, const std::vector<Number>& x) {
  Number total = sample_loss(p, x, 0);
  for (int sample = 1; sample < samples; ++sample) total = total + sample_loss(p, x, sample);
  return total;
}

// (f(p + h) − f(p − h)) / 2h for each parameter: the error is of order h², one-sided it would be h.
template <class Number>
std::vector<double> central_differences(const std::vector<double>& p, const std::vector<double>& x,
                                        double h) {
  std::vector<Number> at(p.begin(), p.end());
  const std::vector<Number> fixed(x.begin(), x.end());
  std::vector<double> gradient;
  for (std::size_t i = 0; i < p.size(); ++i) {
    at[i] = static_cast<Number>(p[i] + h);
    const double above = network_loss(at, fixed);
    at[i] = static_cast<Number>(p[i] - h);
    gradient.push_back((above - network_loss(at, fixed)) / (2 * h));
    at[i] = static_cast<Number>(p[i]);
  }
  return gradient;
}

Tensor part(const std::vector<double>& p, int begin, const Shape& shape) {
  Tensor tensor = empty(shape);
  for (Index i = 0; i < shape.numel(); ++i) tensor.data()[i] = real(p[begin + i]);
  return tensor.requires_grad();
}

/// ## Checking against central differences
void check_it(Lesson& lesson) {
  lesson.say(
      "A wrong gradient does not crash; it learns badly. So each gradient in this project is checked "
      "against nudging, every element. Here a small network ({} parameters, written once as a template) "
      "goes three ways: our numbers that remember, central differences in double, and the library.",
      parameter_count);
  Rng rng(lesson.seed);
  std::vector<double> p, x;
  for (int i = 0; i < parameter_count; ++i) p.push_back(0.5 * rng.normal());
  for (int i = 0; i < samples * inputs; ++i) x.push_back(rng.normal());

  Graph graph;
  std::vector<Value> weights, data;
  for (const double value : p) weights.push_back(number(graph, value));
  for (const double value : x) data.push_back(number(graph, value));
  const Value loss = network_loss(weights, data);
  backward(loss);
  std::vector<double> exact;
  for (const Value& weight : weights) exact.push_back(weight.node().gradient);
  double largest = 0;
  for (const double g : exact) largest = std::max(largest, std::fabs(g));

  const Tensor w1 = part(p, 0, {inputs, hidden}), b1 = part(p, 40, {hidden}),
               w2 = part(p, 48, {hidden, classes}), b2 = part(p, 72, {classes}),
               input = part(x, 0, {samples, inputs});
  const IntTensor targets({samples}, {0, 1, 2, 0});
  const Tensor logits = matmul(attn::tanh(matmul(input, w1) + b1), w2) + b2;  // (4, 3)
  attn::backward(cross_entropy(logits, targets) * real(samples));
  std::vector<double> library;
  for (const Tensor& tensor : {w1, b1, w2, b2})
    for (const real g : tensor.grad().values()) library.push_back(g);

  const std::vector<double> differences = central_differences<double>(p, x, 1e-5);
  const double nudging_error = distance(differences, exact) / largest,
               library_error = distance(library, exact) / largest;
  lesson.claim(nudging_error < 1e-7,
               "our {} nodes against central differences, all {} elements: {:.0e} of the largest",
               graph.size(), exact.size(), nudging_error);
  lesson.claim(library_error < 1e-5, "the library, in float, against ours, in double: {:.0e}", library_error);

  /// How large should a nudge be? Too large, and the curve bends within it; too small, and the difference of
  /// two almost equal numbers is all rounding. Floats have 7 digits and leave hardly any room in between,
  /// which is why gradients are checked in double:
  std::vector<double> steps, in_float, in_double;
  for (double h = 1; h > 1e-11; h /= 10) {
    steps.push_back(h);
    in_float.push_back(distance(central_differences<float>(p, x, h), exact) / largest);
    in_double.push_back(distance(central_differences<double>(p, x, h), exact) / largest);
  }
  const double best_float = *std::min_element(in_float.begin(), in_float.end());
  const double best_double = *std::min_element(in_double.begin(), in_double.end());
  const std::vector<viz::Series> series = {{.name = "float", .y = in_float, .x = steps, .points = true},
                                           {.name = "double", .y = in_double, .x = steps, .points = true}};
  const viz::ChartOptions chart{.title = "How far is a central difference from the gradient?",
                                .x_title = "size of the nudge h",
                                .y_title = "error, relative to the largest",
                                .x_scale = viz::Scale::log10,
                                .y_scale = viz::Scale::log10};
  lesson.line_chart(series, chart);
  lesson.claim(best_double < 1e-8 && best_float > 1e-6,
               "at best, double is right to {:.0e} and float to {:.0e}", best_double, best_float);
  lesson.picture("central_differences.png", viz::line_chart(series, chart), "The size of a nudge",
                 "From the right, errors fall as h² until rounding takes over: near 10⁻² in float, near "
                 "10⁻⁵ in double.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "02_autograd", .question = "How does a program know its own derivative?"},
      [](Lesson& lesson) {
        by_hand(lesson);
        by_tensors(lesson);
        rules_for_tensors(lesson);
        check_it(lesson);
        lesson.try_next(
            {{"In operator* of Value, swap the two derivatives (a.value(), b.value()).",
              "Only error · error survives it, where both are the same: w and x get each other's gradient."},
             {"In backward, go through backward_order from its end to its beginning.",
              "Every node has its turn before anything has reached it: w, x and target get 0."},
             {"In central_differences, use (f(p + h) − f(p)) / h, one-sided.",
              "The double curve falls as h and not as h², and its best is hundreds of times worse."}});
      });
}
