// exp, tanh and the activations with their derivatives, on vectors.
//
// In float they are polynomials of our own, without branches and without tables. The error bounds below were
// measured against double over the whole range and are checked by tests/unit/core/kernels_test.cpp (1 ulp =
// 2^-23 relative). Each function takes its limit at +inf and -inf, and NaN gives NaN. In the double build,
// where exactness matters and speed does not, the C library computes them lane by lane.
//
//   exp        1.25 ulp           0 below -87.3365, where e^x is no longer normal; +inf above 88.7228
//   tanh       3 ulp
//   sigmoid    3 ulp              1 / (1 + e^-x)
//   silu       3 ulp              x sigmoid(x)
//   gelu       9 + x^2/2 ulp      x times the share of the normal distribution below x
//   gelu_tanh  10 + |x|^3/3 ulp   the approximation of gelu that GPT-2 uses
//
// Results below 1e-36 in magnitude may be 0. The last two bounds grow with the argument of an exp; they
// matter for x < 0 only, where the value itself shrinks far faster.
//
// Note [Fitting]
// The coefficients minimise the largest relative error on the interval (Lawson's method: a least-squares fit
// at 400 Chebyshev points in 113-bit arithmetic, repeated with each point's weight multiplied by its error
// until the errors level out), and were then rounded to float.
#pragma once

#include "core/kernels/loops.hpp"

namespace attn::ATTN_TARGET {

ATTN_INLINE vec abs(const vec& x) { return (vec)((uvec)x & ~(ureal(1) << (8 * sizeof(real) - 1))); }

// Where dropout left -0.
ATTN_INLINE ivec dropped(const vec& y) { return (uvec)y == ureal(1) << (8 * sizeof(real) - 1); }

// Into [low, high]; NaN stays NaN, as a comparison with it is false.
ATTN_INLINE vec clamp(const vec& x, real low, real high) { return min(splat(high), max(splat(low), x)); }

template <class Function>
ATTN_INLINE vec each_lane(const vec& x, const Function& function) {
  vec y = x;
  for (int i = 0; i < lanes; ++i) y[i] = function(x[i]);
  return y;
}

ATTN_INLINE real sqrt(real x) {
  return real(sizeof(real) == 4 ? __builtin_sqrtf(float(x)) : __builtin_sqrt(x));
}
ATTN_INLINE vec sqrt(const vec& x) {
  return each_lane(x, [](real lane) { return sqrt(lane); });
}
ATTN_INLINE real log(real x) { return real(sizeof(real) == 4 ? __builtin_logf(float(x)) : __builtin_log(x)); }

#ifndef ATTN_DOUBLE

// x = n ln 2 + r with n an integer and |r| <= ln(2) / 2: then e^x = 2^n e^r.
//
// Adding 1.5 * 2^23 to a float leaves no bits for a fraction: it rounds to an integer, which then stands in
// the low bits. With `bias` added to it, those bits are n + bias. ln 2 is subtracted in two parts, the first
// with so few bits that n times it is exact.
//
// Returns e^r - 1 = r + r^2 q(r), with q of degree 4 (Note [Fitting]: relative error 1.4e-8).
ATTN_INLINE vec reduced_expm1(const vec& x, float bias, uvec& n_plus_bias) {
  const float rounder = 0x1.8p23f + bias;
  const vec shifted = x * 1.44269504f + rounder;
  const vec n = shifted - rounder;
  n_plus_bias = (uvec)shifted;
  const vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
  vec q = r * 0.00138825107f + 0.00836654745f;
  q = q * r + 0.0416672008f;
  q = q * r + 0.166665434f;
  q = q * r + 0.499999981f;
  return r * r * q + r;
}

constexpr float smallest_exp = -0x1.5d589ep6f, largest_exp = 0x1.62e42ep6f;  // e^x is a normal float between

// 2^n is multiplied by adding n to the exponent's bits, which start at bit 23. Above the range, x + inf is
// +inf, or NaN if x is NaN.
ATTN_INLINE vec exp(const vec& x) {
  uvec n;
  const vec e = reduced_expm1(x, 0, n) + 1.0f;
  const vec y = select(x < smallest_exp, vec{}, (vec)((uvec)e + (n << 23)));
  return select(x <= largest_exp, y, x + infinity);
}

// The same for x <= 0 (it is right up to 88), quicker: what softmax needs. 127 is the bias of a float's
// exponent, so n + 127 at bit 23 is the float 2^n, and n = -127 gives 0: from x = -87.68 down, and for -inf.
ATTN_INLINE vec exp_of_nonpositive(const vec& x) {
  uvec n;
  const vec e = reduced_expm1(max(splat(-88), x), 127, n) + 1.0f;
  return e * (vec)(n << 23);
}

// tanh x = (e^2x - 1) / (e^2x + 1), from e^2x - 1 = 2^n (e^r - 1) + (2^n - 1), which stays exact near 0.
ATTN_INLINE vec tanh(const vec& x) {
  uvec n;
  const vec e = reduced_expm1(clamp(x + x, -20, 20), 127, n);
  const vec power = (vec)(n << 23);
  const vec expm1 = e * power + (power - 1.0f);
  return expm1 / (expm1 + 2.0f);
}

// The share of the normal distribution above a, for a >= 0; bell = exp(-a^2 / 2) is useful to callers.
// Their ratio falls smoothly from 1/2 to 0: a polynomial of degree 8 in 1 / (1 + 0.3 a) (Note [Fitting]:
// relative error 6e-8 for a up to 14, and the bell is 0 from 13.3 on).
ATTN_INLINE vec normal_tail(const vec& a, vec& bell) {
  bell = exp_of_nonpositive(a * -0.5f * a);
  const vec t = 1.0f / (a * 0.3f + 1.0f);
  vec q = t * 0.0383783066f - 0.16916619f;
  q = q * t + 0.228660233f;
  q = q * t - 0.076506639f;
  q = q * t + 0.142535627f;
  q = q * t + 0.0946834834f;
  q = q * t + 0.121920351f;
  q = q * t + 0.119487688f;
  q = q * t + 7.16893222e-6f;
  return q * bell;
}

#else

ATTN_INLINE vec exp(const vec& x) {
  return each_lane(x, [](real lane) { return __builtin_exp(lane); });
}
ATTN_INLINE vec exp_of_nonpositive(const vec& x) { return exp(x); }
ATTN_INLINE vec tanh(const vec& x) {
  return each_lane(x, [](real lane) { return __builtin_tanh(lane); });
}
ATTN_INLINE vec normal_tail(const vec& a, vec& bell) {
  bell = exp(a * -0.5 * a);
  return each_lane(a, [](real lane) { return 0.5 * __builtin_erfc(lane * 0.70710678118654752440); });
}

#endif

// The activations, each with its derivative, which is computed from x or from y = f(x). Beyond the clamps
// both are constant (or x itself): the clamps only keep inf * 0 out.
constexpr real one = 1;

struct Identity {
  ATTN_INLINE vec value(const vec& x) const { return x; }
  ATTN_INLINE vec derivative(const vec&, const vec&) const { return splat(1); }
};

struct Relu {
  ATTN_INLINE vec value(const vec& x) const { return select(x <= real(0), vec{}, x); }
  ATTN_INLINE vec derivative(const vec&, const vec& y) const { return select(y <= real(0), vec{}, splat(1)); }
};

struct Exp {
  ATTN_INLINE vec value(const vec& x) const { return exp(x); }
  ATTN_INLINE vec derivative(const vec&, const vec& y) const { return y; }
};

struct Tanh {
  ATTN_INLINE vec value(const vec& x) const { return tanh(x); }
  ATTN_INLINE vec derivative(const vec&, const vec& y) const { return one - y * y; }
};

struct Sigmoid {
  ATTN_INLINE vec value(const vec& x) const { return one / (exp(-x) + one); }
  ATTN_INLINE vec derivative(const vec&, const vec& y) const { return y - y * y; }
};

struct Silu {
  ATTN_INLINE vec value(const vec& x) const { return max(splat(-800), x) / (exp(-x) + one); }
  // s (1 + x (1 - s)), where 1 - s = e^-x s does not cancel.
  ATTN_INLINE vec derivative(const vec& x, const vec&) const {
    const vec near = clamp(x, -87, 87), e = exp(-near), s = one / (e + one);
    return s * (near * (e * s) + one);
  }
};

struct Gelu {
  static constexpr real limit = 40;
  ATTN_INLINE vec value(const vec& x) const {
    vec bell;
    const vec a = min(splat(limit), abs(x));
    return Relu().value(x) - a * normal_tail(a, bell);
  }
  // P(x) + x p(x), with P the normal distribution and p its density.
  ATTN_INLINE vec derivative(const vec& x, const vec&) const {
    vec bell;
    const vec near = clamp(x, -limit, limit), tail = normal_tail(abs(near), bell);
    const vec below = select(near > real(0), one - tail, tail);
    return near * real(0.39894228040143267794) * bell + below;  // 1 / sqrt(2 pi)
  }
};

// x/2 (1 + tanh u) = x sigmoid(2u), 2u = 2 sqrt(2/pi) (x + 0.044715 x^3)
struct GeluTanh {
  static constexpr real linear = real(1.59576912160573071176),
                        cubic = real(0.044715 * 1.59576912160573071176);
  ATTN_INLINE vec value(const vec& x) const {
    const vec minus_2u = x * (x * x * -cubic - linear);
    return max(splat(-100), x) / (exp(minus_2u) + one);
  }
  // s (1 + x (1 - s) d(2u)/dx), as for silu.
  ATTN_INLINE vec derivative(const vec& x, const vec&) const {
    const vec near = clamp(x, -10, 10), square = near * near;
    const vec e = exp(near * (square * -cubic - linear)), s = one / (e + one);
    const vec slope = square * (3 * cubic) + linear;
    return s * (near * slope * (e * s) + one);
  }
};

// y = exp(x - shift); returns the sum, in every lane.
ATTN_INLINE vec exp_and_sum(Index n, const real* x, const vec& shift, real* y) {
  return sum_all<1>(n, [&](Index i, auto part) {
    const vec e = exp_of_nonpositive(part.load(x + i, -infinity) - shift);
    part.store(y + i, e);
    return e;
  });
}

}  // namespace attn::ATTN_TARGET
