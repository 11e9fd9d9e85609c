// The wrong answers to exercise 02 that the grader knows by name. Here the backward of single ops; the order
// of a graph and the walk back in mistakes_graph.hpp.
#pragma once

#include "lessons/02_autograd/mistakes_graph.hpp"

namespace mistakes {

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
