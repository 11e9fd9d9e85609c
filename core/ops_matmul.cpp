#include "core/ops.hpp"

#include <algorithm>  // fill
#include <array>      // array

#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

// The matrices of a tensor, one for each product of a batch. A batch axis that the tensor lacks, or in which
// it has size 1, is stretched: the step along it is 0.
template <class Number>
MatricesOf<Number> matrices(Number* data, const Shape& shape, bool transposed, const Shape& batch) {
  const MatrixOf<Number> stored{data, shape[-2], shape[-1]};
  Shape steps = batch;
  for (int i = 1; i <= batch.rank(); ++i)
    steps[-i] = i + 2 <= shape.rank() && shape[-i - 2] > 1 ? shape.stride(-i - 2) : 0;
  return {transposed ? stored.T() : stored, batch, steps};
}

// The gradient of x as the result of a product, or of a batch of them: the first contribution overwrites,
// later ones add. Where x was stretched, a matrix gets the sum of several products.
template <class Result>
struct GradientOf {
  Result matrix;
  bool accumulate;
};
GradientOf<Matrix> gradient(const Tensor& x, Index rows, Index cols) {
  const GradTarget target = grad_target(x);
  return {{target.data, rows, cols}, target.accumulate};
}
GradientOf<Matrices> gradient(const Tensor& x, bool transposed, const Shape& batch) {
  const GradTarget target = grad_target(x);
  const Matrices all = matrices(target.data, x.shape(), transposed, batch);
  const bool sums = all.stretched();
  if (sums && !target.accumulate) std::fill(target.data, target.data + x.numel(), real{0});
  return {all, sums || target.accumulate};
}
template <class Operand, class Result>
void gemm(const Operand& A, const Operand& B, const GradientOf<Result>& dC) {
  gemm(A, B, dC.matrix, {.accumulate = dC.accumulate});
}

std::string describe(const Tensor& a, const Tensor& b, bool ta, bool tb) {
  return fmt::format("{}{} x {}{}", a.shape().str(), ta ? "ᵀ" : "", b.shape().str(), tb ? "ᵀ" : "");
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Transpose transpose) {
  const bool ta = transpose == Transpose::first || transpose == Transpose::both;
  const bool tb = transpose == Transpose::second || transpose == Transpose::both;
  if (a.rank() == 0 || b.rank() == 0) fail("matmul: {}: a scalar is not a matrix", describe(a, b, ta, tb));
  if ((a.rank() == 1 && ta) || (b.rank() == 1 && tb))
    fail("matmul: {}: a vector has no transpose", describe(a, b, ta, tb));
  if (a.rank() == 1) {  // a row: (k) as (1, k), and the axis of size 1 taken out again
    const Tensor out = matmul(reshape(a, a.shape().inserted(0, 1)), b, transpose);
    return reshape(out, out.shape().without(b.rank() == 1 ? 0 : out.rank() - 2));
  }
  if (b.rank() == 1) {  // a column
    const Tensor out = matmul(a, reshape(b, b.shape().inserted(1, 1)), transpose);
    return reshape(out, out.shape().without(out.rank() - 1));
  }

  const Index m = a.shape()[ta ? -1 : -2], k = a.shape()[ta ? -2 : -1];
  const Index n = b.shape()[tb ? -2 : -1], b_k = b.shape()[tb ? -1 : -2];
  if (k != b_k) fail("matmul: {}: inner dimensions differ ({} and {})", describe(a, b, ta, tb), k, b_k);
  // Many matrices times one: stack the rows of a, and it is one product.
  if (a.rank() > 2 && b.rank() == 2 && !ta) {
    const Tensor rows = reshape(a, {k ? a.numel() / k : a.shape().with(-1, 1).numel(), k});
    return reshape(matmul(rows, b, transpose), a.shape().with(-1, n));
  }
  Shape batch;
  try {
    batch = broadcast_shape("matmul", Shape(a.shape().begin(), a.rank() - 2),
                            Shape(b.shape().begin(), b.rank() - 2));
  } catch (const Error&) {  // which knows the batch axes only
    fail("matmul: {}: the batch axes do not broadcast", describe(a, b, ta, tb));
  }
  const Tensor out = empty(batch.inserted(batch.rank(), m).inserted(batch.rank() + 1, n));
  gemm(matrices(a.data(), a.shape(), ta, batch), matrices(b.data(), b.shape(), tb, batch),
       matrices(out.data(), out.shape(), false, batch));

  // C = A B:  dA = dC Bᵀ,  dB = Aᵀ dC.
  return record(out, "matmul", {a, b}, [=](const Tensor& out) {
    const ConstMatrices A = matrices(a.data(), a.shape(), ta, batch);
    const ConstMatrices B = matrices(b.data(), b.shape(), tb, batch);
    const ConstMatrices dC = matrices(grad_data(out), out.shape(), false, batch);
    if (a.needs_grad()) gemm(dC, B.T(), gradient(a, ta, batch));
    if (b.needs_grad()) gemm(A.T(), dC, gradient(b, tb, batch));
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
              const Dropping& dropping) {
  if (dropping.p != 0 && !dropping.rng) fail("linear: dropout needs a random generator");
  if (dropping.p != 0 && activation != Activation::none && activation != Activation::relu)
    return dropout(linear(x, weight, bias, activation), dropping.p, *dropping.rng);
  if (x.rank() == 0 || weight.rank() != 2 || x.shape()[-1] != weight.shape()[1])
    fail("linear: x {} does not fit the weight {}, which is (out,in)", x.shape().str(), weight.shape().str());
  const Index out = weight.shape()[0], in = weight.shape()[1], rows = x.shape().with(-1, 1).numel();
  if (bias && !(bias.shape() == Shape{out}))
    fail("linear: the bias {} does not fit the weight {}", bias.shape().str(), weight.shape().str());
  const Tensor y = empty(x.shape().with(-1, out));
  // relu's derivative can be computed from its output; the others need their input.
  const bool keep_input = activation != Activation::none && activation != Activation::relu && grad_enabled();
  const Tensor before = keep_input ? empty(y.shape()) : Tensor();
  const Dropout drop = dropping.p != 0 ? draw_dropout(dropping.p, rows * out, *dropping.rng) : Dropout{};
  gemm(ConstMatrix{x.data(), rows, in}, ConstMatrix{weight.data(), out, in}.T(), Matrix{y.data(), rows, out},
       {.bias = bias ? bias.data() : nullptr,
        .activation = activation,
        .before_activation = keep_input ? before.data() : nullptr,
        .dropout = drop});

  // Y = X Wᵀ + b, then activation and dropout:  dX = dY W,  dW = dYᵀ X,  db = the sum of the rows of dY.
  return record(y, "linear", {x, weight, bias}, [=](const Tensor& y) {
    const bool drops = drop.threshold > 0, undoes = drops || activation != Activation::none;
    const bool sums = bias && bias.needs_grad();
    real* own = own_grad(y);
    Scratch<real> scratch(undoes && !own ? rows * out : 0);
    real* undone = own ? own : scratch.data();  // the gradient before activation and dropout
    const real* dy = undoes ? undone : grad_data(y);
    const auto undo = [&](Range part) {
      const Index first = part.begin * out, n = (part.end - part.begin) * out;
      const Points at{(before ? before.data() : y.data()) + first, y.data() + first};
      const real* from = grad_data(y) + first;
      const GradTarget to{undone + first, false};
      if (!drops)
        kernels().activate_backward(activation, n, at, from, to);
      else if (activation == Activation::relu)
        kernels().relu_dropout_backward(n, drop.scale, at.y, from, to);
      else
        kernels().dropout_backward(n, drop.scale, at.y, from, to);
    };
    if (undoes || sums) {
      const std::array totals{sums ? grad_target(bias) : GradTarget{}};
      sum_over_rows(rows, out, totals, [&](Range part, const auto& sum) {
        if (undoes) undo(part);
        if (sums) kernels().column_sum(part, out, dy, sum[0]);
      });
    }
    const ConstMatrix X{x.data(), rows, in}, W{weight.data(), out, in}, dY{dy, rows, out};
    if (x.needs_grad()) gemm(dY, W, gradient(x, rows, in));
    if (weight.needs_grad()) gemm(dY.T(), X, gradient(weight, out, in));
  });
}

}  // namespace attn
