// The wrong answers to exercise 02 that the grader knows by name: the order of a graph and the walk back.
#pragma once

#include "lessons/02_autograd/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
std::vector<int> backward_order(const Graph& graph, int root);
std::vector<real> backward_pass(const Graph& graph, int root);
void mul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b);
Gradients matmul_backward(const Tensor& a, const Tensor& b, const Tensor& gradient);
Tensor broadcast_backward(const Tensor& gradient, const Shape& shape);
Tensor softmax_backward(const Tensor& p, const Tensor& gradient);

inline auto fields(GraphNode& node) {
  return std::tuple{coach::field("inputs", node.inputs), coach::field("derivatives", node.derivatives)};
}
inline auto fields(Gradients& gradients) {
  return std::tuple{coach::field("a", gradients.a), coach::field("b", gradients.b)};
}
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Gradients;
using exercise::Graph;

// Inputs first: the order in which the numbers can be computed.
inline void inputs_first(const Graph& graph, int node, std::vector<bool>& seen, std::vector<int>& order) {
  if (seen[node]) return;
  seen[node] = true;
  for (const int input : graph[node].inputs) inputs_first(graph, input, seen, order);
  order.push_back(node);
}
inline std::vector<int> forward_order(const Graph& graph, int root) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<int> order;
  inputs_first(graph, root, seen, order);
  return order;
}
// A node as soon as it is reached; again each time, unless `once`.
inline void as_reached(const Graph& graph, int node, bool once, std::vector<int>& order) {
  if (once && std::find(order.begin(), order.end(), node) != order.end()) return;
  order.push_back(node);
  for (const int input : graph[node].inputs) as_reached(graph, input, once, order);
}
inline std::vector<int> breadth_first(const Graph& graph, int root) {
  std::vector<int> order = {root};
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const int input : graph[order[next]].inputs)
      if (std::find(order.begin(), order.end(), input) == order.end()) order.push_back(input);
  return order;
}

inline const coach::Mistakes<decltype(exercise::backward_order)> backward_order = {
    {.name = "visited as soon as reached",
     .why = "A node is listed when the walk first comes to it, perhaps before others that use it too: its "
            "gradient is "
            "not complete then.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> order;
           as_reached(graph, root, true, order);
           return order;
         }},
    {.name = "visited each time it is reached",
     .why = "A node that is used twice is listed twice, so it would pass its gradient on twice. Each node "
            "has one turn.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> order;
           as_reached(graph, root, false, order);
           return order;
         }},
    {.name = "breadth first",
     .why = "By distance from the root a node may come before one that uses it: the short way reaches it "
            "early, the "
            "long way adds to its gradient later.",
     .where = "Topological order",
     .answer = [](const Graph& graph, int root) { return breadth_first(graph, root); }},
    {.name = "inputs first",
     .why = "That is the order of the forward pass. Gradients flow from the root to the inputs: reverse it.",
     .where = "Topological order",
     .answer = [](const Graph& graph, int root) { return forward_order(graph, root); }},
    {.name = "nodes that the root does not depend on",
     .why = "The graph may hold more than was needed for this root. Only what can be reached from it gets a "
            "gradient.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<bool> seen(graph.size(), false);
           std::vector<int> order;
           for (int node = 0; node < static_cast<int>(graph.size()); ++node)
             if (node != root) inputs_first(graph, node, seen, order);
           inputs_first(graph, root, seen, order);
           std::reverse(order.begin(), order.end());
           return order;
         }},
    {.name = "by number",
     .why = "The numbers of these nodes say nothing about who uses whom. (Where nodes are numbered as they "
            "are created, "
            "as in the library, it would do.)",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> order = forward_order(graph, root);
           std::sort(order.begin(), order.end(), std::greater<>());
           return order;
         }},
    {.name = "the root left out",
     .why = "The root has inputs too: without its turn no gradient ever reaches them.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> order = forward_order(graph, root);
           order.pop_back();
           std::reverse(order.begin(), order.end());
           return order;
         }},
    {.name = "waiting for nodes that take no part",
     .why = "A node is held back until all that use it are done, but some of these are not behind the root "
            "and never "
            "come. Count only users that can be reached from the root.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> waiting(graph.size(), 0), order = {root};
           for (const exercise::GraphNode& node : graph)
             for (const int input : node.inputs) ++waiting[input];
           for (std::size_t next = 0; next < order.size(); ++next)
             for (const int input : graph[order[next]].inputs)
               if (--waiting[input] == 0) order.push_back(input);
           return order;
         }},
};

// Passes gradients on in this order by `step(gradient of the input, of the node, derivative)`.
template <class Step>
std::vector<real> passed_on(const Graph& graph, int root, std::vector<int> order, real seed,
                            const Step& step) {
  std::vector<real> gradient(graph.size(), 0);
  gradient[root] = seed;
  for (const int node : order)
    for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
      step(gradient[graph[node].inputs[i]], gradient[node], graph[node].derivatives[i]);
  return gradient;
}
inline std::vector<int> good_order(const Graph& graph, int root) {
  std::vector<int> order = forward_order(graph, root);
  std::reverse(order.begin(), order.end());
  return order;
}
inline void add_share(real& input, real node, real derivative) { input += node * derivative; }
inline void pass_each_time(const Graph& graph, int node, std::vector<real>& gradient) {
  for (std::size_t i = 0; i < graph[node].inputs.size(); ++i) {
    const int input = graph[node].inputs[i];
    gradient[input] += gradient[node] * graph[node].derivatives[i];
    pass_each_time(graph, input, gradient);
  }
}

inline const coach::Mistakes<decltype(exercise::backward_pass)> backward_pass = {
    {.name = "overwritten instead of added",
     .why = "A number that is used twice gets a gradient from each use, and the chain rule adds them up. "
            "Here the last "
            "one wins.",
     .where = "Gradients add up",
     .answer =
         [](const Graph& graph, int root) {
           return passed_on(graph, root, good_order(graph, root), 1,
                            [](real& input, real node, real derivative) { input = node * derivative; });
         }},
    {.name = "passed on each time a node is reached",
     .why = "Each new share makes the node pass on all it has, so earlier shares are counted again. It must "
            "pass on "
            "once, when its gradient is complete.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<real> gradient(graph.size(), 0);
           gradient[root] = 1;
           pass_each_time(graph, root, gradient);
           return gradient;
         }},
    {.name = "passed on before it is complete",
     .why = "Breadth first, a node has its turn when only some of those that use it have added their share; "
            "what comes "
            "later is never passed on.",
     .where = "Topological order",
     .answer = [](const Graph& graph,
                  int root) { return passed_on(graph, root, breadth_first(graph, root), 1, add_share); }},
    {.name = "walked from the inputs to the root",
     .why = "In the order of the forward pass a node has its turn before any gradient has reached it, and "
            "passes on 0.",
     .where = "Topological order",
     .answer = [](const Graph& graph,
                  int root) { return passed_on(graph, root, forward_order(graph, root), 1, add_share); }},
    {.name = "the root's gradient not set to 1",
     .why = "d root / d root is 1. Starting from 0, everything stays 0.",
     .where = "The chain rule backwards",
     .answer = [](const Graph& graph,
                  int root) { return passed_on(graph, root, good_order(graph, root), 0, add_share); }},
    {.name = "derivative forgotten",
     .why = "The chain rule multiplies: each input gets the gradient times the derivative with respect to "
            "it. Here the "
            "gradient goes through unchanged.",
     .where = "The chain rule backwards",
     .answer =
         [](const Graph& graph, int root) {
           return passed_on(graph, root, good_order(graph, root), 1,
                            [](real& input, real node, real) { input += node; });
         }},
    {.name = "incoming gradient forgotten",
     .why = "Only the derivative of the last step is added. The chain rule multiplies it with the gradient "
            "that came in.",
     .where = "The chain rule backwards",
     .answer =
         [](const Graph& graph, int root) {
           return passed_on(graph, root, good_order(graph, root), 1,
                            [](real& input, real, real derivative) { input += derivative; });
         }},
    {.name = "in the order of the numbers",
     .why = "The numbers of these nodes say nothing about who uses whom, so some pass on before their "
            "gradient is "
            "complete.",
     .where = "Topological order",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<int> order;
           for (int node = static_cast<int>(graph.size()) - 1; node >= 0; --node) order.push_back(node);
           return passed_on(graph, root, order, 1, add_share);
         }},
    {.name = "every gradient starts at 1",
     .why = "Only the root has the derivative 1 with respect to itself. All others start at 0, or the 1 is "
            "counted as a "
            "share of its own.",
     .where = "The chain rule backwards",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<real> gradient(graph.size(), 1);
           for (const int node : good_order(graph, root))
             for (std::size_t i = 0; i < graph[node].inputs.size(); ++i)
               gradient[graph[node].inputs[i]] += gradient[node] * graph[node].derivatives[i];
           return gradient;
         }},
    {.name = "one derivative for all inputs",
     .why = "Each input has its own: derivatives[i] belongs to inputs[i].",
     .where = "The chain rule backwards",
     .answer =
         [](const Graph& graph, int root) {
           std::vector<real> gradient(graph.size(), 0);
           gradient[root] = 1;
           for (const int node : good_order(graph, root))
             for (const int input : graph[node].inputs)
               gradient[input] += gradient[node] * graph[node].derivatives[0];
           return gradient;
         }},
};

}  // namespace mistakes
