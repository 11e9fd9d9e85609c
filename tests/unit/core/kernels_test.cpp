// The element-wise kernels of every instruction set this CPU can run, against plain loops in
// higher precision. The accuracy of the activations is stated in `functions` below, in units of
// the last place (ulp).
#include <algorithm>   // max, min
#include <array>       // array
#include <cmath>       // expl, erfcl, frexp, …
#include <functional>  // function
#include <random>      // mt19937
#include <string>      // string
#include <vector>      // vector

#include "tests/unit/core/every_kernel.hpp"

using namespace attn;

namespace {

const Index sizes[] = {0, 1, 3, 7, 8, 15, 16, 17, 33, 100, 1000};
const real not_a_number = Limits::quiet_NaN();

// |value - exact| in units of the last place of `exact`. What is below `floor` counts as 0: exp gives up at
// the smallest normal number, and quotients of it a little earlier.
double ulps(real value, Wide exact, Wide floor) {
  if (std::isnan(value)) return std::isnan(exact) ? 0 : 1e30;
  if (std::isinf(value))
    return std::abs(exact) > Limits::max() && std::signbit(value) == std::signbit(exact) ? 0 : 1e30;
  const Wide error = std::abs(Wide(value) - exact);
  if (error <= floor) return 0;
  int exponent;
  std::frexp(exact, &exponent);
  return double(error / std::ldexp(Wide(1), std::max(exponent - Limits::digits,
                                                     Limits::min_exponent - Limits::digits)));
}

Wide normal_below(Wide x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }
Wide normal_density(Wide x) { return std::exp(-x * x / 2) * 0.398942280401432677939946L; }
Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide gelu_2u(Wide x) { return 1.59576912160573071176L * (x + 0.044715L * x * x * x); }
Wide gelu_2u_slope(Wide x) { return 1.59576912160573071176L * (1 + 3 * 0.044715L * x * x); }

// With the bounds that core/kernels/functions.hpp promises: of the value in ulp, of the derivative as an
// absolute error in units of Limits::epsilon().
struct Function {
  std::string name;
  Activation f;
  Wide (*value)(Wide);
  Wide (*derivative)(Wide);
  double (*value_ulps)(double x);
  double derivative_epsilons;
};

const Function functions[] = {
    {"none", Activation::none, [](Wide x) { return x; }, [](Wide) { return Wide(1); },
     [](double) { return 0.0; }, 0},
    {"relu", Activation::relu, [](Wide x) { return x > 0 ? x : 0; }, [](Wide x) { return Wide(x > 0); },
     [](double) { return 0.0; }, 0},
    {"exp", Activation::exp, [](Wide x) { return std::exp(x); }, nullptr, [](double) { return 1.25; }, 0},
    {"tanh", Activation::tanh, [](Wide x) { return std::tanh(x); },
     [](Wide x) { return 1 - std::tanh(x) * std::tanh(x); }, [](double) { return 3.0; }, 3},
    {"sigmoid", Activation::sigmoid, sigmoid, [](Wide x) { return sigmoid(x) * sigmoid(-x); },
     [](double) { return 3.0; }, 1},
    {"silu", Activation::silu, [](Wide x) { return x * sigmoid(x); },
     [](Wide x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }, [](double) { return 3.0; }, 3},
    {"gelu", Activation::gelu, [](Wide x) { return x * normal_below(x); },
     [](Wide x) { return normal_below(x) + x * normal_density(x); },
     [](double x) { return 9 + x * x * (sizeof(real) == 4 ? 0.5 : 2); }, 3},
    {"gelu_tanh", Activation::gelu_tanh, [](Wide x) { return x * sigmoid(gelu_2u(x)); },
     [](Wide x) {
       const Wide s = sigmoid(gelu_2u(x));
       return s * (1 + x * sigmoid(-gelu_2u(x)) * gelu_2u_slope(x));
     },
     [](double x) { return 10 + std::abs(x * x * x) / 3; }, 4},
};

// Every exponent and sign with some mantissas each, and densely where the functions bend.
Reals whole_range() {
  Reals x;
  std::mt19937 generator(1);
  std::uniform_real_distribution<real> mantissa(1, 2);
  for (int exponent = Limits::min_exponent - 1; exponent < Limits::max_exponent; ++exponent) {
    const int count = sizeof(real) == 4 ? 200 : 20;
    for (int i = 0; i < count; ++i) {
      const real v = std::ldexp(i == 0 ? real(1) : mantissa(generator), exponent);
      x.insert(x.end(), {v, -v});
    }
  }
  for (const real width : {real(1), real(10), real(110)}) {
    const Reals more = random_reals(20000, 2, -width, width);
    x.insert(x.end(), more.begin(), more.end());
  }
  return x;
}

}  // namespace

TEST_CASE("activations stay within their stated ulps of the exact value over the whole range") {
  const Reals x = whole_range();
  const Index n = Index(x.size());
  const Wide floor = sizeof(real) == 4 ? 1e-36L : 1e-300L;
  for (const Function& function : functions) {
    CAPTURE(function.name);
    std::vector<Wide> exact;
    for (const real v : x) exact.push_back(function.value(v));
    on_every_set([&](const Kernels& set) {
      Reals y(x.size());
      set.activate(function.f, n, x.data(), y.data());
      double worst = 0, worst_x = 0, worst_ulps = 0;  // relative to the bound
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], exact[i], function.f == Activation::none ? 0 : floor);
        const double ratio = error == 0 ? 0 : error / function.value_ulps(double(x[i]));
        if (ratio > worst) worst = ratio, worst_x = double(x[i]), worst_ulps = error;
      }
      CAPTURE(worst_x);
      CAPTURE(worst_ulps);
      CHECK(worst <= 1);
    });
  }
}

TEST_CASE("derivatives stay within their stated absolute error over the whole range") {
  const Reals x = whole_range(), ones(x.size(), 1);
  const Index n = Index(x.size());
  for (const Function& function : functions) {
    if (!function.derivative) continue;  // exp' is y itself
    CAPTURE(function.name);
    std::vector<Wide> exact;
    for (const real v : x) exact.push_back(function.derivative(v));
    on_every_set([&](const Kernels& set) {
      Reals y(x.size()), dx(x.size());
      set.activate(function.f, n, x.data(), y.data());
      set.activate_backward(function.f, n, {x.data(), y.data()}, ones.data(), {dx.data(), false});
      double worst = 0, worst_x = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        // Where the formula itself is inf * 0 the limit is meant: 0 or 1.
        const Wide limit = std::isnan(exact[i]) ? Wide(x[i] > 0) : exact[i];
        const double error = std::isnan(dx[i]) ? 1e30 : double(std::abs(dx[i] - limit) / Limits::epsilon());
        if (error > worst) worst = error, worst_x = double(x[i]);
      }
      CAPTURE(worst_x);
      CAPTURE(worst);
      CHECK(worst <= function.derivative_epsilons);
    });
  }
}

TEST_CASE("activations take their limits at infinity, and NaN stays NaN") {
  struct Limit {
    Activation f;
    real low, high, slope_low, slope_high;
  };
  const Limit limits[] = {{Activation::relu, 0, inf, 0, 1},      {Activation::gelu, 0, inf, 0, 1},
                          {Activation::gelu_tanh, 0, inf, 0, 1}, {Activation::silu, 0, inf, 0, 1},
                          {Activation::tanh, -1, 1, 0, 0},       {Activation::sigmoid, 0, 1, 0, 0},
                          {Activation::exp, 0, inf, 0, inf}};
  on_every_set([&](const Kernels& set) {
    for (const Limit& limit : limits) {
      CAPTURE(int(limit.f));
      const Reals x = {-inf, inf, not_a_number}, ones(3, 1);
      Reals y(3), dx(3);
      set.activate(limit.f, 3, x.data(), y.data());
      set.activate_backward(limit.f, 3, {x.data(), y.data()}, ones.data(), {dx.data(), false});
      CHECK(y[0] == limit.low);
      CHECK(y[1] == limit.high);
      CHECK(std::isnan(y[2]));
      CHECK(std::abs(dx[0] - limit.slope_low) < 1e-30);
      CHECK((dx[1] == limit.slope_high || std::abs(dx[1] - limit.slope_high) < 1e-30));
      if (limit.f != Activation::relu) CHECK(std::isnan(dx[2]));
    }
  });
}

TEST_CASE("exp is 1 at 0, reaches the largest numbers and falls to 0 below the smallest normal one") {
  const Reals x = {0, real(std::log(Limits::max())) * (1 - Limits::epsilon()),
                   real(std::log(Limits::max())) + 1, real(std::log(Limits::min())) + 1,
                   real(std::log(Limits::min())) - 45};
  on_every_set([&](const Kernels& set) {
    Reals y(x.size());
    set.activate(Activation::exp, Index(x.size()), x.data(), y.data());
    CHECK(y[0] == 1);
    CHECK(std::isfinite(y[1]));
    CHECK(y[2] == inf);
    CHECK(y[3] > Limits::min());
    CHECK(y[4] == 0);
  });
}

TEST_CASE("the slope of relu at 0 is 0") {
  on_every_set([&](const Kernels& set) {
    const real x = 0, dy = 1;
    real dx = 7;
    set.activate_backward(Activation::relu, 1, {&x, &x}, &dy, {&dx, false});
    CHECK(dx == 0);
  });
}

TEST_CASE("a range cut into calls anywhere gives the same bits") {
  const Index n = 1000, cuts[] = {0, 1, 4, 11, 19, 34, 50, 67, 100, 200, 333, 1000};
  const Reals x = random_reals(n, 3, -5, 5), dy = random_reals(n, 4), start = random_reals(n, 5, 0, 1);
  using Call = std::function<void(const Kernels&, Index begin, Index count, Reals& out)>;
  std::vector<Call> calls;
  for (const Function& function : functions) {
    calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
      set.activate(function.f, count, x.data() + at, out.data() + at);
    });
    calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
      set.activate_backward(function.f, count, {x.data() + at, x.data() + at}, dy.data() + at,
                            {out.data() + at, true});
    });
  }
  calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
    set.axpy(count, real(0.3), x.data() + at, out.data() + at);
  });
  calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
    set.dropout(count, {1u << 14, real(4) / 3, 12345, std::uint64_t(77 + at)}, x.data() + at,
                out.data() + at);
  });
  calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
    set.dropout_backward(count, real(4) / 3, x.data() + at, dy.data() + at, {out.data() + at, true});
  });
  calls.push_back([&](const Kernels& set, Index at, Index count, Reals& out) {
    const AdamStep step = {real(0.5),   real(0.2), real(0.999), real(0.1),
                           real(0.001), real(0.1), real(31),    real(1e-8)};
    Reals m = random_reals(n, 6), v = random_reals(n, 7, 0, 1);
    set.adam(count, step, {out.data() + at, dy.data() + at, m.data() + at, v.data() + at});
    for (Index i = at; i < at + count; ++i) out[size_t(i)] += m[size_t(i)] * 8 + v[size_t(i)] * 64;
  });
  on_every_set([&](const Kernels& set) {
    for (size_t c = 0; c < calls.size(); ++c) {
      CAPTURE(c);
      Reals whole = start, pieces = start;
      calls[c](set, 0, n, whole);
      for (size_t i = 0; i + 1 < std::size(cuts); ++i) calls[c](set, cuts[i], cuts[i + 1] - cuts[i], pieces);
      CHECK(same_bits(whole, pieces));
    }
  });
}

TEST_CASE("arithmetic agrees with a plain loop at every size and writes nothing beyond it") {
  on_every_set([&](const Kernels& set) {
    for (const Index n : sizes) {
      CAPTURE(n);
      const Reals a = random_reals(n, 1), b = random_reals(n, 2, 1, 2), start = random_reals(n + 1, 3);
      const real alpha = real(0.7);
      const auto check = [&](auto kernel, auto exact) {
        Reals c = start;
        kernel(c.data());
        bool right = c.back() == start.back();
        for (size_t i = 0; i < size_t(n); ++i) {
          const Wide expected = exact(Wide(a[i]), Wide(b[i]), Wide(start[i]));
          right = right && std::abs(c[i] - expected) <= Limits::epsilon() * 6;
        }
        CHECK(right);
      };
      const real *p = a.data(), *q = b.data();
      check([&](real* c) { set.add(n, p, q, c); }, [](Wide u, Wide v, Wide) { return u + v; });
      check([&](real* c) { set.sub(n, p, q, c); }, [](Wide u, Wide v, Wide) { return u - v; });
      check([&](real* c) { set.mul(n, p, q, c); }, [](Wide u, Wide v, Wide) { return u * v; });
      check([&](real* c) { set.div(n, p, q, c); }, [](Wide u, Wide v, Wide) { return u / v; });
      check([&](real* c) { set.scale(n, alpha, p, c); }, [&](Wide u, Wide, Wide) { return alpha * u; });
      check([&](real* c) { set.axpy(n, alpha, p, c); }, [&](Wide u, Wide, Wide w) { return alpha * u + w; });
      check([&](real* c) { set.activate(Activation::silu, n, p, c); },
            [](Wide u, Wide, Wide) { return u * sigmoid(u); });
      check(
          [&](real* c) {
            set.activate_backward(Activation::gelu, n, {p, p}, q, {c, true});
          },
          [](Wide u, Wide v, Wide w) { return w + v * (normal_below(u) + u * normal_density(u)); });
    }
  });
}

TEST_CASE("sum and dot err by at most (68 + log2 n) / 2 epsilon of the sum of magnitudes") {
  on_every_set([&](const Kernels& set) {
    for (const Index n : {0, 1, 3, 7, 8, 15, 16, 17, 33, 100, 1000, 1025, 5000, 1000003}) {
      CAPTURE(n);
      const Reals x = random_reals(n, 1, 0, 1), y = random_reals(n, 2);
      Wide sum = 0, dot = 0, magnitude = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        sum += x[i];
        dot += Wide(x[i]) * y[i];
        magnitude += std::abs(Wide(x[i]) * y[i]);
      }
      const Wide bound = (68 + std::log2(Wide(n + 1))) / 2 * Limits::epsilon();
      CHECK(std::abs(set.sum(n, x.data()) - sum) <= bound * sum);
      const Reals same(x.size(), real(0.1));  // where a plain loop rounds the same way again and again
      CHECK(std::abs(set.sum(n, same.data()) - n * Wide(same.empty() ? 0 : same[0])) <= bound * n / 10);
      CHECK(std::abs(set.dot(n, x.data(), y.data()) - dot) <= bound * magnitude);
    }
    const Reals with_inf(5000, inf);
    CHECK(set.sum(5000, with_inf.data()) == inf);
  });
}

TEST_CASE("max finds the largest element wherever it is, and NaN if there is one") {
  on_every_set([&](const Kernels& set) {
    for (const Index n : {1, 3, 7, 8, 15, 16, 17, 33, 100}) {
      for (Index at = 0; at < n; ++at) {
        Reals x = random_reals(n, 1, -9, -5);
        x[size_t(at)] = -4;
        CHECK(set.max(n, x.data()) == -4);
        x[size_t(at)] = not_a_number;
        CHECK(std::isnan(set.max(n, x.data())));
      }
    }
    const Reals all(40, -inf);
    CHECK(set.max(40, all.data()) == -inf);
  });
}

namespace {

// Philox as the paper writes it, for one counter of 128 bits.
std::array<std::uint32_t, 4> philox_reference(std::array<std::uint32_t, 4> x,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(0xD2511F53) * x[0], p1 = std::uint64_t(0xCD9E8D57) * x[2];
    x = {std::uint32_t(p1 >> 32) ^ x[1] ^ key[0], std::uint32_t(p1), std::uint32_t(p0 >> 32) ^ x[3] ^ key[1],
         std::uint32_t(p0)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return x;
}
std::uint32_t philox_reference(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t block = counter / 4;
  return philox_reference({std::uint32_t(block), std::uint32_t(block >> 32), 0, 0},
                          {std::uint32_t(key), std::uint32_t(key >> 32)})[counter % 4];
}

}  // namespace

TEST_CASE("philox gives the published answers") {
  using Words = std::array<std::uint32_t, 4>;
  const std::uint32_t all = 0xffffffff;
  CHECK(philox_reference({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox_reference({all, all, all, all}, {all, all}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox_reference({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("dropout drops exactly where the random bits are below the threshold, in any call") {
  const std::uint64_t key = 0x0123456789abcdef;
  on_every_set([&](const Kernels& set) {
    for (const std::uint64_t position :
         {0ull, 1ull, 2ull, 7ull, 1001ull, 0x7fffffffaull, 0x123456789abcdefull}) {
      for (const std::uint32_t threshold : {19661u, 1u << 15, 3u << 14, 1u << 16}) {  // 0.3, 0.5, 0.75, all
        for (const Index n : sizes) {
          Reals x = random_reals(n, 1, 1, 2);
          for (Index i = 0; i < n; i += 3) x[i] = i % 2 ? real(0) : -real(0);  // neither is dropped for that
          const Reals dy = random_reals(n, 3), start = random_reals(n + 1, 2);
          Reals y = start, dx = start, added = start;
          set.dropout(n, {threshold, 2, key, position}, x.data(), y.data());
          set.dropout_backward(n, 2, y.data(), dy.data(), {dx.data(), false});
          set.dropout_backward(n, 2, y.data(), dy.data(), {added.data(), true});
          bool right = y.back() == start.back() && dx.back() == start.back() && added.back() == start.back();
          for (Index i = 0; i < n; ++i) {
            const std::uint64_t at = position + std::uint64_t(i);
            const bool dropped = (philox_reference(key, at / 2) >> 16 * (at % 2) & 0xffff) < threshold;
            right = right && y[i] == (dropped ? 0 : 2 * x[i]) && dx[i] == (dropped ? 0 : 2 * dy[i]) &&
                    added[i] == start[i] + dx[i];
          }
          CHECK(right);
        }
      }
    }
  });
}

TEST_CASE("adam follows its formulas to 4 epsilon of a step") {
  on_every_set([&](const Kernels& set) {
    for (const Index n : sizes) {
      CAPTURE(n);
      Reals p = random_reals(n + 1, 1), g = random_reals(n, 2), m(size_t(n) + 1), v(size_t(n) + 1);
      std::vector<Wide> wide_p(p.begin(), p.end()), wide_m(p.size()), wide_v(p.size());
      const real rate = real(0.01), beta1 = real(0.9), beta2 = real(0.99), epsilon = real(1e-8);
      const real decay = real(0.1), l2 = real(0.05), gradient_scale = real(0.5);
      for (int t = 1; t <= 5; ++t) {
        const Wide correction1 = 1 - std::pow(Wide(beta1), t), correction2 = 1 - std::pow(Wide(beta2), t);
        const AdamStep step = {.gradient_scale = gradient_scale,
                               .l2 = l2,
                               .keep = real(1 - Wide(rate) * decay),
                               .gain1 = real(1 - Wide(beta1)),
                               .gain2 = real(1 - Wide(beta2)),
                               .rate = real(rate / correction1),
                               .root = real(1 / std::sqrt(correction2)),
                               .epsilon = epsilon};
        set.adam(n, step, {p.data(), g.data(), m.data(), v.data()});
        for (size_t i = 0; i < size_t(n); ++i) {
          const Wide gradient = Wide(gradient_scale) * g[i] + l2 * wide_p[i];
          wide_p[i] *= 1 - Wide(rate) * decay;
          wide_m[i] = beta1 * wide_m[i] + (1 - Wide(beta1)) * gradient;
          wide_v[i] = beta2 * wide_v[i] + (1 - Wide(beta2)) * gradient * gradient;
          wide_p[i] -= rate / correction1 * wide_m[i] / (std::sqrt(wide_v[i] / correction2) + epsilon);
        }
      }
      double worst = 0;
      for (size_t i = 0; i < size_t(n); ++i) worst = std::max(worst, double(std::abs(p[i] - wide_p[i])));
      CHECK(worst <= 5 * (4 * Limits::epsilon()));
      CHECK((p.back() == random_reals(n + 1, 1).back() && m.back() == 0 && v.back() == 0));
    }
  });
}
