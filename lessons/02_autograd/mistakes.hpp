// The wrong answers to exercise 02 that the grader knows by name.
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

inline void add_to(Tensor& sum, const Tensor& share) {
  for (Index i = 0; i < sum.numel(); ++i) sum.data()[i] += share.data()[i];
}

inline const coach::Mistakes<decltype(exercise::mul_backward)> mul_backward = {
    {.name = "overwritten instead of added",
     .why = "grad_a may hold what another use of a has contributed. Writing over it loses that: gradients "
            "add up.",
     .where = "Gradients add up",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
           grad_a = gradient * b;
           grad_b = gradient * a;
         }},
    {.name = "factors not swapped",
     .why = "The derivative of a·b with respect to a is b, the other factor: how much a counts depends on "
            "what it is "
            "multiplied with.",
     .where = "The chain rule backwards",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
           add_to(grad_a, gradient * a);
           add_to(grad_b, gradient * b);
         }},
    {.name = "incoming gradient forgotten",
     .why = "This is the derivative of c alone. The loss depends on c by `gradient`, and the chain rule "
            "multiplies the "
            "two.",
     .where = "The chain rule backwards",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor&, Tensor& grad_a, Tensor& grad_b) {
           add_to(grad_a, b);
           add_to(grad_b, a);
         }},
    {.name = "only the first factor",
     .why = "Both factors have a gradient: b is an input of the product as much as a.",
     .where = "The chain rule backwards",
     .answer = [](const Tensor&, const Tensor& b, const Tensor& gradient, Tensor& grad_a,
                  Tensor&) { add_to(grad_a, gradient * b); }},
    {.name = "the backward of a sum",
     .why = "The gradient goes through unchanged to both. So it does for a + b; a product weighs it with the "
            "other "
            "factor.",
     .where = "The chain rule backwards",
     .answer =
         [](const Tensor&, const Tensor&, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
           add_to(grad_a, gradient);
           add_to(grad_b, gradient);
         }},
    {.name = "computed but never stored",
     .why =
         "grad_a and grad_b are as they were: the results went into variables that ended with the function.",
     .where = "Gradients add up",
     .answer = [](const Tensor&, const Tensor&, const Tensor&, Tensor&, Tensor&) {}},
    {.name = "subtracted instead of added",
     .why = "The gradient says where the loss rises. Going downhill is the optimizer's business, and comes "
            "later.",
     .where = "Gradients add up",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient, Tensor& grad_a, Tensor& grad_b) {
           add_to(grad_a, -(gradient * b));
           add_to(grad_b, -(gradient * a));
         }},
};

inline Tensor grad_of_a(const Tensor& b, const Tensor& gradient) {
  return matmul(gradient, b, Transpose::second);
}
inline Tensor grad_of_b(const Tensor& a, const Tensor& gradient) {
  return matmul(a, gradient, Transpose::first);
}

inline const coach::Mistakes<decltype(exercise::matmul_backward)> matmul_backward = {
    {.name = "B not transposed",
     .why = "dA = dC Bᵀ: element (i,k) of A meets row k of B, so the sum runs along that row. Without the "
            "transpose it "
            "runs along a column, and only square sizes hide it.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{matmul(gradient, b), grad_of_b(a, gradient)};
         }},
    {.name = "A not transposed",
     .why = "dB = Aᵀ dC: element (k,j) of B meets column k of A. Without the transpose the sum runs along a "
            "row of A, "
            "and only square sizes hide it.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{grad_of_a(b, gradient), matmul(a, gradient)};
         }},
    {.name = "no transposes",
     .why =
         "dA = dC Bᵀ and dB = Aᵀ dC: the backward sums over what the forward did not, hence the transposes.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{matmul(gradient, b), matmul(a, gradient)};
         }},
    {.name = "products in the wrong order",
     .why = "Bᵀ dC and dC Aᵀ sum over the wrong axes: matrices do not commute. dC stands on the left for A "
            "and on the "
            "right for B, as A and B do in the product.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{matmul(b, gradient, Transpose::first), matmul(gradient, a, Transpose::second)};
         }},
    {.name = "gradients exchanged",
     .why = "What belongs to A was returned for B and the other way round: the gradient of A has the shape "
            "of A.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{grad_of_b(a, gradient), grad_of_a(b, gradient)};
         }},
    {.name = "results transposed",
     .why = "These are dAᵀ and dBᵀ. A gradient has the shape of what it belongs to, element for element.",
     .where = "The backward of matmul",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           return Gradients{transpose(grad_of_a(b, gradient)), transpose(grad_of_b(a, gradient))};
         }},
    {.name = "incoming gradient taken as ones",
     .why = "This is right only for the loss sum(c). What comes in says how much the loss cares for each "
            "element of c.",
     .where = "The chain rule backwards",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           const Tensor all = ones(gradient.shape());
           return Gradients{grad_of_a(b, all), grad_of_b(a, all)};
         }},
    {.name = "assigned instead of accumulated",
     .why = "Each step of the innermost loops writes over the one before it. An element of A takes part in a "
            "whole row of "
            "C, and all these shares add up.",
     .where = "Gradients add up",
     .answer =
         [](const Tensor& a, const Tensor& b, const Tensor& gradient) {
           Gradients out{zeros(a.shape()), zeros(b.shape())};
           for (Index i = 0; i < a.size(0); ++i)
             for (Index j = 0; j < b.size(1); ++j)
               for (Index k = 0; k < a.size(1); ++k) {
                 out.a(i, k) = gradient(i, j) * b(k, j);
                 out.b(k, j) = gradient(i, j) * a(i, k);
               }
           return out;
         }},
};

// The gradient reduced along the axes that were stretched, by `reduce(tensor, axis)`.
template <class Reduce>
Tensor reduced(const Tensor& gradient, const Shape& shape, const Reduce& reduce) {
  Tensor out = gradient;
  if (shape.rank() < 2 || shape[0] < out.size(0)) out = reduce(out, 0);
  if (shape[-1] < out.size(1)) out = reduce(out, 1);
  return reshape(out, shape);
}

inline const coach::Mistakes<decltype(exercise::broadcast_backward)> broadcast_backward = {
    {.name = "one use instead of all",
     .why = "Only the gradient of the first copy is taken. The element was used in every row (or column), "
            "and each use "
            "adds its share.",
     .where = "The backward of broadcasting",
     .answer =
         [](const Tensor& gradient, const Shape& shape) {
           return reduced(gradient, shape, [](const Tensor& x, int axis) { return slice(x, axis, 0, 1); });
         }},
    {.name = "mean instead of sum",
     .why = "An element that is used R times moves the loss R times: the shares add up and are not averaged.",
     .where = "The backward of broadcasting",
     .answer =
         [](const Tensor& gradient, const Shape& shape) {
           return reduced(gradient, shape, [](const Tensor& x, int axis) { return mean(x, axis, true); });
         }},
    {.name = "axis of size 1 lost",
     .why = "The sums are right, but the gradient must have exactly the shape of what was stretched, (1,C) "
            "and not (C).",
     .where = "The backward of broadcasting",
     .answer =
         [](const Tensor& gradient, const Shape& shape) {
           Tensor out = gradient;
           if (shape[-1] < out.size(1)) out = sum(out, 1);
           if (shape.rank() < 2 || shape[0] < gradient.size(0)) out = sum(out, 0);
           return out;
         }},
    {.name = "stretched axes not summed",
     .why = "A missing axis was summed away, but an axis of size 1 was stretched just as well and needs the "
            "same.",
     .where = "The backward of broadcasting",
     .answer =
         [](const Tensor& gradient, const Shape& shape) {
           return shape.rank() < 2 ? sum(gradient, 0) : reshape(gradient, gradient.shape());
         }},
    {.name = "overwritten instead of added",
     .why = "Each use writes over the one before it, so only the last is left. Gradients add up.",
     .where = "Gradients add up",
     .answer =
         [](const Tensor& gradient, const Shape& shape) {
           return reduced(gradient, shape, [](const Tensor& x, int axis) {
             return slice(x, axis, x.size(axis) - 1, x.size(axis));
           });
         }},
    {.name = "everything summed",
     .why = "Only the axes that were stretched are summed. Here each element gets the sum of the whole "
            "gradient.",
     .where = "The backward of broadcasting",
     .answer = [](const Tensor& gradient, const Shape& shape) { return full(shape, sum(gradient).item()); }},
};

inline const coach::Mistakes<decltype(exercise::softmax_backward)> softmax_backward = {
    {.name = "softmax treated elementwise",
     .why = "p(1−p) is only how a weight answers to its own score. It also falls when any other score of the "
            "row rises, "
            "and these terms are missing.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p, const Tensor& gradient) { return gradient * p * (1 - p); }},
    {.name = "mean gradient not subtracted",
     .why = "p∘g lets all scores of a row rise together, which changes no weight at all. Subtract g·p, the "
            "mean gradient "
            "under p.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p, const Tensor& gradient) { return p * gradient; }},
    {.name = "p in front forgotten",
     .why = "A weight that is nearly 0 hardly moves: g − g·p has to be multiplied by p.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p,
                  const Tensor& gradient) { return gradient - sum(gradient * p, -1, true); }},
    {.name = "plain sum instead of the weighted one",
     .why = "The gradients of a row must be weighed with p before they are summed: g·p, not Σ g.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p,
                  const Tensor& gradient) { return p * (gradient - sum(gradient, -1, true)); }},
    {.name = "plain mean instead of the weighted one",
     .why = "The mean gradient is taken under the weights p, not with 1/C for each: g·p.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p,
                  const Tensor& gradient) { return p * (gradient - mean(gradient, -1, true)); }},
    {.name = "one sum for all rows",
     .why = "Each row was a softmax of its own: g·p is a number for each row, and its sum must start at 0 "
            "again in each.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p, const Tensor& gradient) { return p * (gradient - sum(gradient * p)); }},
    {.name = "a sum that is never reset",
     .why = "g·p of a row still contains that of the rows above it: begin at 0 again in every row.",
     .where = "The backward of softmax",
     .answer =
         [](const Tensor& p, const Tensor& gradient) {
           Tensor out = empty(p.shape());
           real mean = 0;
           for (Index i = 0; i < p.size(0); ++i) {
             for (Index j = 0; j < p.size(1); ++j) mean += gradient(i, j) * p(i, j);
             for (Index j = 0; j < p.size(1); ++j) out(i, j) = p(i, j) * (gradient(i, j) - mean);
           }
           return out;
         }},
    {.name = "summed over columns",
     .why = "The softmax ran along each row, so that is where its weights depend on one another: g·p is "
            "taken over a "
            "row.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p,
                  const Tensor& gradient) { return p * (gradient - sum(gradient * p, 0, true)); }},
    {.name = "sign flipped",
     .why = "This is the negative of the gradient. The minus stands before g·p, not before g.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p,
                  const Tensor& gradient) { return p * (sum(gradient * p, -1, true) - gradient); }},
    {.name = "incoming gradient forgotten",
     .why = "p(1−p) is a derivative of the softmax alone. How much the loss cares for each weight comes in "
            "as gradient.",
     .where = "The chain rule backwards",
     .answer = [](const Tensor& p, const Tensor&) { return p * (1 - p); }},
    {.name = "own score forgotten",
     .why = "Only the falling of a weight when others rise is here, −p (g·p). A score also raises its own "
            "weight: p g.",
     .where = "The backward of softmax",
     .answer = [](const Tensor& p, const Tensor& gradient) { return -(p * sum(gradient * p, -1, true)); }},
};

}  // namespace mistakes
