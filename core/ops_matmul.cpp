#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/op.hpp"
#include "core/ops.hpp"

namespace attn {
namespace {

// The products of a batched matmul: which matrix of a, of b and of the result belong together. A batch axis
// of size 1, or one that is missing, is stretched: its matrix takes part in several products.
struct Batch {
  Shape shape;  // of the batch axes of the result
  Index count;
  bool a_stretched, b_stretched;

  Batch(const Shape& a, const Shape& b, const Shape& out) : shape(out.begin(), out.rank() - 2) {
    count = shape.numel();
    a_stretched = Shape(a.begin(), a.rank() - 2).numel() != count;
    b_stretched = Shape(b.begin(), b.rank() - 2).numel() != count;
  }

  // Offsets of the matrices of an operand of shape `operand`, one for each product.
  void offsets(const Shape& operand, Index* out) const {
    const int extra = shape.rank() - (operand.rank() - 2);
    const Index matrix = operand.rank() >= 2 ? operand[-1] * operand[-2] : 0;
    for (Index i = 0; i < count; ++i) {
      Index rest = i, offset = 0, step = matrix;
      for (int axis = shape.rank() - 1; axis >= extra; --axis) {
        const Index size = operand[axis - extra];
        if (size > 1) offset += rest % shape[axis] * step;
        step *= size;
        rest /= shape[axis];
      }
      out[i] = offset;
    }
  }
};

// All products of a batch. Where several add to one matrix of the result (the gradient of a stretched
// operand), they run one after another.
void multiply(Gemm gemm_shape, const Batch& batch, const Shape& a_shape, const real* a, const Shape& b_shape,
              const real* b, const Shape& c_shape, real* c, bool c_stretched, bool accumulate) {
  Scratch<Index> offsets(3 * batch.count);
  Index *a_offset = offsets.data(), *b_offset = a_offset + batch.count, *c_offset = b_offset + batch.count;
  batch.offsets(a_shape, a_offset);
  batch.offsets(b_shape, b_offset);
  batch.offsets(c_shape, c_offset);
  gemm_shape.accumulate = accumulate || c_stretched;
  if (c_stretched) {
    if (!accumulate) std::fill(c, c + c_shape.numel(), real{0});
    for (Index i = 0; i < batch.count; ++i)
      gemm(gemm_shape, a + a_offset[i], b + b_offset[i], c + c_offset[i]);
  } else if (batch.count == 1) {
    gemm(gemm_shape, a, b, c);
  } else {
    gemm_batched(gemm_shape, batch.count, a, a_offset, b, b_offset, c, c_offset);
  }
}

Gemm gemm_of(Index m, Index n, Index k, Index lda, bool transpose_a, Index ldb, bool transpose_b, Index ldc) {
  Gemm shape;
  shape.m = m, shape.n = n, shape.k = k;
  shape.lda = lda, shape.ldb = ldb, shape.ldc = ldc;
  shape.transpose_a = transpose_a, shape.transpose_b = transpose_b;
  return shape;
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
  Shape batch_shape;
  try {
    batch_shape = broadcast_shape("matmul", Shape(a.shape().begin(), a.rank() - 2),
                                  Shape(b.shape().begin(), b.rank() - 2));
  } catch (const Error&) {  // which knows the batch axes only
    fail("matmul: {}: the batch axes do not broadcast", describe(a, b, ta, tb));
  }
  const Tensor out = empty(batch_shape.inserted(batch_shape.rank(), m).inserted(batch_shape.rank() + 1, n));
  const Batch batch(a.shape(), b.shape(), out.shape());
  const Index lda = a.shape()[-1], ldb = b.shape()[-1];
  multiply(gemm_of(m, n, k, lda, ta, ldb, tb, n), batch, a.shape(), a.data(), b.shape(), b.data(),
           out.shape(), out.data(), false, false);

  // C = A B:  dA = dC Bᵀ, dB = Aᵀ dC; for an operand that is stored transposed, the transpose of that.
  return record(out, "matmul", {a, b}, [=](const Tensor& out) {
    const Batch batch(a.shape(), b.shape(), out.shape());
    const real* g = grad_data(out);
    if (a.needs_grad()) {
      const GradTarget target = grad_target(a);
      if (ta)
        multiply(gemm_of(k, m, n, ldb, tb, n, true, lda), batch, b.shape(), b.data(), out.shape(), g,
                 a.shape(), target.data, batch.a_stretched, target.accumulate);
      else
        multiply(gemm_of(m, k, n, n, false, ldb, !tb, lda), batch, out.shape(), g, b.shape(), b.data(),
                 a.shape(), target.data, batch.a_stretched, target.accumulate);
    }
    if (b.needs_grad()) {
      const GradTarget target = grad_target(b);
      if (tb)
        multiply(gemm_of(n, k, m, n, true, lda, ta, ldb), batch, out.shape(), g, a.shape(), a.data(),
                 b.shape(), target.data, batch.b_stretched, target.accumulate);
      else
        multiply(gemm_of(k, n, m, lda, !ta, n, false, ldb), batch, a.shape(), a.data(), out.shape(), g,
                 b.shape(), target.data, batch.b_stretched, target.accumulate);
    }
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  if (x.rank() == 0 || weight.rank() != 2 || x.shape()[-1] != weight.shape()[1])
    fail("linear: x {} does not fit the weight {}, which is (out,in)", x.shape().str(), weight.shape().str());
  const Index out_size = weight.shape()[0], in_size = weight.shape()[1];
  if (bias && !(bias.shape() == Shape{out_size}))
    fail("linear: the bias {} does not fit the weight {}", bias.shape().str(), weight.shape().str());
  const Index rows = x.shape().with(-1, 1).numel();
  const Tensor y = empty(x.shape().with(-1, out_size));

  // relu's derivative can be told from its result; the others need what went in.
  const bool keep_input = activation != Activation::none && activation != Activation::relu && grad_enabled();
  const Tensor before = keep_input ? empty(y.shape()) : y;
  Gemm shape = gemm_of(rows, out_size, in_size, in_size, false, in_size, true, out_size);
  shape.bias = bias ? bias.data() : nullptr;
  shape.activation = activation;
  shape.before_activation = keep_input ? before.data() : nullptr;
  gemm(shape, x.data(), weight.data(), y.data());

  const Tensor saved = keep_input ? before : Tensor();
  return record(y, "linear", {x, weight, bias}, [=](const Tensor& y) {
    const real* g = grad_data(y);  // (rows, out): the gradient after the activation, then before it
    const bool active = activation != Activation::none;
    Scratch<real> scratch(active ? rows * out_size : 0);
    if (active) {
      const real* inputs = saved ? saved.data() : y.data();
      parallel_for(rows * out_size, elementwise_grain, [&](Index begin, Index end) {
        kernels().activate_backward(activation, end - begin, inputs + begin, y.data() + begin, g + begin,
                                    scratch.data() + begin, false);
      });
      g = scratch.data();
    }
    if (x.needs_grad()) {  // dx = g W
      const GradTarget target = grad_target(x);
      Gemm shape = gemm_of(rows, in_size, out_size, out_size, false, in_size, false, in_size);
      shape.accumulate = target.accumulate;
      gemm(shape, g, weight.data(), target.data);
    }
    if (weight.needs_grad()) {  // dW = gᵀ x
      const GradTarget target = grad_target(weight);
      Gemm shape = gemm_of(out_size, in_size, rows, out_size, true, in_size, false, in_size);
      shape.accumulate = target.accumulate;
      gemm(shape, g, x.data(), target.data);
    }
    if (bias && bias.needs_grad()) {  // db = sum of the rows of g
      const GradTarget target = grad_target(bias);
      parallel_for(out_size, std::max<Index>(16, row_grain(rows)), [&](Index begin, Index end) {
        kernels().column_sum(rows, out_size, begin, end, g, target.data, target.accumulate);
      });
    }
  });
}

}  // namespace attn
