// The row kernels (softmax, norms, cross entropy, sums over rows) of every instruction set this CPU can run,
// against plain loops in higher precision. Unless a test says otherwise its bound is 16 epsilon, relative to
// the largest number of the result.
#include <algorithm>  // max
#include <cmath>      // exp, log, sqrt
#include <vector>     // vector

#include "tests/unit/core/every_kernel.hpp"

using namespace attn;

namespace {

constexpr Index rows = 5;
const Index widths[] = {1, 3, 7, 8, 15, 16, 17, 33, 64, 65, 100, 1000};

template <class Check>
void on_every_width(const Check& check) {
  on_every_set([&](const Kernels& set) {
    for (const Index cols : widths) {
      CAPTURE(cols);
      check(set, cols);
    }
  });
}

// The largest difference in epsilons, relative to the largest number (absolute where all should be 0).
double difference(const Reals& value, const std::vector<Wide>& exact) {
  Wide error = 0, largest = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(value[i])) return 1e30;
    error = std::max(error, std::abs(value[i] - exact[i]));
    largest = std::max(largest, std::abs(exact[i]));
  }
  return double(error / (largest == 0 ? 1 : largest) / Limits::epsilon());
}

// fill(row, c) for each element, in row-major order.
template <class Fill>
std::vector<Wide> table(Index cols, const Fill& fill) {
  std::vector<Wide> out;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c) out.push_back(fill(r, c));
  }
  return out;
}

template <class Term>
Wide sum_of(Index n, const Term& term) {
  Wide sum = 0;
  for (Index i = 0; i < n; ++i) sum += term(i);
  return sum;
}

Wide log_sum_exp(const Reals& x, Index cols, Index r) {
  return std::log(sum_of(cols, [&](Index c) { return std::exp(Wide(x[size_t(r * cols + c)])); }));
}

}  // namespace

TEST_CASE("softmax and log_softmax agree with their definition, in place too") {
  on_every_width([&](const Kernels& set, Index cols) {
    const Reals x = random_reals(rows * cols, 1, -8, 8);
    Reals y(x.size()), log_y(x.size()), in_place = x;
    set.softmax({0, rows}, cols, x.data(), y.data());
    set.log_softmax({0, rows}, cols, x.data(), log_y.data());
    set.softmax({0, rows}, cols, in_place.data(), in_place.data());
    const auto log_exact =
        table(cols, [&](Index r, Index c) { return x[size_t(r * cols + c)] - log_sum_exp(x, cols, r); });
    std::vector<Wide> exact;
    for (const Wide v : log_exact) exact.push_back(std::exp(v));
    // Each probability by itself is right to 8 epsilon, small ones too.
    for (size_t i = 0; i < y.size(); ++i)
      CHECK(std::abs(y[i] - exact[i]) <= 8 * Limits::epsilon() * exact[i]);
    CHECK(difference(log_y, log_exact) <= 4);
    CHECK(same_bits(in_place, y));
  });
}

TEST_CASE("softmax gives masked elements 0, a row masked altogether zeros, and a row with a NaN NaNs") {
  on_every_width([&](const Kernels& set, Index cols) {
    Reals x(size_t(3 * cols), -inf), y(x.size()), log_y(x.size());
    x[size_t(cols + cols / 2)] = 1e30f;  // the middle row: all on one
    for (Index c = 0; c < cols; ++c) x[size_t(2 * cols + c)] = real(c);
    x.back() = Limits::quiet_NaN();
    set.softmax({0, 3}, cols, x.data(), y.data());
    set.log_softmax({0, 3}, cols, x.data(), log_y.data());
    for (Index c = 0; c < cols; ++c) {
      CHECK(y[size_t(c)] == 0);
      CHECK(log_y[size_t(c)] == -inf);
      CHECK(y[size_t(cols + c)] == (c == cols / 2 ? 1 : 0));
      CHECK(log_y[size_t(cols + c)] == (c == cols / 2 ? 0 : -inf));
      CHECK(std::isnan(y[size_t(2 * cols + c)]));
      CHECK(std::isnan(log_y[size_t(2 * cols + c)]));
    }
  });
}

TEST_CASE("the gradients of softmax and log_softmax agree with their formulas, overwriting or adding") {
  on_every_width([&](const Kernels& set, Index cols) {
    const Reals x = random_reals(rows * cols, 1), dy = random_reals(rows * cols, 2),
                start = random_reals(rows * cols, 3);
    Reals y(x.size()), log_y(x.size());
    set.softmax({0, rows}, cols, x.data(), y.data());
    set.log_softmax({0, rows}, cols, x.data(), log_y.data());
    for (const bool accumulate : {false, true}) {
      Reals dx = start, log_dx = start;
      set.softmax_backward({0, rows}, cols, y.data(), dy.data(), {dx.data(), accumulate});
      set.log_softmax_backward({0, rows}, cols, log_y.data(), dy.data(), {log_dx.data(), accumulate});
      CHECK(difference(dx, table(cols, [&](Index r, Index c) {
                         const size_t row = size_t(r * cols), i = row + size_t(c);
                         const Wide mean = sum_of(
                             cols, [&](Index k) { return Wide(y[row + size_t(k)]) * dy[row + size_t(k)]; });
                         return y[i] * (dy[i] - mean) + (accumulate ? start[i] : 0);
                       })) <= 16);
      CHECK(difference(log_dx, table(cols, [&](Index r, Index c) {
                         const size_t row = size_t(r * cols), i = row + size_t(c);
                         const Wide sum = sum_of(cols, [&](Index k) { return Wide(dy[row + size_t(k)]); });
                         return dy[i] - std::exp(Wide(log_y[i])) * sum + (accumulate ? start[i] : 0);
                       })) <= 16);
    }
  });
}

namespace {

struct Normalized {
  std::vector<Wide> mean, rstd;
  std::vector<Wide> normal;  // (x - mean) rstd
};
Normalized normalize(const Reals& x, Index cols, real eps, bool centered) {
  Normalized norm;
  for (Index r = 0; r < rows; ++r) {
    const real* row = x.data() + r * cols;
    const Wide mean = centered ? sum_of(cols, [&](Index c) { return Wide(row[c]); }) / cols : 0;
    const Wide variance = sum_of(cols, [&](Index c) { return (row[c] - mean) * (row[c] - mean); }) / cols;
    norm.mean.push_back(mean);
    norm.rstd.push_back(1 / std::sqrt(variance + eps));
    for (Index c = 0; c < cols; ++c) norm.normal.push_back((row[c] - mean) * norm.rstd.back());
  }
  return norm;
}

}  // namespace

TEST_CASE("layer_norm and rms_norm agree with their definition, with and without gain and bias") {
  const real eps = real(1e-5);
  on_every_width([&](const Kernels& set, Index cols) {
    const Reals x = random_reals(rows * cols, 1, -1, 3), gain = random_reals(cols, 2),
                bias = random_reals(cols, 3);
    const Normalized layer = normalize(x, cols, eps, true), rms = normalize(x, cols, eps, false);
    for (const bool affine : {false, true}) {
      Reals y(x.size()), mean(rows), rstd(rows);
      const auto expected = [&](const Normalized& norm, const Reals* offset) {
        return table(cols, [&](Index r, Index c) {
          const Wide normal = norm.normal[size_t(r * cols + c)];
          return affine ? normal * gain[size_t(c)] + (offset ? (*offset)[size_t(c)] : 0) : normal;
        });
      };
      NormRows norm{
          rows, cols,        x.data(),   affine ? gain.data() : nullptr, affine ? bias.data() : nullptr,
          eps,  mean.data(), rstd.data()};
      set.norm({0, rows}, norm, y.data());
      CHECK(difference(y, expected(layer, &bias)) <= 16);
      CHECK(difference(mean, layer.mean) <= 16);
      CHECK(difference(rstd, layer.rstd) <= 16);
      norm.mean = nullptr;
      norm.bias = nullptr;
      set.norm({0, rows}, norm, y.data());
      CHECK(difference(y, expected(rms, nullptr)) <= 16);
      CHECK(difference(rstd, rms.rstd) <= 16);
    }
  });
}

TEST_CASE("layer_norm does not cancel: a row far from 0 loses only what its inputs lost") {
  on_every_set([&](const Kernels& set) {
    const Index cols = 256;
    const Reals x = random_reals(rows * cols, 1, 4096, 4097);
    const Normalized exact = normalize(x, cols, 0, true);
    Reals y(x.size()), mean(rows), rstd(rows);
    set.norm({0, rows}, {rows, cols, x.data(), nullptr, nullptr, 0, mean.data(), rstd.data()}, y.data());
    CHECK(difference(y, exact.normal) <= 4096 * 4);
    CHECK(difference(rstd, exact.rstd) <= 32);
  });
}

TEST_CASE("the gradients of layer_norm and rms_norm agree with their formulas, overwriting or adding") {
  on_every_width([&](const Kernels& set, Index cols) {
    const Reals x = random_reals(rows * cols, 1), dy = random_reals(rows * cols, 2),
                start = random_reals(rows * cols, 3);
    const Reals gain = random_reals(cols, 4);
    for (const bool centered : {false, true}) {
      const Normalized norm = normalize(x, cols, 1, centered);
      Reals mean(norm.mean.begin(), norm.mean.end()), rstd(norm.rstd.begin(), norm.rstd.end());
      for (const real* g : {gain.data(), static_cast<const real*>(nullptr)}) {
        for (const bool accumulate : {false, true}) {
          CAPTURE(centered);
          CAPTURE(accumulate);
          Reals dx = start;
          set.norm_backward(
              {0, rows}, {rows, cols, x.data(), g, nullptr, 1, centered ? mean.data() : nullptr, rstd.data()},
              dy.data(), {dx.data(), accumulate});
          std::vector<Wide> exact;
          for (Index r = 0; r < rows; ++r) {
            const size_t row = size_t(r * cols);
            const auto gdy = [&](Index c) { return Wide(dy[row + size_t(c)]) * (g ? g[c] : 1); };
            const auto normal = [&](Index c) { return norm.normal[row + size_t(c)]; };
            const Wide mean_g = centered ? sum_of(cols, gdy) / cols : 0;
            const Wide mean_gn = sum_of(cols, [&](Index c) { return gdy(c) * normal(c); }) / cols;
            for (Index c = 0; c < cols; ++c) {
              exact.push_back(norm.rstd[size_t(r)] * (gdy(c) - mean_g - normal(c) * mean_gn) +
                              (accumulate ? start[row + size_t(c)] : 0));
            }
          }
          CHECK(difference(dx, exact) <= 16);
        }
      }
    }
  });
}

TEST_CASE("sums over rows: gradients of gain and bias, to 70 epsilon / 2 for 3000 rows") {
  on_every_set([&](const Kernels& set) {
    for (const Index count : {1, 5, 64, 65, 3000}) {
      const Index cols = 37;
      CAPTURE(count);
      Reals x = random_reals(count * cols, 1, 0, 1);
      const Reals dy = random_reals(count * cols, 2, 0, 1);
      for (Index r = 0; r < count; ++r)
        x[size_t(r * cols)] = real(0.1);  // rounded the same way again and again
      const Reals start = random_reals(cols, 5);
      Reals mean = random_reals(count, 3, -1, 0), rstd = random_reals(count, 4, 1, 2);
      for (const bool accumulate : {false, true}) {
        const Index first = accumulate ? 0 : count / 3;
        const Range rows = {first, count};
        Reals dgain = start, dbias = start, rms_gain = start, sum = start;
        NormRows norm{count, cols, x.data(), nullptr, nullptr, 0, mean.data(), rstd.data()};
        set.norm_backward_parameters(rows, norm, dy.data(), {dgain.data(), accumulate},
                                     {dbias.data(), accumulate});
        norm.mean = nullptr;
        set.norm_backward_parameters(rows, norm, dy.data(), {rms_gain.data(), accumulate}, {});
        set.column_sum(rows, cols, x.data(), {sum.data(), accumulate});
        const auto check = [&](const Reals& value, const auto& term) {
          std::vector<Wide> exact;
          for (Index c = 0; c < cols; ++c) {
            const auto row = [&](Index r) { return term(size_t(r), size_t(r * cols + c)); };
            exact.push_back(sum_of(count - first, [&](Index i) { return row(first + i); }) +
                            (accumulate ? start[size_t(c)] : 0));
          }
          CHECK(difference(value, exact) <= 35);
        };
        check(dgain, [&](size_t r, size_t i) { return Wide(dy[i]) * (Wide(x[i]) - mean[r]) * rstd[r]; });
        check(dbias, [&](size_t, size_t i) { return Wide(dy[i]); });
        check(rms_gain, [&](size_t r, size_t i) { return Wide(dy[i]) * x[i] * rstd[r]; });
        check(sum, [&](size_t, size_t i) { return Wide(x[i]); });
      }
    }
  });
}

TEST_CASE("cross_entropy and its gradient agree with their definition; ignored rows count for nothing") {
  const int ignore = -100;
  on_every_set([&](const Kernels& set) {
    for (const Index cols : {2, 7, 65, 1000, 37000}) {
      for (const real smoothing : {real(0), real(0.1)}) {
        CAPTURE(cols);
        CAPTURE(smoothing);
        const Reals x = random_reals(rows * cols, 1, -10, 10), start = random_reals(rows * cols, 2);
        const int targets[rows] = {0, int(cols - 1), ignore, int(cols / 2), 1};
        Reals loss(rows, 7), max(rows, 7), sum(rows, 7);
        const CrossEntropyRows entropy{cols, x.data(), targets, ignore, smoothing, max.data(), sum.data()};
        set.cross_entropy({0, rows}, entropy, loss.data());
        std::vector<Wide> exact_loss, exact_lse;
        for (Index r = 0; r < rows; ++r) {
          const real* row = x.data() + r * cols;
          const bool ignored = targets[r] == ignore;
          exact_lse.push_back(ignored ? 0 : log_sum_exp(x, cols, r));
          const Wide mean = sum_of(cols, [&](Index c) { return Wide(row[c]); }) / cols;
          exact_loss.push_back(
              ignored ? 0 : exact_lse.back() - (1 - Wide(smoothing)) * row[targets[r]] - smoothing * mean);
        }
        CHECK(difference(loss, exact_loss) <= 16);
        for (Index r = 0; r < rows; ++r)
          if (targets[r] != ignore)
            CHECK(std::fabs(double(max[size_t(r)] + std::log(Wide(sum[size_t(r)])) - exact_lse[size_t(r)])) <=
                  8 * double(Limits::epsilon()));
        const real scale = real(0.25);
        for (const bool accumulate : {false, true}) {
          Reals dx = start;
          set.cross_entropy_backward({0, rows}, entropy, scale, {dx.data(), accumulate});
          CHECK(difference(dx, table(cols, [&](Index r, Index c) {
                             const size_t i = size_t(r * cols + c);
                             const Wide before = accumulate ? start[i] : 0;
                             if (targets[r] == ignore) return before;
                             const Wide target =
                                 (c == targets[r] ? 1 - Wide(smoothing) : 0) + Wide(smoothing) / cols;
                             return before + scale * (std::exp(x[i] - exact_lse[size_t(r)]) - target);
                           })) <= 16);
        }
      }
    }
  });
}

TEST_CASE("a row has the same bits alone as among others") {
  on_every_width([&](const Kernels& set, Index cols) {
    const Reals x = random_reals(rows * cols, 1), dy = random_reals(rows * cols, 2),
                gain = random_reals(cols, 3);
    const int targets[rows] = {};
    // All outputs that have a row of their own, for a range of rows.
    const auto run = [&](Range some, std::vector<Reals>& out) {
      const NormRows norm{rows,        cols,       x.data(),      gain.data(),
                          gain.data(), real(1e-5), out[7].data(), out[8].data()};
      const CrossEntropyRows entropy{cols, x.data(), targets, -1, real(0.1), out[10].data(), out[11].data()};
      set.softmax(some, cols, x.data(), out[0].data());
      set.softmax_backward(some, cols, out[0].data(), dy.data(), {out[1].data(), true});
      set.log_softmax(some, cols, x.data(), out[2].data());
      set.log_softmax_backward(some, cols, out[2].data(), dy.data(), {out[3].data(), false});
      set.norm(some, norm, out[4].data());
      set.norm_backward(some, norm, dy.data(), {out[5].data(), false});
      set.cross_entropy(some, entropy, out[9].data());
      set.cross_entropy_backward(some, entropy, 1, {out[6].data(), true});
    };
    std::vector<Reals> together(12, Reals(x.size())), alone = together;
    run({0, rows}, together);
    for (Index r = 0; r < rows; ++r) run({r, r + 1}, alone);
    for (size_t i = 0; i < together.size(); ++i) {
      CAPTURE(i);
      CHECK(same_bits(together[i], alone[i]));
    }
  });
}
