#include "lessons/mine/ops.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // copy_n

#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn::mine {
namespace {

constexpr real epsilon = real(1e-5);  // of the norms, as in the library

// A part computes numbers; what it does to get them is no part of the graph.
template <class Call>
Tensor numbers(const PartInUse& part, const Shape& shape, const Call& call) {
  const NoGrad no_grad;
  const Tensor result = call();
  check_result(part, result, shape);
  return result.detach();  // it may be one of the inputs
}

template <class Call>
TwoTensors two_gradients(const PartInUse& part, const Shape& first, const Shape& second, const Call& call) {
  const NoGrad no_grad;
  const TwoTensors result = call();
  check_result(part, result.first, first);
  check_result(part, result.second, second);
  return result;
}

void add_to_grad(const Tensor& tensor, const Tensor& gradient) {
  if (!tensor.needs_grad()) return;
  const real* from = gradient.data();
  add_grad(tensor, [from](Index i) { return from[i]; });
}

// The gradient of an op's result. It may be taken over by nobody else, so a copy is not needed.
Tensor gradient_of(const Tensor& result) { return result.grad(); }

Tensor as_rows(const Tensor& x) { return reshape(x, {x.numel() / x.size(-1), x.size(-1)}); }

// Matrix number i of the matrices (rows, columns) that x consists of.
Tensor matrix(const Tensor& x, Index i, Index rows, Index columns) {
  const Tensor out = empty({rows, columns});
  std::copy_n(x.data() + i * rows * columns, rows * columns, out.data());
  return out;
}
void put(const Tensor& from, const Tensor& into, Index i) {
  std::copy_n(from.data(), from.numel(), into.data() + i * from.numel());
}

Tensor product(const Parts& parts, const Tensor& a, const Tensor& b) {  // (M,K), (K,N) -> (M,N)
  const Tensor c = numbers(parts.product, {a.size(0), b.size(1)}, [&] { return parts.product(a, b); });
  return record(c, "your product", {a, b}, [&parts, a, b](const Tensor& c) {
    const TwoTensors gradients = two_gradients(parts.matmul_backward, a.shape(), b.shape(),
                                               [&] { return parts.matmul_backward(a, b, gradient_of(c)); });
    add_to_grad(a, gradients.first);
    add_to_grad(b, gradients.second);
  });
}

Tensor add_row(const Parts& parts, const Tensor& x, const Tensor& row) {  // (N,C), (C) -> (N,C)
  const Shape as_matrix{1, row.size(0)};
  const Tensor sum = numbers(parts.broadcast_add, x.shape(),
                             [&] { return parts.broadcast_add(x, reshape(row, as_matrix)); });
  return record(sum, "your sum", {x, row}, [&parts, x, row](const Tensor& sum) {
    const Tensor gradient = gradient_of(sum);
    const auto share = [&](const Shape& shape) {
      return numbers(parts.broadcast_backward, shape,
                     [&] { return parts.broadcast_backward(gradient, shape); });
    };
    if (x.needs_grad()) add_to_grad(x, share(x.shape()));
    if (row.needs_grad()) add_to_grad(row, share(row.shape()));
  });
}

// Applies a part to each matrix (T, D) of x (..., T, D).
template <class Function>
Tensor each_matrix(const Function& part, const Tensor& x) {
  const Index T = x.size(-2), D = x.size(-1);
  const Tensor out = empty(x.shape());
  for (Index i = 0; i < x.numel() / (T * D); ++i)
    put(numbers(part, {T, D}, [&] { return part(matrix(x, i, T, D)); }), out, i);
  return out;
}

}  // namespace

void check_result(const PartInUse& part, const Tensor& result, const Shape& shape) {
  if (!result) refuse(part, "returned an empty Tensor");
  if (result.shape() != shape)
    refuse(part, fmt::format("returned shape {} where {} was due", result.shape().str(), shape.str()));
  if (part.whose == Whose::ours) return;
  Index odd = 0;
  const real* values = result.data();
  for (Index i = 0; i < result.numel(); ++i) odd += values[i] != values[i];
  if (odd) refuse(part, fmt::format("returned NaN ({} of {} numbers)", odd, result.numel()));
}

void check_gradient_flows(const PartInUse& part, const Tensor& from, const Tensor& to) {
  if (grad_enabled() && from.needs_grad() && !to.needs_grad())
    refuse(part,
           "returned a tensor that no gradient flows through (here, add whole tensors with +, not by "
           "loops)");
}

Tensor linear(const Parts& parts, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor y = product(parts, as_rows(x), transpose(weight));  // (N, out)
  if (bias) y = add_row(parts, y, bias);
  return reshape(y, x.shape().with(-1, weight.size(0)));
}

Tensor relu(const Parts& parts, const Tensor& x) {
  return record(attn::relu(x.detach()), "relu", {x}, [&parts, x](const Tensor& y) {
    const Tensor rows = as_rows(x.detach()), gradient = reshape(gradient_of(y), rows.shape());
    add_to_grad(
        x, numbers(parts.relu_backward, rows.shape(), [&] { return parts.relu_backward(rows, gradient); }));
  });
}

Tensor look_up(const Parts& parts, const Tensor& table, const IntTensor& ids) {
  return record(embedding(table.detach(), ids), "look up", {table}, [&parts, table, ids](const Tensor& y) {
    const Tensor gradient = as_rows(gradient_of(y));
    add_to_grad(table, numbers(parts.lookup_backward, table.shape(),
                               [&] { return parts.lookup_backward(ids.values(), gradient, table.size(0)); }));
  });
}

Tensor norm(const Parts& parts, const Tensor& x, const Tensor& gain, const Tensor& bias) {
  const Tensor rows = as_rows(x.detach());
  const Tensor y =
      numbers(parts.normalise, rows.shape(), [&] { return parts.normalise(rows, gain, bias, epsilon); });
  return record(
      reshape(y, x.shape()), "your norm", {x, gain, bias}, [&parts, x, rows, gain, bias](const Tensor& y) {
        const Tensor gradient = as_rows(gradient_of(y));
        add_to_grad(x, numbers(parts.normalise_backward, rows.shape(),
                               [&] { return parts.normalise_backward(rows, gain, gradient, epsilon); }));
        if (!gain.needs_grad()) return;
        const NoGrad no_grad;
        const Index C = gain.size(0);
        const Tensor standard = parts.normalise(rows, ones({C}), zeros({C}), epsilon);
        Tensor to_standard = zeros(rows.shape()), to_gain = zeros(rows.shape());
        parts.mul_backward(standard, broadcast_to(gain, rows.shape()), gradient, to_standard, to_gain);
        const auto summed = [&](const Tensor& each_row) {
          return numbers(parts.broadcast_backward, {C},
                         [&] { return parts.broadcast_backward(each_row, Shape{C}); });
        };
        add_to_grad(gain, summed(to_gain));
        add_to_grad(bias, summed(gradient));
      });
}

Tensor split_heads(const Parts& parts, const Tensor& x, Index heads) {
  const Index B = x.size(0), T = x.size(1), C = x.size(2);
  const Tensor y =
      numbers(parts.split_heads, {B, heads, T, C / heads}, [&] { return parts.split_heads(x, heads); });
  return record(y, "your split", {x}, [&parts, x](const Tensor& y) {
    add_to_grad(x, numbers(parts.merge_heads, x.shape(), [&] { return parts.merge_heads(gradient_of(y)); }));
  });
}

Tensor merge_heads(const Parts& parts, const Tensor& x) {
  const Index B = x.size(0), H = x.size(1), T = x.size(2), D = x.size(3);
  const Tensor y = numbers(parts.merge_heads, {B, T, H * D}, [&] { return parts.merge_heads(x); });
  return record(y, "your merge", {x}, [&parts, x, H](const Tensor& y) {
    add_to_grad(x,
                numbers(parts.split_heads, x.shape(), [&] { return parts.split_heads(gradient_of(y), H); }));
  });
}

Tensor rotate(const Parts& parts, const Tensor& x) {
  return record(each_matrix(parts.rotate_pairs, x), "your rotation", {x}, [&parts, x](const Tensor& y) {
    add_to_grad(x, each_matrix(parts.rotate_back, gradient_of(y)));
  });
}

Attended attend(const Parts& parts, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& visible) {
  const Index B = q.size(0), H = q.size(1), T = q.size(2), S = k.size(2), D = q.size(3);
  const auto seen_by = [&](Index b) { return visible.rank() == 2 ? visible : matrix(visible, b, T, S); };
  const Tensor output = empty(q.shape()), weights = empty({B, H, T, S});
  for (Index b = 0, i = 0; b < B; ++b) {
    const Tensor seen = seen_by(b);
    for (Index h = 0; h < H; ++h, ++i) {
      const Tensor scores =
          numbers(parts.scores, {T, S}, [&] { return parts.scores(matrix(q, i, T, D), matrix(k, i, S, D)); });
      const Tensor shares =
          numbers(parts.masked_softmax, {T, S}, [&] { return parts.masked_softmax(scores, seen); });
      put(shares, weights, i);
      put(numbers(parts.product, {T, D}, [&] { return parts.product(shares, matrix(v, i, S, D)); }), output,
          i);
    }
  }
  record(output, "your attention", {q, k, v}, [&parts, q, k, v, weights, T, S, D](const Tensor& output) {
    const Tensor to_q = empty(q.shape()), to_k = empty(k.shape()), to_v = empty(v.shape());
    const Tensor gradient = gradient_of(output);
    for (Index i = 0; i < weights.numel() / (T * S); ++i) {
      const Tensor shares = matrix(weights, i, T, S), qi = matrix(q, i, T, D), ki = matrix(k, i, S, D);
      const TwoTensors mixing = two_gradients(parts.matmul_backward, {T, S}, {S, D}, [&] {
        return parts.matmul_backward(shares, matrix(v, i, S, D), matrix(gradient, i, T, D));
      });
      const Tensor to_scores = numbers(parts.softmax_backward, {T, S},
                                       [&] { return parts.softmax_backward(shares, mixing.first); });
      const TwoTensors scoring = two_gradients(parts.scores_backward, {T, D}, {S, D},
                                               [&] { return parts.scores_backward(qi, ki, to_scores); });
      put(scoring.first, to_q, i);
      put(scoring.second, to_k, i);
      put(mixing.second, to_v, i);
    }
    add_to_grad(q, to_q);
    add_to_grad(k, to_k);
    add_to_grad(v, to_v);
  });
  return {output, weights};
}

Tensor batch_loss(const Parts& parts, const Tensor& logits, const IntTensor& targets) {
  const Tensor rows = as_rows(logits.detach());
  const std::vector<int> wanted = targets.values();
  return record(scalar(parts.batch_loss(rows, wanted)), "your loss", {logits},
                [&parts, logits, rows, wanted](const Tensor&) {
                  add_to_grad(logits, numbers(parts.batch_loss_backward, rows.shape(),
                                              [&] { return parts.batch_loss_backward(rows, wanted); }));
                });
}

Tensor sentence_loss(const Parts& parts, const Tensor& logits, const IntTensor& targets, real smoothing) {
  const Tensor rows = as_rows(logits.detach());
  const IntTensor wanted({targets.numel()}, targets.values());
  return record(scalar(parts.sentence_loss(rows, wanted, smoothing)), "your loss", {logits},
                [&parts, logits, rows, wanted, smoothing](const Tensor&) {
                  add_to_grad(logits, numbers(parts.sentence_loss_backward, rows.shape(), [&] {
                                return parts.sentence_loss_backward(rows, wanted, smoothing);
                              }));
                });
}

}  // namespace attn::mine
