// Element by element: activations, arithmetic, sums, dropout.
#include "core/kernels.hpp"
#include "core/kernels/functions.hpp"
#include "core/kernels/philox.hpp"

namespace attn::ATTN_TARGET {
namespace {

template <class Function>
ATTN_INLINE void map(Index n, const real* x, real* y, const Function& function) {
  over(n, [&](Index i, auto part) { part.store(y + i, function(part.load(x + i))); });
}

template <class Function>
ATTN_INLINE void map(Index n, const real* a, const real* b, real* c, const Function& function) {
  over(n, [&](Index i, auto part) { part.store(c + i, function(part.load(a + i), part.load(b + i))); });
}

void activate(Activation f, Index n, const real* x, real* y) {
  switch (f) {
    case Activation::none:
      return map(n, x, y, [](const vec& v) { return v; });
    case Activation::relu:
      return map(n, x, y, [](const vec& v) { return relu(v); });
    case Activation::gelu:
      return map(n, x, y, [](const vec& v) { return gelu(v); });
    case Activation::gelu_tanh:
      return map(n, x, y, [](const vec& v) { return gelu_tanh(v); });
    case Activation::silu:
      return map(n, x, y, [](const vec& v) { return silu(v); });
    case Activation::tanh:
      return map(n, x, y, [](const vec& v) { return tanh(v); });
    case Activation::sigmoid:
      return map(n, x, y, [](const vec& v) { return sigmoid(v); });
    case Activation::exp:
      return map(n, x, y, [](const vec& v) { return exp(v); });
  }
}

// dx (+)= dy * derivative(from), where `from` is x or y = f(x), whichever is the simpler.
template <class Derivative>
ATTN_INLINE void chain(Index n, const real* from, const real* dy, real* dx, bool accumulate,
                       const Derivative& derivative) {
  if (accumulate) {
    over(n, [&](Index i, auto part) {
      part.store(dx + i, fma(part.load(dy + i), derivative(part.load(from + i)), part.load(dx + i)));
    });
  } else {
    over(n, [&](Index i, auto part) {
      part.store(dx + i, part.load(dy + i) * derivative(part.load(from + i)));
    });
  }
}

void activate_backward(Activation f, Index n, const real* x, const real* y, const real* dy, real* dx,
                       bool accumulate) {
  switch (f) {
    case Activation::none:
      return chain(n, dy, dy, dx, accumulate, [](const vec&) { return splat(1); });
    case Activation::relu:
      return chain(n, y, dy, dx, accumulate, [](const vec& v) { return relu_derivative(v); });
    case Activation::gelu:
      return chain(n, x, dy, dx, accumulate, [](const vec& v) { return gelu_derivative(v); });
    case Activation::gelu_tanh:
      return chain(n, x, dy, dx, accumulate, [](const vec& v) { return gelu_tanh_derivative(v); });
    case Activation::silu:
      return chain(n, x, dy, dx, accumulate, [](const vec& v) { return silu_derivative(v); });
    case Activation::tanh:
      return chain(n, y, dy, dx, accumulate, [](const vec& v) { return one - v * v; });
    case Activation::sigmoid:
      return chain(n, y, dy, dx, accumulate, [](const vec& v) { return v - v * v; });
    case Activation::exp:
      return chain(n, y, dy, dx, accumulate, [](const vec& v) { return v; });
  }
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
void add_product(Index n, const real* a, const real* b, real* c) {
  over(n, [&](Index i, auto part) {
    part.store(c + i, fma(part.load(a + i), part.load(b + i), part.load(c + i)));
  });
}
void scale(Index n, real alpha, const real* x, real* y) {
  map(n, x, y, [alpha](const vec& v) { return alpha * v; });
}
void axpy(Index n, real alpha, const real* x, real* y) {
  map(n, x, y, y, [alpha](const vec& u, const vec& v) { return alpha * u + v; });
}

real sum(Index n, const real* x) {
  return sum_lanes(sum_over(n, [x](Index i, auto part) { return part.load(x + i); }))[0];
}
real dot(Index n, const real* x, const real* y) {
  return sum_lanes(
      sum_over(n, [x, y](Index i, auto part) { return part.load(x + i) * part.load(y + i); }))[0];
}

// max_over passes over NaNs, so those are looked for apart.
real max(Index n, const real* x) {
  ivec is_nan = {};
  over(n, [&](Index i, auto part) {
    const vec v = part.load(x + i);
    is_nan |= v != v;
  });
  const vec nan = select(is_nan, splat(__builtin_nan("")), vec{});
  return (max_over(n, x, -infinity) + sum_lanes(nan))[0];
}

// Random words are made some blocks at a time on the stack: from the block that the counter lies in.
constexpr Index words_at_a_time = 384;
static_assert(words_at_a_time % (3 * philox_words) == 0);

// Calls use(first, count, words): `words` are those of elements first … first + count - 1, and may be
// read up to a vector further.
template <class Use>
ATTN_INLINE void with_philox(Index n, std::uint64_t key, std::uint64_t counter, const Use& use) {
  alignas(64) std::uint32_t words[words_at_a_time + lanes];
  const PhiloxKeys keys(key);
  for (Index first = 0; first < n;) {
    const Index skip = Index(counter % 4), left = n - first;
    const Index count = left < words_at_a_time - skip ? left : words_at_a_time - skip;
    philox_fill(keys, counter / 4, skip + count, words);
    use(first, count, words + skip);
    first += count;
    counter += std::uint64_t(count);
  }
}

void philox(Index n, std::uint32_t* out, std::uint64_t key, std::uint64_t counter) {
  with_philox(n, key, counter, [out](Index first, Index count, const std::uint32_t* words) {
    __builtin_memcpy(out + first, words, std::size_t(count) * sizeof(std::uint32_t));
  });
}

typedef std::uint32_t words_per_vec __attribute__((vector_size(lanes * 4)));
typedef words_per_vec unaligned_words __attribute__((aligned(4), may_alias));

template <bool accumulate>
ATTN_INLINE void drop(Index n, const real* x, real* y, std::uint32_t threshold, real scale, std::uint64_t key,
                      std::uint64_t counter) {
  with_philox(n, key, counter, [&](Index first, Index count, const std::uint32_t* words) {
    over(count, [&](Index i, auto part) {
      const words_per_vec bits = *reinterpret_cast<const unaligned_words*>(words + i);
      const ivec dropped = __builtin_convertvector(bits, uvec) < ureal(threshold);
      const vec kept = select(dropped, vec{}, part.load(x + first + i) * scale);
      part.store(y + first + i, accumulate ? part.load(y + first + i) + kept : kept);
    });
  });
}

void dropout(Index n, const real* x, real* y, std::uint32_t threshold, real scale, std::uint64_t key,
             std::uint64_t counter, bool accumulate) {
  if (accumulate) {
    drop<true>(n, x, y, threshold, scale, key, counter);
  } else {
    drop<false>(n, x, y, threshold, scale, key, counter);
  }
}

}  // namespace

MathKernels math_kernels() {
  return {.activate = activate,
          .activate_backward = activate_backward,
          .add = add,
          .sub = sub,
          .mul = mul,
          .div = div,
          .add_product = add_product,
          .scale = scale,
          .axpy = axpy,
          .sum = sum,
          .dot = dot,
          .max = max,
          .dropout = dropout,
          .philox = philox};
}

}  // namespace attn::ATTN_TARGET
