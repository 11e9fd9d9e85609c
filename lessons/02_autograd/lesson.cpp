/// Lesson 01 ended with a layer that learns its weight and its bias. How? A network starts with random
/// numbers and has to get better. How wrong it is can be put into one number, the *loss*. Then ask of each of
/// its numbers, and there may be billions: if this one were a little larger, would the loss rise or fall, and
/// how fast? The answer is a *derivative*. Once all of them are known, learning is simple: where the loss
/// would rise, lower the number a little; where it would fall, raise it.
///
/// Nobody writes these derivatives by hand. The program finds them while it runs: each operation leaves a
/// note of what it was computed from, and how strongly it depends on each of these. Read backwards, the notes
/// give the derivative of the loss with respect to all numbers at once, for a few times the work of computing
/// the loss. This is *automatic differentiation* (Linnainmaa, 1970); in networks it is called
/// **backpropagation** (Rumelhart, Hinton and Williams, 1986).
#include <algorithm>  // max, min_element
#include <cmath>      // fabs

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/02_autograd/network.hpp"
#include "lessons/02_autograd/pictures.hpp"
#include "lessons/02_autograd/value.hpp"
#include "lessons/support/lesson.hpp"

using namespace attn;

namespace {

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

// d loss / d input += d loss / d node · d node / d input
void pass_on(Graph& graph, int id) {
  const Node& node = graph[id];
  for (std::size_t n = 0; n < node.inputs.size(); ++n)
    graph[node.inputs[n]].gradient += node.gradient * node.derivatives[n];
}

// From the last number that was computed to the first: whatever uses a node has then had its turn before it.
void backward(Value loss) {
  loss.node().gradient = 1;
  for (int id = loss.id; id >= 0; --id) pass_on(*loss.graph, id);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }

/// ## Nudge it
///
/// The smallest model there is has one weight w and guesses w·x. With w = 3 and x = 2 it guesses 6, where 5
/// would be right. We let the loss punish the error, and also charge a small fee for the guess itself:
///
/// $$ loss = (w·x − target)² + w·x $$
///
/// (The fee is there so that the guess is used twice. That will matter.)
std::vector<double> gradients_by_nudging(Lesson& lesson) {
  const double h = 1e-4, now = example_loss(3, 2, 5), up = example_loss(3 + h, 2, 5);
  lesson.say(
      "The loss is {:.0f}. Make w larger by {}, and it is {:.4f}: the loss grows {:.0f} times as much as w.",
      now, h, up, (up - now) / h);
  /// That ratio is the derivative of the loss with respect to w, written d loss / d w. Nudging finds it
  /// for any program. But a model with a million weights would have to run a million times before it can
  /// learn anything.
  return {(example_loss(3 + h, 2, 5) - example_loss(3 - h, 2, 5)) / (2 * h),
          (example_loss(3, 2 + h, 5) - example_loss(3, 2 - h, 5)) / (2 * h),
          (example_loss(3, 2, 5 + h) - example_loss(3, 2, 5 - h)) / (2 * h)};
}

// "w" of "w", "guess" of "guess = w·x".
std::string short_name(const Node& node) { return node.name.substr(0, node.name.find(' ')); }

/// ## The chain rule backwards
///
/// Take the computation apart instead. Every number in it is a *node*, and the numbers that it was computed
/// from are its *inputs*; together they form a *graph*. Each step is so simple that its derivatives are
/// known: a sum passes a nudge on as it is (factor 1), a product multiplies it by the other factor. Along a
/// chain of steps the factors multiply, which is the *chain rule*. Start at the loss, whose derivative with
/// respect to itself is 1, and walk back. A node's derivative d loss / d node is called its **gradient**:
///
/// $$ gradient of input  +=  gradient of node  ·  d node / d input $$
std::vector<double> chain_rule(Lesson& lesson, const std::vector<double>& nudged) {
  Graph graph;
  const Value loss = example(graph, 3, 2, 5);
  backward(loss);
  std::vector<std::vector<std::string>> rows;
  for (int id = loss.id; id >= 0; --id) {
    std::string shares;
    for (std::size_t n = 0; n < graph[id].inputs.size(); ++n)
      shares += fmt::format("{}{} += {} · {}", n ? ",  " : "", short_name(graph[graph[id].inputs[n]]),
                            whole(graph[id].gradient), whole(graph[id].derivatives[n]));
    rows.push_back({graph[id].name, whole(graph[id].value), whole(graph[id].gradient),
                    shares.empty() ? "(was given)" : shares});
  }
  lesson.table({"node", "value", "gradient", "what it passes on"}, rows);
  const std::vector<double> found = {graph[0].gradient, graph[1].gradient, graph[2].gradient};
  lesson.claim(
      distance(found, nudged) < 1e-6,
      "one walk back finds all three gradients, {:.0f} for w, {:.0f} for x and {:.0f} for the target: the "
      "same as nudging each",
      found[0], found[1], found[2]);
  lesson.picture(
      "graph.png", graph_picture(graph), "The graph of loss = (w·x − target)² + w·x",
      "Grey, on the way forward: the derivative of each single step. Red, on the way back: the gradient "
      "of the right box times that derivative. Two red arrows reach the guess, 2 from the error and 1 "
      "from the loss, and its gradient is their sum, 3.");
  return found;
}

/// ## One step downhill
///
/// The gradient of w is 6: make w larger, and the loss rises. So make it smaller, by the gradient times a
/// small number, the *learning rate*:
///
/// $$ w  ←  w − rate · gradient of w $$
///
/// That is one step of **gradient descent** (Cauchy, 1847). All training in this course consists of such
/// steps, or of refinements of them (lesson 04). x and the target are data and stay as they are. With a rate
/// of 0.05:
std::vector<double> downhill(Lesson& lesson) {
  const auto descend = [](double rate, int steps) {
    std::vector<double> way = {3};
    for (int step = 0; step < steps; ++step) {
      Graph graph;
      backward(example(graph, way.back(), 2, 5));
      way.push_back(way.back() - rate * graph[0].gradient);
    }
    return way;
  };
  const std::vector<double> way = descend(0.05, 12), wild = descend(0.26, 4);
  std::vector<std::vector<std::string>> rows;
  for (int step = 0; step < 4; ++step)
    rows.push_back({fmt::format("{}", step), fmt::format("{:.3f}", way[step]),
                    fmt::format("{:.3f}", example_loss(way[step], 2, 5)),
                    fmt::format("{:.3f}", (way[step] - way[step + 1]) / 0.05),
                    fmt::format("{:.3f}", way[step + 1])});
  lesson.table({"step", "w", "loss", "gradient", "w − 0.05 · gradient"}, rows);
  lesson.claim(
      example_loss(way[1], 2, 5) < 7 && std::fabs(way.back() - 2.25) < 0.01,
      "one step takes the loss from 7 to {:.2f}; after {} steps w is {:.3f}, close to the lowest point at "
      "2.25",
      example_loss(way[1], 2, 5), way.size() - 1, way.back());
  const double after = example_loss(wild.back(), 2, 5);
  lesson.claim(after > 7,
               "a rate of 0.26 is too much: each step jumps over the valley, and after {} the loss is {:.2f}",
               wild.size() - 1, after);

  lesson.picture(
      "descent.png", descent_picture([](double w) { return example_loss(w, 2, 5); }, way, wild),
      "Gradient descent on one weight",
      "Blue: steps shrink with the slope and end in the valley. Orange: the steps are too long, land on "
      "the other side, and climb.");
  return way;
}

void backward_overwriting(Value loss) {
  Graph& graph = *loss.graph;
  loss.node().gradient = 1;
  for (int id = loss.id; id >= 0; --id)
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

/// ## Gradients add up
///
/// The guess is used in two places. A nudge of it goes both ways, and the effects add up: hence the += in the
/// rule. It is the same with error · error, where one number is used twice in one step. And a node must wait
/// until every share has arrived before it passes anything on. What happens otherwise:
void adding_up(Lesson& lesson, const std::vector<double>& right) {
  const auto gradients_by = [](void (*way)(Value)) {
    Graph graph;
    way(example(graph, 3, 2, 5));
    return std::vector<double>{graph[0].gradient, graph[1].gradient, graph[2].gradient};
  };
  const std::vector<double> overwritten = gradients_by(backward_overwriting),
                            early = gradients_by(backward_too_early),
                            each_time = gradients_by(backward_recursing);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, g] : {std::pair("as above", right), std::pair("= instead of +=", overwritten),
                                std::pair("passed on too early (nearest to the loss first)", early),
                                std::pair("passed on at every share (plain recursion)", each_time)})
    rows.push_back({name, whole(g[0]), whole(g[1]), whole(g[2])});
  lesson.table({"gradient of", "w", "x", "target"}, rows);
  lesson.claim(
      distance(overwritten, right) > 0.5 && distance(early, right) > 0.5 && distance(each_time, right) > 0.5,
      "all three shortcuts are wrong, and none of them crashes");
}

/// ## Topological order
///
/// An order in which every node comes after all nodes that use it is called a *topological order* (of the
/// graph read backwards). The simplest: the order in which the numbers were computed, reversed. Nothing can
/// be computed from what does not exist yet, so whatever uses a node is younger than the node. The table
/// above goes that way, and so does the library.
///
/// Where nodes come in no particular order, as in the exercise, there are two well-known ways to find one.
/// *Depth-first search* starts at the loss and writes a node down after all that it was computed from; the
/// list is then read from its end. *Kahn's algorithm* (1962) counts for each node how many of its users have
/// not had their turn.
///
/// In such an order each node has one turn. Plain recursion follows every path, and paths multiply: take a
/// number and double it n times, x = x + x.
void topological_order(Lesson& lesson) {
  std::vector<std::vector<std::string>> rows;
  long turns = 0;
  std::size_t nodes = 0;
  for (const int n : {5, 10, 20}) {
    Graph chain;
    Value x = number(chain, 1);
    for (int i = 0; i < n; ++i) x = x + x;
    nodes = chain.size();
    turns = backward_each_time(chain, x.id);
    rows.push_back({fmt::format("{}", n), fmt::format("{}", nodes), viz::format_fixed(double(turns), 0)});
  }
  lesson.table({"doublings", "turns in topological order", "turns by recursion"}, rows);
  lesson.claim(nodes == 21 && turns == (1L << 21) - 1, "20 doublings take {} turns, or {} by recursion",
               nodes, viz::format_fixed(double(turns), 0));
}

/// ## The same through tensors
///
/// A Tensor does all this by itself. `requires_grad()` says that a gradient is wanted; every operation
/// then notes what it was computed from; `backward(loss)` walks back. The example again, with tensors of
/// one number:
void by_tensors(Lesson& lesson, const std::vector<double>& right, const std::vector<double>& way) {
  Tensor w = scalar(3), x = scalar(2), target = scalar(5);
  w.requires_grad(), x.requires_grad(), target.requires_grad();
  const auto loss_of = [&] {
    const Tensor guess = w * x, error = guess - target;
    return error * error + guess;
  };
  attn::backward(loss_of());
  const std::vector<double> found = {w.grad().item(), x.grad().item(), target.grad().item()};
  lesson.claim(distance(found, right) < 1e-5,
               "w.grad() = {:.0f}, x.grad() = {:.0f}, target.grad() = {:.0f}: as by hand", found[0], found[1],
               found[2]);

  /// Gradients add up over calls, too: that is how a large batch can be done in parts. So they have to be set
  /// to zero before each step. Forgetting that is the classic mistake in a training loop, which is just this:
  ///
  ///     for (int step = 0; step < 12; ++step) {
  ///       w.zero_grad();
  ///       backward(loss_of());
  ///       w.data()[0] -= 0.05 * w.grad().item();
  ///     }
  const auto train = [&](bool zeroed) {
    w.data()[0] = 3;
    w.zero_grad();
    for (std::size_t step = 1; step < way.size(); ++step) {
      if (zeroed) w.zero_grad();
      attn::backward(loss_of());
      w.data()[0] -= real(0.05) * w.grad().item();
    }
    return double(w.item());
  };
  const double forgotten = train(false), trained = train(true);
  lesson.claim(std::fabs(trained - way.back()) < 1e-5 && std::fabs(forgotten - 2.25) > 0.05,
               "with zero_grad() w ends at {:.3f}, as by hand; without it at {:.3f}", trained, forgotten);

  const Index depth = lesson.fast ? 20000 : 200000;
  Tensor y = w;
  for (Index i = 0; i < depth; ++i) y = y + x;
  w.zero_grad(), x.zero_grad();
  attn::backward(y);
  lesson.claim(w.grad().item() == 1 && x.grad().item() == real(depth),
               "x added {} times: its gradient is {}. The walk back is a loop, so no graph is too deep",
               viz::format_fixed(double(depth), 0), viz::format_fixed(x.grad().item(), 0));
}

/// ## The backward of matmul
///
/// A transformer needs few rules beyond + and ·. The first is for the matrix product C = A B. Let G hold the
/// gradient of each element of C. Element a(i,k) is used in all of row i of C: in c(i,j) with the factor
/// b(k,j). So its gradient is the sum of g(i,j) · b(k,j) over j, which is row i of G with row k of B. For B
/// it is the same with columns. As matrices, with the transposes that the shapes ask for:
///
/// $$ dA = G Bᵀ   (M,N) x (N,K)          dB = Aᵀ G   (K,M) x (M,N) $$
void matmul_rule(Lesson& lesson, Rng& rng) {
  Tensor a = normal({2, 3}, rng), b = normal({3, 4}, rng);  // (M, K), (K, N)
  const Tensor g = normal({2, 4}, rng);                     // (M, N)
  a.requires_grad(), b.requires_grad();
  Tensor by_loops = zeros({2, 3});
  for (Index i = 0; i < 2; ++i)
    for (Index k = 0; k < 3; ++k)
      for (Index j = 0; j < 4; ++j) by_loops(i, k) += g(i, j) * b(k, j);
  attn::backward(matmul(a, b), g);
  const Tensor dA = matmul(g, transpose(b.detach())), dB = matmul(transpose(a.detach()), g);
  const double worst = std::max(
      {max_difference(by_loops, a.grad()), max_difference(dA, a.grad()), max_difference(dB, b.grad())});
  lesson.claim(worst < 1e-5, "loops, formulas and the library agree: largest difference {:.0e}", worst);
}

/// ## The backward of broadcasting
///
/// A bias (4) is added to both rows of a (2,4) tensor. Each of its elements is used twice, so its gradient is
/// the sum of two. Whatever the forward stretched, the backward sums up:
///
/// $$ y = x + bias   (R,C) + (C)          d bias(j) = Σ_i g(i, j) $$
void broadcasting_rule(Lesson& lesson, Rng& rng) {
  Tensor bias = normal({4}, rng);
  bias.requires_grad();
  const Tensor g = normal({2, 4}, rng);
  attn::backward(normal({2, 4}, rng) + bias, g);
  lesson.numbers(concat({g, reshape(bias.grad(), {1, 4})}),
                 {"gradient, row 0", "gradient, row 1", "gradient of the bias"});
  lesson.claim(max_difference(bias.grad(), sum(g, 0)) < 1e-6, "the last row is the sum of the others");
}

/// ## The backward of softmax
///
/// *Softmax* turns scores into shares that sum to 1, p_i = exp(score_i) / Σ exp(score) (lesson 04 builds it):
void softmax_rule(Lesson& lesson) {
  const std::vector<std::string> animals = {"cat", "dog", "fish"};
  Tensor scores = tensor({{2.0, 1.0, 0.1}});
  const Tensor p = softmax(scores);
  lesson.numbers(concat({scores, p}), {"score", "share p"}, animals);
  /// Raise one score: its share grows, and all others shrink, since they still sum to 1. So the derivative is
  /// not one number for each element but a whole table:
  ///
  /// $$ d p_i / d score_j = p_i ((1 if i = j, else 0) − p_j) $$
  Tensor table = empty({3, 3});  // d p_i / d score_j
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) table(i, j) = p(0, i) * ((i == j ? 1 : 0) - p(0, j));
  lesson.numbers(table, {"share of cat", "share of dog", "share of fish"}, animals);
  /// Multiply it by a gradient g that comes in, and the table need never be written down:
  ///
  /// $$ d score = p ∘ (g − Σ g p)          ∘: element by element $$
  ///
  /// For g = (1, 0, 0), which asks for more cat:
  const Tensor wish = tensor({{1, 0, 0}});
  const Tensor formula = p * (wish - sum(wish * p, -1, true)), elementwise = wish * p * (1 - p);
  scores.requires_grad();
  attn::backward(softmax(scores), wish);
  lesson.numbers(concat({formula, scores.grad(), elementwise}),
                 {"by the formula", "the library", "g p (1 − p)"}, animals);
  lesson.claim(
      max_difference(formula, scores.grad()) < 1e-6 && max_difference(formula, matmul(wish, table)) < 1e-6,
      "for more cat, raise its score and lower the others; the three sum to {:.0f}",
      std::fabs(sum(formula).item()));
  lesson.claim(max_difference(elementwise, scores.grad()) > 0.05,
               "p (1 − p), which treats each element alone, misses that the others must fall");
}

Tensor part(const std::vector<double>& p, int begin, const Shape& shape) {
  Tensor tensor = empty(shape);
  for (Index i = 0; i < shape.numel(); ++i) tensor.data()[i] = real(p[begin + i]);
  return tensor.requires_grad();
}

/// ## Checking against central differences
///
/// A wrong gradient does not crash; the model just learns badly, or not at all. So every gradient in this
/// project is checked by nudging every element, to both sides, which is called a *central difference*:
///
/// $$ gradient ≈ (f(p + h) − f(p − h)) / 2h $$
///
/// Here a small network (`network.hpp`, written once as a template) goes three ways: through the graph that
/// we built above, through central differences in double, and through the library.
void check_it(Lesson& lesson) {
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

  const double nudging_error = distance(central_differences<double>(p, x, 1e-5), exact) / largest,
               library_error = distance(library, exact) / largest;
  lesson.claim(
      nudging_error < 1e-7,
      "our graph of {} nodes against central differences, {} gradients: they differ by {:.0e} of the largest",
      graph.size(), exact.size(), nudging_error);
  lesson.claim(library_error < 1e-5, "the library, in float, against ours, in double: {:.0e}", library_error);

  /// How large should a nudge be? Too large, and the curve bends within it: the error of a central difference
  /// grows with h². Too small, and the difference of two almost equal numbers is all rounding. Floats have 7
  /// digits and leave hardly any room in between, which is why gradients are checked in double:
  std::vector<double> steps, in_float, in_double;
  for (double h = 1; h > 1e-11; h /= 10) {
    steps.push_back(h);
    in_float.push_back(distance(central_differences<float>(p, x, h), exact) / largest);
    in_double.push_back(distance(central_differences<double>(p, x, h), exact) / largest);
  }
  const double best_float = *std::min_element(in_float.begin(), in_float.end()),
               best_double = *std::min_element(in_double.begin(), in_double.end());
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
        const std::vector<double> right = chain_rule(lesson, gradients_by_nudging(lesson));
        const std::vector<double> way = downhill(lesson);
        adding_up(lesson, right);
        topological_order(lesson);
        by_tensors(lesson, right, way);
        Rng rng(lesson.seed);
        matmul_rule(lesson, rng);
        broadcasting_rule(lesson, rng);
        softmax_rule(lesson);
        check_it(lesson);
        /// ## Check yourself
        ///
        /// - **What is autograd for?** It gives the derivative of the loss with respect to every weight, with
        ///   one walk back through the computation. A step against that gradient lowers the loss.
        /// - **What goes in, what comes out?** A loss, one number, and the graph of how it was computed. Each
        ///   tensor gets a gradient of its own shape: for C = A B, dA = G Bᵀ is (M,K) like A, and a bias (C)
        ///   that was stretched to (R,C) gets the sum over its R rows.
        /// - **What goes wrong without care?** If shares overwrite instead of adding up, if a node passes on
        ///   before it has all of them, or if old gradients are not zeroed, the numbers are wrong and nothing
        ///   crashes. Central differences find it.
        ///
        /// ## Read on
        ///
        /// - Rumelhart, Hinton and Williams, 1986: *Learning representations by back-propagating errors*.
        ///   Four pages of Nature that made it known.
        /// - Baydin, Pearlmutter, Radul and Siskind, 2018: *Automatic differentiation in machine learning: a
        ///   survey*. Forward and reverse mode, and what they cost.
        /// - Andrej Karpathy, 2020: *micrograd*. An engine like the one of this lesson, in about 100 lines
        ///   of Python.
        /// - The notebook `03_training_dynamics`: what the learning rate does to a model that sorts cards.
        lesson.try_next(
            {{"In operator* of value.hpp, swap the two derivatives (a.value(), b.value()).",
              "Only error · error survives it, where both are the same: w and x get each other's gradient."},
             {"In backward, let id run from 0 up to loss.id.",
              "Every node has its turn before anything has reached it: w, x and target get 0."},
             {"In central_differences (network.hpp), use (f(p + h) − f(p)) / h, one-sided.",
              "The double curve falls as h and not as h², its best is hundreds of times worse, and two "
              "claims fail."}});
      });
}
