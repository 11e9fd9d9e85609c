#include "core/ops.hpp"

#include <cmath>    // log, pow, sqrt
#include <utility>  // make_pair

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {
namespace {

// Walks two operands of a broadcast op side by side with its result. Axes are merged as far as both operands
// step evenly over them; what is left is rows in which an operand either moves on with the result (step 1) or
// stands still (step 0).
class Broadcast {
 public:
  Broadcast(const Shape& out, const Shape& a, const Shape& b) {
    Index a_size = 1, b_size = 1;  // elements of a and b to the right of this axis
    for (int i = 1; i <= out.rank(); ++i) {
      const Index size = out.end()[-i];
      const Index a_step = i <= a.rank() && a.end()[-i] > 1 ? a_size : 0,
                  b_step = i <= b.rank() && b.end()[-i] > 1 ? b_size : 0;
      if (a_step) a_size *= size;
      if (b_step) b_size *= size;
      if (size == 1) continue;
      if (rank_ > 0 && axes_[rank_ - 1].continues(a_step, b_step))
        axes_[rank_ - 1].size *= size;
      else
        axes_[rank_++] = {size, a_step, b_step};
    }
    if (rank_ == 0 || out.numel() == 0) {
      axes_[0] = {out.numel(), 0, 0};
      rank_ = 1;
    }
  }

  bool same_shape() const { return rank_ == 1 && axes_[0].a_step == 1 && axes_[0].b_step == 1; }

  // Calls function(i, j, k) for each element i of the result, which comes from elements j of a and k of b.
  template <class Function>
  void for_each(const Function& function) const {
    Index position[Shape::max_rank] = {}, out = 0, a = 0, b = 0;
    const Axis inner = axes_[0];
    if (inner.size == 0) return;
    while (true) {
      for (Index i = 0; i < inner.size; ++i) function(out + i, a + i * inner.a_step, b + i * inner.b_step);
      out += inner.size;
      int axis = 1;
      for (; axis < rank_; ++axis) {
        a += axes_[axis].a_step;
        b += axes_[axis].b_step;
        if (++position[axis] < axes_[axis].size) break;
        a -= axes_[axis].a_step * axes_[axis].size;
        b -= axes_[axis].b_step * axes_[axis].size;
        position[axis] = 0;
      }
      if (axis == rank_) return;
    }
  }

 private:
  struct Axis {
    Index size, a_step, b_step;
    bool continues(Index outer_a, Index outer_b) const {
      return outer_a == a_step * size && outer_b == b_step * size;
    }
  };
  Axis axes_[Shape::max_rank + 1];  // innermost first
  int rank_ = 0;
};

// Adds function(i, j, k) to the gradient of an operand of a broadcast op, the first or the second. Where the
// operand was stretched, one of its elements had a part in several results: their gradients add up.
template <class Function>
void add_broadcast_grad(const Tensor& operand, const Broadcast& broadcast, bool first,
                        const Function& function) {
  if (broadcast.same_shape()) return add_grad(operand, [&](Index i) { return function(i, i, i); });
  real* gradient = zeroed_grad(operand);
  broadcast.for_each([&](Index i, Index j, Index k) { gradient[first ? j : k] += function(i, j, k); });
}

// The name of a binary op, and its kernel for operands of one shape.
struct BinaryOp {
  const char* name;
  void (*kernel)(Index, const real*, const real*, real*);
};

// A binary op given by two functions: f(x, y), and what a gradient g of the result passes on to x and y.
template <class F, class D>
Tensor binary(const BinaryOp& op, const Tensor& a, const Tensor& b, F f, D gradients) {
  const Tensor out =
      empty(a.shape() == b.shape() ? a.shape() : broadcast_shape(op.name, a.shape(), b.shape()));
  const Broadcast broadcast(out.shape(), a.shape(), b.shape());
  const real *x = a.data(), *y = b.data();
  real* z = out.data();
  if (broadcast.same_shape())
    parallel_for(out.numel(), elementwise_grain,
                 [&](Index begin, Index end) { op.kernel(end - begin, x + begin, y + begin, z + begin); });
  else
    broadcast.for_each([&](Index i, Index j, Index k) { z[i] = f(x[j], y[k]); });

  return record(out, op.name, {a, b}, [a, b, gradients](const Tensor& out) {
    const real *x = a.data(), *y = b.data(), *g = grad_data(out);
    const Broadcast broadcast(out.shape(), a.shape(), b.shape());
    const auto dx = [=](Index i, Index j, Index k) { return gradients(x[j], y[k], g[i]).first; };
    const auto dy = [=](Index i, Index j, Index k) { return gradients(x[j], y[k], g[i]).second; };
    if (a.needs_grad()) add_broadcast_grad(a, broadcast, true, dx);
    if (b.needs_grad()) add_broadcast_grad(b, broadcast, false, dy);
  });
}

// A unary op y = f(x), and what a gradient g of y passes on to x: gradient(x, y, g).
template <class F, class D>
Tensor unary(const char* op, const Tensor& x, F f, D gradient) {
  const Tensor y = empty(x.shape());
  const real* from = x.data();
  real* to = y.data();
  parallel_for(x.numel(), elementwise_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) to[i] = f(from[i]);
  });
  return record(y, op, {x}, [x, gradient](const Tensor& y) {
    const real *from = x.data(), *to = y.data(), *g = grad_data(y);
    add_grad(x, [&](Index i) { return gradient(from[i], to[i], g[i]); });
  });
}

constexpr const char* activation_names[] = {"none", "relu", "gelu",    "gelu_tanh",
                                            "silu", "tanh", "sigmoid", "exp"};

// d x^p / dx = p x^(p-1), which is 0 for p = 0 even where x^-1 is not finite.
real power_derivative(real x, real p) { return p == 0 ? real{0} : p * std::pow(x, p - 1); }

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()))
    return binary(
        {"add", kernels().add}, a, b, [](real x, real y) { return x + y; },
        [](real, real, real g) { return std::make_pair(g, g); });
  const Tensor out = empty(a.shape());
  parallel_for(out.numel(), elementwise_grain, [&](Index begin, Index end) {
    kernels().add(end - begin, a.data() + begin, b.data() + begin, out.data() + begin);
  });
  return record(out, "add", {a, b}, [a, b](const Tensor& out) {
    if (a.needs_grad()) pass_grad(out, a);
    if (b.needs_grad()) pass_grad(out, b);
  });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  return binary(
      {"sub", kernels().sub}, a, b, [](real x, real y) { return x - y; },
      [](real, real, real g) { return std::make_pair(g, -g); });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  return binary(
      {"mul", kernels().mul}, a, b, [](real x, real y) { return x * y; },
      [](real x, real y, real g) { return std::make_pair(g * y, g * x); });
}

Tensor div(const Tensor& a, const Tensor& b) {
  return binary(
      {"div", kernels().div}, a, b, [](real x, real y) { return x / y; },
      // -g x / y², without the square: of 1e20 or 1e-25 it is no float
      [](real x, real y, real g) { return std::make_pair(g / y, -g * (x / y / y)); });
}

Tensor add(const Tensor& x, real value) {
  return unary(
      "add", x, [value](real x) { return x + value; }, [](real, real, real g) { return g; });
}

Tensor mul(const Tensor& x, real value) {
  return unary(
      "mul", x, [value](real x) { return x * value; }, [value](real, real, real g) { return g * value; });
}

Tensor div(const Tensor& x, real value) {
  return unary(
      "div", x, [value](real x) { return x / value; }, [value](real, real, real g) { return g / value; });
}

Tensor pow(const Tensor& x, real exponent) {
  return unary(
      "pow", x, [exponent](real x) { return std::pow(x, exponent); },
      [exponent](real x, real, real g) { return g * power_derivative(x, exponent); });
}

Tensor neg(const Tensor& x) {
  return unary(
      "neg", x, [](real x) { return -x; }, [](real, real, real g) { return -g; });
}

Tensor log(const Tensor& x) {
  return unary(
      "log", x, [](real x) { return std::log(x); }, [](real x, real, real g) { return g / x; });
}

Tensor sqrt(const Tensor& x) {
  return unary(
      "sqrt", x, [](real x) { return std::sqrt(x); }, [](real, real y, real g) { return g / (2 * y); });
}

Tensor activate(const Tensor& x, Activation activation) {
  const Shape& shape = x.shape();
  if (activation == Activation::none) return x;
  const Tensor y = empty(shape);
  parallel_for(x.numel(), elementwise_grain, [&](Index begin, Index end) {
    kernels().activate(activation, end - begin, x.data() + begin, y.data() + begin);
  });
  return record(y, activation_names[int(activation)], {x}, [x, activation](const Tensor& y) {
    const GradTarget target = grad_target_over(y, x);
    const real *from = x.data(), *to = y.data(), *g = grad_data(y);
    parallel_for(x.numel(), elementwise_grain, [&](Index begin, Index end) {
      kernels().activate_backward(activation, end - begin, {from + begin, to + begin}, g + begin,
                                  target.from(begin));
    });
  });
}

Tensor exp(const Tensor& x) { return activate(x, Activation::exp); }
Tensor tanh(const Tensor& x) { return activate(x, Activation::tanh); }
Tensor sigmoid(const Tensor& x) { return activate(x, Activation::sigmoid); }
Tensor relu(const Tensor& x) { return activate(x, Activation::relu); }
Tensor silu(const Tensor& x) { return activate(x, Activation::silu); }
Tensor gelu(const Tensor& x, bool tanh_form) {
  return activate(x, tanh_form ? Activation::gelu_tanh : Activation::gelu);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast_shape("where", broadcast_shape("where", a.shape(), b.shape()), condition.shape());
  // A binary op of a and b, with a condition that is stretched to the result.
  const Tensor chosen = broadcast_to(condition.detach(), shape), out = empty(shape);
  const real *c = chosen.data(), *x = a.data(), *y = b.data();
  real* z = out.data();
  Broadcast(shape, a.shape(), b.shape()).for_each([=](Index i, Index j, Index k) {
    z[i] = c[i] != 0 ? x[j] : y[k];
  });
  return record(out, "where", {a, b, chosen}, [a, b, chosen](const Tensor& out) {
    const real *c = chosen.data(), *g = grad_data(out);
    const Broadcast broadcast(out.shape(), a.shape(), b.shape());
    const auto dx = [=](Index i, Index, Index) { return c[i] != 0 ? g[i] : real{0}; };
    const auto dy = [=](Index i, Index, Index) { return c[i] != 0 ? real{0} : g[i]; };
    if (a.needs_grad()) add_broadcast_grad(a, broadcast, true, dx);
    if (b.needs_grad()) add_broadcast_grad(b, broadcast, false, dy);
  });
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!(broadcast_shape("broadcast_to", x.shape(), shape) == shape))
    fail("broadcast_to: {} does not stretch to {}", x.shape().str(), shape.str());
  const Tensor out = empty(shape);
  const Broadcast broadcast(shape, x.shape(), shape);
  broadcast.for_each([&](Index i, Index j, Index) { out.data()[i] = x.data()[j]; });
  return record(out, "broadcast_to", {x}, [x](const Tensor& out) {
    const real* g = grad_data(out);
    const Broadcast broadcast(out.shape(), x.shape(), out.shape());
    add_broadcast_grad(x, broadcast, true, [g](Index i, Index, Index) { return g[i]; });
  });
}

}  // namespace attn
