// Grades exercise 02. Where the library has a function, it is the right answer.
#include "mistakes/02_autograd.hpp"  // made from mistakes.diff
#include "tests/exercises/oracle.hpp"

namespace exercise {
inline auto fields(GraphNode& node) {
  return std::tuple{coach::field("inputs", node.inputs), coach::field("derivatives", node.derivatives)};
}
inline auto fields(Gradients& gradients) {
  return std::tuple{coach::field("a", gradients.a), coach::field("b", gradients.b)};
}
}  // namespace exercise

using namespace attn;
using coach::Cases;
using coach::Question;
using exercise::Gradients;
using exercise::Graph;

namespace oracle {

// By the longest way from the root: an input is always further away than what uses it.
std::vector<int> backward_order(const Graph& graph, int root) {
  std::vector<int> distance(graph.size(), -1), order;
  distance[root] = 0;
  for (std::size_t round = 0; round < graph.size(); ++round)
    for (std::size_t node = 0; node < graph.size(); ++node)
      if (distance[node] >= 0)
        for (const int input : graph[node].inputs)
          distance[input] = std::max(distance[input], distance[node] + 1);
  for (int node = 0; node < int(graph.size()); ++node)
    if (distance[node] >= 0) order.push_back(node);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return distance[a] < distance[b]; });
  return order;
}

// Any order will do in which each needed node stands once, before all of its inputs.
bool is_backward_order(const std::vector<int>& order, const Graph& graph, int root) {
  std::vector<int> expected = oracle::backward_order(graph, root), sorted = order;
  std::sort(expected.begin(), expected.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted != expected) return false;
  std::vector<bool> done(graph.size(), false);
  for (const int node : order) {
    done[node] = true;
    for (const int input : graph[node].inputs)
      if (done[input]) return false;
  }
  return true;
}

// g = e + Jᵀ g, again and again: after n rounds the gradient has walked every way from the root.
std::vector<real> backward_pass(const Graph& graph, int root) {
  std::vector<real> gradient(graph.size(), 0);
  for (std::size_t round = 0; round < graph.size(); ++round) {
    std::vector<real> next(graph.size(), 0);
    next[root] = 1;
    for (std::size_t node = 0; node < graph.size(); ++node)
      for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
        next[graph[node].inputs[i]] += gradient[node] * graph[node].derivatives[i];
    gradient = next;
  }
  return gradient;
}

void mul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
  grad_a = grad_a + pulled_back([&](const Tensor& x) { return x * b; }, a, gradient);
  grad_b = grad_b + pulled_back([&](const Tensor& x) { return a * x; }, b, gradient);
}

Gradients matmul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient) {
  return {pulled_back([&](const Tensor& x) { return matmul(x, b); }, a, gradient),
          pulled_back([&](const Tensor& x) { return matmul(a, x); }, b, gradient)};
}

Tensor broadcast_backward(const Tensor& gradient, const Shape& shape) {
  return pulled_back([&](const Tensor& x) { return broadcast_to(x, gradient.shape()); }, zeros(shape),
                     gradient);
}

Tensor softmax_backward(const Tensor& p, const Tensor& gradient) {
  return pulled_back([](const Tensor& x) { return softmax(x); }, log(p), gradient);
}

}  // namespace oracle

namespace {

// Derivatives with one decimal, never 0, 1 or −1.
real derivative(Rng& rng) {
  const real size = real(12 + rng.below(18)) / 10;
  return rng.below(2) ? size : -size;
}

Graph graph_of(const std::vector<std::vector<int>>& inputs, Rng& rng) {
  Graph graph;
  for (const std::vector<int>& each : inputs) {
    graph.push_back({each, {}});
    for (std::size_t i = 0; i < each.size(); ++i) graph.back().derivatives.push_back(derivative(rng));
  }
  return graph;
}

std::vector<std::tuple<Graph, int>> graphs(Rng& rng) {
  // Eight nodes in a row, each using one or two of the three before it, and then numbered anew at random.
  std::vector<int> number = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int i = 7; i > 0; --i) std::swap(number[i], number[rng.below(i + 1)]);
  std::vector<std::vector<int>> inputs(8);
  for (int i = 1; i < 8; ++i)
    for (int use = 0; use < 2; ++use)
      inputs[number[i]].push_back(number[std::max<Index>(0, i - 1 - rng.below(3))]);
  return {{graph_of({{}, {0}}, rng), 1},
          {graph_of({{}, {0, 0}, {1, 0}}, rng), 2},         // y = x·x + x
          {graph_of({{1, 2}, {2}, {3}, {}, {3}}, rng), 0},  // numbered from the root; node 4 takes no part
          {graph_of({{}, {0}, {1}, {0, 2}, {3, 1}, {2}}, rng), 4},
          {graph_of({{2, 1}, {3}, {3, 1}, {4}, {}, {0, 4}}, rng), 0},
          {graph_of(inputs, rng), number[7]}};
}

// Up to eight nodes, each using some of those before it, and then numbered anew at random.
std::tuple<Graph, int> draw_graph(coach::Draw& draw) {
  const Index count = draw.size();
  std::vector<int> number;
  for (int i = 0; i < int(count); ++i) number.push_back(i);
  for (Index i = count - 1; i > 0; --i) std::swap(number[i], number[draw.rng.below(i + 1)]);
  std::vector<std::vector<int>> inputs(number.size());
  for (Index i = 1; i < count; ++i)
    for (Index use = draw.between(0, 2); use > 0; --use)
      inputs[number[i]].push_back(number[draw.rng.below(i)]);
  return {graph_of(inputs, draw.rng), number[draw.rng.below(count)]};
}

}  // namespace

coach::Exercise coach::exercise() {
  return {
      "02_autograd",
      {Question<decltype(exercise::backward_order)>{.name = "backward_order",
                                                    .answer = exercise::backward_order,
                                                    .oracle = oracle::backward_order,
                                                    .arguments = {"graph", "root"},
                                                    .cases = graphs,
                                                    .draw = draw_graph,
                                                    .accepts = oracle::is_backward_order,
                                                    .mistakes = mistakes::backward_order,
                                                    .notice =
                                                        "The forward pass creates nodes in an order that is "
                                                        "already topological: the library only numbers "
                                                        "them and goes backwards."},
       Question<decltype(exercise::backward_pass)>{.name = "backward_pass",
                                                   .answer = exercise::backward_pass,
                                                   .oracle = oracle::backward_pass,
                                                   .arguments = {"graph", "root"},
                                                   .cases = graphs,
                                                   .draw = draw_graph,
                                                   .mistakes = mistakes::backward_pass,
                                                   .notice =
                                                       "One walk gives the derivative with respect to every "
                                                       "node at once, at the price of about one more "
                                                       "forward pass. That is why training is affordable."},
       Question<decltype(exercise::mul_backward)>{
           .name = "mul_backward",
           .answer = exercise::mul_backward,
           .oracle = oracle::mul_backward,
           .arguments = {"a", "b", "gradient", "grad_a", "grad_b"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::mul_backward)> {
             return {{tidy({1, 1}, rng), tidy({1, 1}, rng), tidy({1, 1}, rng), zeros({1, 1}), zeros({1, 1})},
                     {tidy({1, 2}, rng), tidy({1, 2}, rng), tidy({1, 2}, rng), tidy({1, 2}, rng),
                      tidy({1, 2}, rng)},
                     {normal({3, 5}, rng), normal({3, 5}, rng), normal({3, 5}, rng), normal({3, 5}, rng),
                      normal({3, 5}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::mul_backward)> {
             const Shape shape{draw.size(), draw.size()};
             return {draw.tidy(shape), draw.tidy(shape), draw.tidy(shape), draw.tidy(shape),
                     draw.tidy(shape)};
           },
           .mistakes = mistakes::mul_backward,
           .notice = "The backward needs the values a and b: that is why training keeps all activations in "
                     "memory."},
       Question<decltype(exercise::matmul_backward)>{
           .name = "matmul_backward",
           .answer = exercise::matmul_backward,
           .oracle = oracle::matmul_backward,
           .arguments = {"a", "b", "gradient"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::matmul_backward)> {
             return {{tidy({1, 2}, rng), tidy({2, 1}, rng), tidy({1, 1}, rng)},
                     {tidy({2, 2}, rng), tidy({2, 2}, rng), tidy({2, 2}, rng)},
                     {tidy({2, 3}, rng), tidy({3, 1}, rng), tidy({2, 1}, rng)},
                     {normal({3, 5}, rng), normal({5, 7}, rng), normal({3, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::matmul_backward)> {
             const Index M = draw.size(), K = draw.size(), N = draw.size();
             return {draw.tidy({M, K}), draw.tidy({K, N}), draw.tidy({M, N})};
           },
           .mistakes = mistakes::matmul_backward,
           .notice =
               "Two products of the size of the forward one: a backward pass costs twice a forward pass.",
           .library = {"backward"}},
       Question<decltype(exercise::broadcast_backward)>{
           .name = "broadcast_backward",
           .answer = exercise::broadcast_backward,
           .oracle = oracle::broadcast_backward,
           .arguments = {"gradient", "shape"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::broadcast_backward)> {
             return {{tidy({2, 2}, rng), Shape{2, 2}}, {tidy({2, 3}, rng), Shape{1, 3}},
                     {tidy({2, 3}, rng), Shape{3}},    {tidy({2, 3}, rng), Shape{2, 1}},
                     {tidy({3, 2}, rng), Shape{1, 1}}, {normal({5, 5}, rng), Shape{5, 1}},
                     {normal({7, 5}, rng), Shape{5}}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::broadcast_backward)> {
             const Index R = draw.size(), C = draw.size();
             return {draw.tidy({R, C}),
                     draw.one_of<Shape>({Shape{R, C}, Shape{1, C}, Shape{R, 1}, Shape{1, 1}, Shape{C}})};
           },
           .mistakes = mistakes::broadcast_backward,
           .notice = "A bias is stretched over a whole batch, so its gradient is a sum over the batch: this "
                     "is where the "
                     "examples of a batch meet."},
       Question<decltype(exercise::softmax_backward)>{
           .name = "softmax_backward",
           .answer = exercise::softmax_backward,
           .oracle = oracle::softmax_backward,
           .arguments = {"p", "gradient"},
           .cases = [](Rng& rng) -> Cases<decltype(exercise::softmax_backward)> {
             return {{tensor({{0.25, 0.75}}), tidy({1, 2}, rng)},
                     {tensor({{0.5, 0.3, 0.2}, {0.1, 0.1, 0.8}}), tidy({2, 3}, rng)},
                     {softmax(normal({3, 3}, rng)), normal({3, 3}, rng)},
                     {softmax(normal({5, 7}, rng)), normal({5, 7}, rng)}};
           },
           .draw = [](Draw& draw) -> Case<decltype(exercise::softmax_backward)> {
             const Shape shape{draw.size(), draw.size()};
             return {softmax(draw.tidy(shape)), draw.tidy(shape)};
           },
           .mistakes = mistakes::softmax_backward,
           .notice = "Every row of the result sums to 0: no score can rise without others giving way.",
           .library = {"backward"}}}};
}
