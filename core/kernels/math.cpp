// Element by element: activations, arithmetic, sums, dropout.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"
#include "core/kernels/philox.hpp"

namespace attn::ATTN_TARGET {
namespace {

template <class F>
void apply(Index n, const real* x, real* y) {
  over(n, [=](Index i, auto part) { part.store(y + i, F().value(part.load(x + i))); });
}
template <class F>
void apply_backward(Index n, Points at, const real* dy, GradTarget dx) {
  into(dx, [=](auto put) {
    over(n, [&](Index i, auto part) {
      put(i, part, part.load(dy + i) * F().derivative(part.load(at.x + i), part.load(at.y + i)));
    });
  });
}

struct ActivationKernels {
  decltype(&apply<Relu>) forward;
  decltype(&apply_backward<Relu>) backward;
};
template <class F>
constexpr ActivationKernels kernels_of = {apply<F>, apply_backward<F>};
// In the order of the enumeration.
constexpr ActivationKernels activations[] = {kernels_of<Identity>, kernels_of<Relu>, kernels_of<Gelu>,
                                             kernels_of<GeluTanh>, kernels_of<Silu>, kernels_of<Tanh>,
                                             kernels_of<Sigmoid>,  kernels_of<Exp>};

void activate(Activation f, Index n, const real* x, real* y) { activations[int(f)].forward(n, x, y); }
void activate_backward(Activation f, Index n, Points at, const real* dy, GradTarget dx) {
  activations[int(f)].backward(n, at, dy, dx);
}

template <class Function>
ATTN_INLINE void map(Index n, const real* a, const real* b, real* c, const Function& function) {
  over(n, [&](Index i, auto part) { part.store(c + i, function(part.load(a + i), part.load(b + i))); });
}

void add(Index n, const real* a, const real* b, real* c) {
  map(n, a, b, c, [](const vec& u, const vec& v) { return u + v; });
}
void sub(Index n, const real* a, const real* b, real* c) {
  map(n, a, b, c, [](const vec& u, const vec& v) { return u - v; });
}
void mul(Index n, const real* a, const real* b, real* c) {
  map(n, a, b, c, [](const vec& u, const vec& v) { return u * v; });
}
void div(Index n, const real* a, const real* b, real* c) {
  map(n, a, b, c, [](const vec& u, const vec& v) { return u / v; });
}
void scale(Index n, real alpha, const real* x, real* y) {
  over(n, [=](Index i, auto part) { part.store(y + i, alpha * part.load(x + i)); });
}
void axpy(Index n, real alpha, const real* x, real* y) {
  map(n, x, y, y, [alpha](const vec& u, const vec& v) { return alpha * u + v; });
}

real sum(Index n, const real* x) {
  return sum_all(n, [x](Index i, auto part) { return part.load(x + i); })[0];
}
real dot(Index n, const real* x, const real* y) {
  return sum_all(n, [=](Index i, auto part) { return part.load(x + i) * part.load(y + i); })[0];
}

// max_over passes over NaNs, so they are looked for separately.
real largest(Index n, const real* x) {
  ivec is_nan = {};
  over(n, [&](Index i, auto part) {
    const vec v = part.load(x + i);
    is_nan |= v != v;
  });
  const vec nan = select(is_nan, splat(__builtin_nan("")), vec{});
  return (max_over(n, x, -infinity) + sum_lanes(nan))[0];
}

typedef std::uint16_t draws_per_vec __attribute__((vector_size(lanes * 2)));
typedef draws_per_vec unaligned_draws __attribute__((aligned(2), may_alias));

// Random words are made some blocks at a time on the stack, from the block that the position lies in.
template <class F>
void dropout_of(Index n, const Dropout& dropout, const real* x, real* y) {
  constexpr Index most = 384;
  static_assert(most % (3 * philox_words) == 0);
  alignas(64) std::uint32_t words[most + lanes];  // the last vector may be read beyond the words
  const PhiloxKeys keys(dropout.key);
  const ureal threshold = dropout.threshold;
  const real scale = dropout.scale;
  for (Index first = 0, count; first < n; first += count) {
    const std::uint64_t position = dropout.position + std::uint64_t(first);
    const Index skip = Index(position % 8);
    count = min(n - first, 2 * most - skip);
    philox_fill(keys, position / 8, (skip + count + 1) / 2, words);
    const char* const draws = reinterpret_cast<const char*>(words) + 2 * skip;
    over(count, [&](Index i, auto part) {
      const draws_per_vec bits = *reinterpret_cast<const unaligned_draws*>(draws + 2 * i);
      const ivec low = __builtin_convertvector(bits, uvec) < threshold;
      const vec kept = F().value(part.load(x + first + i)) * scale + real(0);  // -0 + 0 = 0
      part.store(y + first + i, select(low, -vec{}, kept));
    });
  }
}
void dropout_backward(Index n, real scale, const real* y, const real* dy, GradTarget dx) {
  into(dx, [&](auto put) {
    over(n, [&](Index i, auto part) {
      put(i, part, select(dropped(part.load(y + i)), vec{}, part.load(dy + i) * scale));
    });
  });
}

void relu_dropout_backward(Index n, real scale, const real* y, const real* dy, GradTarget dx) {
  into(dx, [&](auto put) {
    over(n, [&](Index i, auto part) {
      put(i, part, select(part.load(y + i) <= real(0), vec{}, part.load(dy + i) * scale));
    });
  });
}

// The empty asm keeps the compiler from merging or dropping what nobody reads.
double burn(Index steps) {
  constexpr int sums = vector_bytes == 64 ? 24 : 12;
  vec sum[sums] = {};
  const vec x = splat(real(0.999)), y = splat(real(0.001));
  for (Index s = 0; s < steps; ++s) {
#pragma GCC unroll 32
    for (int i = 0; i < sums; ++i) {
      sum[i] = fma(sum[i], x, y);
#ifndef __wasm__  // which has no registers to name
      asm volatile("" : "+v"(sum[i]));
#endif
    }
  }
  return 2.0 * double(steps) * sums * lanes;
}

}  // namespace

MathKernels math_kernels() {
  return {.activate = activate,
          .activate_backward = activate_backward,
          .add = add,
          .sub = sub,
          .mul = mul,
          .div = div,
          .scale = scale,
          .axpy = axpy,
          .sum = sum,
          .dot = dot,
          .max = largest,
          .dropout = dropout_of<Identity>,
          .dropout_backward = dropout_backward,
          .relu_dropout = dropout_of<Relu>,
          .relu_dropout_backward = relu_dropout_backward,
          .burn = burn};
}

}  // namespace attn::ATTN_TARGET
