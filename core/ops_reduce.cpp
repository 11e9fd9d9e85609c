#include "core/ops.hpp"

#include <algorithm>  // count_if, partial_sort
#include <numeric>    // iota
#include <vector>     // vector

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

// A tensor seen as (outer, size, inner) around one axis.
struct AroundAxis {
  Index outer, size, inner;
  Shape reduced;  // the shape without the axis, or with size 1 there

  AroundAxis(const char* op, const Shape& shape, int axis, bool keep_axis) {
    axis = normalize_axis(op, shape, axis);
    size = shape[axis];
    inner = shape.stride(axis);
    outer = 1;
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    reduced = keep_axis ? shape.with(axis, 1) : shape.without(axis);
  }
};

void need_elements(const char* op, const Tensor& x, Index count) {
  if (count == 0) fail("{}: {} has no element to take", op, x.shape().str());
}

// The sum of all elements, or of those along an axis, divided by a number: a sum or a mean.
Tensor divided_sum(const char* op, const Tensor& x, real divisor) {
  const Tensor out = scalar(kernels().sum(x.numel(), x.data()) / divisor);
  return record(out, op, {x}, [x, divisor](const Tensor& out) {
    const real g = grad_data(out)[0] / divisor;
    add_grad(x, [g](Index) { return g; });
  });
}

Tensor divided_sum(const char* op, const Tensor& x, int axis, bool keep_axis, bool average) {
  const AroundAxis around(op, x.shape(), axis, keep_axis);
  if (average) need_elements(op, x, around.size);
  const real divisor = average ? real(around.size) : real{1};
  const Tensor out = zeros(around.reduced);
  for (Index o = 0; o < around.outer; ++o) {
    const real* block = x.data() + o * around.size * around.inner;
    real* sums = out.data() + o * around.inner;
    if (around.inner == 1) {
      sums[0] = kernels().sum(around.size, block);
    } else {
      for (Index i = 0; i < around.size; ++i)
        kernels().add(around.inner, sums, block + i * around.inner, sums);
    }
    for (Index i = 0; average && i < around.inner; ++i) sums[i] /= divisor;
  }
  return record(out, op, {x}, [x, around, divisor](const Tensor& out) {
    real* gradient = zeroed_grad(x);
    for (Index o = 0; o < around.outer; ++o) {
      const real* g = grad_data(out) + o * around.inner;
      real* to = gradient + o * around.size * around.inner;
      if (around.inner == 1) {
        const real share = g[0] / divisor;
        for (Index i = 0; i < around.size; ++i) to[i] += share;
      } else {
        for (Index i = 0; i < around.size; ++i)
          kernels().axpy(around.inner, 1 / divisor, g, to + i * around.inner);
      }
    }
  });
}

// The order of max, argmax and top_k, in which NaN counts as largest.
bool larger(real a, real b) { return a > b || (a != a && b == b); }

// The position along the axis of the first largest element, for each (outer, inner).
IntTensor argmax_of(const Tensor& x, const AroundAxis& around) {
  IntTensor best(around.reduced);
  for (Index o = 0; o < around.outer; ++o)
    for (Index i = 0; i < around.inner; ++i) {
      const real* values = x.data() + o * around.size * around.inner + i;
      Index at = 0;
      for (Index k = 1; k < around.size; ++k)
        if (larger(values[k * around.inner], values[at * around.inner])) at = k;
      best[o * around.inner + i] = int(at);
    }
  return best;
}

using RowOp = void (*)(Range rows, Index cols, const real* x, real* y);
using RowBackward = void (*)(Range rows, Index cols, const real* y, const real* dy, GradTarget dx);

// y = op(x) on each row of the last axis; the gradient is computed from y.
Tensor by_rows(const char* name, const Tensor& x, RowOp op, RowBackward op_backward) {
  if (x.rank() == 0) fail("{}: a scalar has no last axis", name);
  const Tensor y = empty(x.shape());
  const Index cols = x.shape()[-1], rows = cols ? x.numel() / cols : 0;
  parallel_for(rows, row_grain(cols), [&](Index begin, Index end) {
    op({begin, end}, cols, x.data(), y.data());
  });
  return record(y, name, {x}, [=](const Tensor& y) {
    const GradTarget dx = grad_target(x);
    parallel_for(rows, row_grain(cols), [&](Index begin, Index end) {
      op_backward({begin, end}, cols, y.data(), grad_data(y), dx);
    });
  });
}

}  // namespace

Tensor sum(const Tensor& x) { return divided_sum("sum", x, 1); }
Tensor sum(const Tensor& x, int axis, bool keep_axis) {
  return divided_sum("sum", x, axis, keep_axis, false);
}

Tensor mean(const Tensor& x) {
  need_elements("mean", x, x.numel());
  return divided_sum("mean", x, real(x.numel()));
}

Tensor mean(const Tensor& x, int axis, bool keep_axis) {
  return divided_sum("mean", x, axis, keep_axis, true);
}

Tensor max(const Tensor& x) {
  need_elements("max", x, x.numel());
  const real largest = kernels().max(x.numel(), x.data());
  return record(scalar(largest), "max", {x}, [x](const Tensor& out) {
    const auto attains = [largest = out.item()](real value) { return !larger(largest, value); };
    const auto ties = std::count_if(x.data(), x.data() + x.numel(), attains);
    const real share = grad_data(out)[0] / real(ties);
    add_grad(x, [&](Index i) { return attains(x.data()[i]) ? share : real{0}; });
  });
}

Tensor max(const Tensor& x, int axis, bool keep_axis) {
  const AroundAxis around("max", x.shape(), axis, keep_axis);
  need_elements("max", x, around.size);
  const IntTensor best = argmax_of(x, around);
  const Tensor out = empty(around.reduced);
  const auto position = [around](const IntTensor& best, Index i) {
    return (i / around.inner * around.size + best[i]) * around.inner + i % around.inner;
  };
  for (Index i = 0; i < out.numel(); ++i) out.data()[i] = x.data()[position(best, i)];
  return record(out, "max", {x}, [x, best, position](const Tensor& out) {
    real* gradient = zeroed_grad(x);
    for (Index i = 0; i < out.numel(); ++i) gradient[position(best, i)] += grad_data(out)[i];
  });
}

IntTensor argmax(const Tensor& x, int axis) {
  const AroundAxis around("argmax", x.shape(), axis, false);
  need_elements("argmax", x, around.size);
  return argmax_of(x, around);
}

TopK top_k(const Tensor& x, Index k) {
  if (x.rank() == 0) fail("top_k: a scalar has no last axis");
  const Index columns = x.shape()[-1];
  if (k < 0 || k > columns)
    fail("top_k: {} of the {} elements of the last axis of {}", k, columns, x.shape().str());
  const Shape shape = x.shape().with(-1, k);
  TopK top{empty(shape), IntTensor(shape)};
  std::vector<int> order(columns);
  for (Index row = 0; columns && row < x.numel() / columns; ++row) {
    const real* values = x.data() + row * columns;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [values](int i, int j) {
      return larger(values[i], values[j]) || (i < j && !larger(values[j], values[i]));
    });
    for (Index i = 0; i < k; ++i) {
      top.indices[row * k + i] = order[i];
      top.values.data()[row * k + i] = values[order[i]];
    }
  }
  return top;
}

// p_i = exp(x_i - max x) / sum_j exp(x_j - max x);  dx = p (g - g·p)
Tensor softmax(const Tensor& x) {
  return by_rows("softmax", x, kernels().softmax, kernels().softmax_backward);
}

// y = x - log sum exp x;  dx = g - exp(y) sum g
Tensor log_softmax(const Tensor& x) {
  return by_rows("log_softmax", x, kernels().log_softmax, kernels().log_softmax_backward);
}

}  // namespace attn
