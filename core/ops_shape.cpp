#include "core/ops.hpp"

#include <algorithm>  // copy, min
#include <iterator>   // ssize
#include <utility>    // swap
#include <vector>     // vector

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

struct Axes {
  int to[Shape::max_rank];  // axis i of the result is axis to[i] of the input
};

// Visits the elements of a permuted tensor in its own order, as runs along its last axis:
// run(position in the result, position in the input, count, step in the input).
template <class Run>
void for_each_run(const Shape& in, const Shape& out, const Axes& axes, const Run& run) {
  const int rank = out.rank();
  if (out.numel() == 0) return;
  if (rank == 0) return run(Index{0}, Index{0}, Index{1}, Index{1});
  Index steps[Shape::max_rank], position[Shape::max_rank] = {}, from = 0;
  for (int i = 0; i < rank; ++i) steps[i] = in.stride(axes.to[i]);
  const Index count = out[-1], step = steps[rank - 1];
  for (Index to = 0; to < out.numel(); to += count) {
    run(to, from, count, step);
    for (int axis = rank - 2; axis >= 0; --axis) {
      from += steps[axis];
      if (++position[axis] < out[axis]) break;
      from -= steps[axis] * out[axis];
      position[axis] = 0;
    }
  }
}

Tensor permute_axes(const char* op, const Tensor& x, const Axes& axes) {
  Shape shape = x.shape();
  for (int i = 0; i < x.rank(); ++i) shape[i] = x.shape()[axes.to[i]];
  const Tensor out = empty(shape);
  for_each_run(x.shape(), shape, axes, [&](Index to, Index from, Index count, Index step) {
    for (Index i = 0; i < count; ++i) out.data()[to + i] = x.data()[from + i * step];
  });
  return record(out, op, {x}, [x, axes](const Tensor& out) {
    const GradTarget target = grad_target(x);
    const real* g = grad_data(out);
    for_each_run(x.shape(), out.shape(), axes, [&](Index to, Index from, Index count, Index step) {
      for (Index i = 0; i < count; ++i) {
        real& element = target.data[from + i * step];
        element = target.accumulate ? element + g[to + i] : g[to + i];
      }
    });
  });
}

}  // namespace

Tensor transpose(const Tensor& x, int axis0, int axis1) {
  axis0 = normalize_axis("transpose", x.shape(), axis0);
  axis1 = normalize_axis("transpose", x.shape(), axis1);
  Axes axes;
  for (int i = 0; i < x.rank(); ++i) axes.to[i] = i;
  std::swap(axes.to[axis0], axes.to[axis1]);
  return permute_axes("transpose", x, axes);
}

Tensor permute(const Tensor& x, std::span<const int> order) {
  if (std::ssize(order) != x.rank())
    fail("permute: {} axes given for a tensor of shape {}", order.size(), x.shape().str());
  Axes axes;
  bool taken[Shape::max_rank] = {};
  int i = 0;
  for (const int axis : order) {
    const int from = normalize_axis("permute", x.shape(), axis);
    if (taken[from]) fail("permute: axis {} of {} is named twice", axis, x.shape().str());
    taken[from] = true;
    axes.to[i++] = from;
  }
  return permute_axes("permute", x, axes);
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) fail("concat: no tensors given");
  const Shape& first = parts[0].shape();
  axis = normalize_axis("concat", first, axis);
  Shape shape = first.with(axis, 0);
  for (const Tensor& part : parts) {
    if (part.rank() != first.rank() || !(part.shape().with(axis, 0) == first.with(axis, 0)))
      fail("concat: {} and {} differ in more than axis {}", first.str(), part.shape().str(), axis);
    shape[axis] += part.shape()[axis];
  }
  // Each part is, for every outer index, one run of numbers in the result.
  const Tensor out = empty(shape);
  const Index row = shape[axis] * shape.stride(axis), outer = row ? shape.numel() / row : 0;
  Index offset = 0;
  for (const Tensor& part : parts) {
    const Index run = part.shape()[axis] * shape.stride(axis);
    for (Index o = 0; o < outer; ++o)
      std::copy(part.data() + o * run, part.data() + (o + 1) * run, out.data() + o * row + offset);
    offset += run;
  }
  return record(out, "concat", parts, [parts, axis, row, outer](const Tensor& out) {
    Index offset = 0;
    for (const Tensor& part : parts) {
      const Index run = part.shape()[axis] * part.shape().stride(axis);
      const real* g = grad_data(out) + offset;
      offset += run;
      if (!part.needs_grad() || outer == 0) continue;
      add_grad(part, [=](Index i) { return g[i / run * row + i % run]; });
    }
  });
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) fail("stack: no tensors given");
  const Shape& first = parts[0].shape();
  axis = normalize_axis("stack", first.inserted(0, 1), axis);
  std::vector<Tensor> thick;
  for (const Tensor& part : parts) {
    if (!(part.shape() == first))
      fail("stack: {} and {} are not the same shape", first.str(), part.shape().str());
    thick.push_back(reshape(part, first.inserted(axis, 1)));
  }
  return concat(thick, axis);
}

Tensor slice(const Tensor& x, int axis, Index begin, Index end) {
  axis = normalize_axis("slice", x.shape(), axis);
  const Index size = x.shape()[axis];
  const Range given{begin, end};
  if (begin < 0) begin += size;
  if (end < 0) end += size;
  if (begin < 0 || end < begin || end > size)
    fail("slice: [{}, {}) is outside axis {} of {}, which has size {}", given.begin, given.end, axis,
         x.shape().str(), size);
  const Tensor out = empty(x.shape().with(axis, end - begin));
  const Index inner = x.shape().stride(axis), run = (end - begin) * inner;
  const Index outer = run ? out.numel() / run : 0;
  for (Index o = 0; o < outer; ++o) {
    const real* from = x.data() + (o * size + begin) * inner;
    std::copy(from, from + run, out.data() + o * run);
  }
  return record(out, "slice", {x}, [x, size, begin, inner, run, outer](const Tensor& out) {
    real* gradient = zeroed_grad(x);
    for (Index o = 0; o < outer; ++o) {
      real* to = gradient + (o * size + begin) * inner;
      kernels().add(run, to, grad_data(out) + o * run, to);
    }
  });
}

Tensor select(const Tensor& x, int axis, Index i) {
  axis = normalize_axis("select", x.shape(), axis);
  const Index size = x.shape()[axis];
  if (i < -size || i >= size)
    fail("select: index {} is outside axis {} of {}, which has size {}", i, axis, x.shape().str(), size);
  if (i < 0) i += size;
  const Tensor one = slice(x, axis, i, i + 1);
  return reshape(one, one.shape().without(axis));
}

std::vector<Tensor> split(const Tensor& x, Index size, int axis) {
  axis = normalize_axis("split", x.shape(), axis);
  if (size < 1) fail("split: parts of size {} of {}", size, x.shape().str());
  std::vector<Tensor> parts;
  for (Index begin = 0; begin < x.shape()[axis]; begin += size)
    parts.push_back(slice(x, axis, begin, std::min(begin + size, x.shape()[axis])));
  return parts;
}

}  // namespace attn
