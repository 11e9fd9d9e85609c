// What the tests of published models share: files in the published layout, and the same computed from them by
// plain loops in double, as the papers have it.
#pragma once

#include <cmath>       // erf, exp, fabs, sqrt, tanh
#include <fstream>     // ofstream
#include <functional>  // function
#include <map>         // map

#include "core/json.hpp"
#include "optim/safetensors.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {

using Settings = std::map<std::string, Json>;
using Row = std::vector<double>;
using Rows = std::vector<Row>;  // (T, C)
using Function = double (*)(double);

constexpr double tolerance = double_build ? 1e-9 : 1e-4;

inline double gelu_erf(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
inline double gelu_new(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
inline double silu_of(double x) { return x / (1 + std::exp(-x)); }
inline double relu_of(double x) { return x > 0 ? x : 0; }

// The tensors of a file, by their published names.
struct Weights {
  struct Array {
    Shape shape;
    std::vector<real> values;
  };
  std::map<std::string, Array> arrays;
  Rng rng{5};

  void add(const std::string& name, const Shape& shape, double mean = 0, double deviation = 0.3) {
    Array& array = arrays[name] = {shape, {}};
    for (Index i = 0; i < shape.numel(); ++i) array.values.push_back(real(mean + deviation * rng.normal()));
  }
  void add_norm(const std::string& name, Index C, bool bias = true) {
    add(name + ".weight", {C}, 1, 0.2);
    if (bias) add(name + ".bias", {C}, 0, 0.2);
  }
  void add_dense(const std::string& name, Index in, Index out, bool bias = true) {
    add(name + ".weight", {out, in});
    if (bias) add(name + ".bias", {out});
  }
  double at(const std::string& name, Index i) const { return arrays.at(name).values.at(std::size_t(i)); }
  bool has(const std::string& name) const { return arrays.count(name) != 0; }

  void write(const std::filesystem::path& path, const std::function<bool(const std::string&)>& wanted) const {
    std::vector<ArrayView> views;
    for (const auto& [name, array] : arrays)
      if (wanted(name)) views.push_back({name, array.shape, array.values.data()});
    write_safetensors(path, views);
  }
  void write(const std::filesystem::path& path) const {
    write(path, [](const std::string&) { return true; });
  }

  Rows embed(const std::string& name, const std::vector<int>& ids) const {
    const Index C = arrays.at(name).shape[1];
    Rows rows;
    for (const int id : ids) {
      rows.emplace_back();
      for (Index c = 0; c < C; ++c) rows.back().push_back(at(name, id * C + c));
    }
    return rows;
  }
  // x Wᵀ + b, or x W + b as Conv1D stores it.
  Rows dense(const std::string& name, const Rows& x, bool conv1d = false) const {
    const Shape& shape = arrays.at(name + ".weight").shape;
    const Index in = shape[conv1d ? 0 : 1], out = shape[conv1d ? 1 : 0];
    Rows y;
    for (const Row& row : x) {
      y.emplace_back();
      for (Index o = 0; o < out; ++o) {
        double sum = has(name + ".bias") ? at(name + ".bias", o) : 0;
        for (Index i = 0; i < in; ++i)
          sum += row[i] * at(name + ".weight", conv1d ? i * out + o : o * in + i);
        y.back().push_back(sum);
      }
    }
    return y;
  }
  Rows norm(const std::string& name, const Rows& x, double epsilon, bool rms = false) const {
    Rows y = x;
    for (Row& row : y) {
      double mean = 0, square = 0;
      for (const double v : row) mean += v / double(row.size());
      if (rms) mean = 0;
      for (const double v : row) square += (v - mean) * (v - mean) / double(row.size());
      for (Index c = 0; c < std::ssize(row); ++c)
        row[c] = (row[c] - mean) / std::sqrt(square + epsilon) * at(name + ".weight", c) +
                 (has(name + ".bias") ? at(name + ".bias", c) : 0);
    }
    return y;
  }
  Rows logits(const std::string& table, const Rows& x) const {
    Rows y;
    for (const Row& row : x) {
      y.emplace_back();
      for (Index v = 0; v < arrays.at(table).shape[0]; ++v) {
        double sum = 0;
        for (Index c = 0; c < std::ssize(row); ++c) sum += row[c] * at(table, v * std::ssize(row) + c);
        y.back().push_back(sum);
      }
    }
    return y;
  }
};

inline Rows plus(const Rows& a, const Rows& b) {
  Rows sum = a;
  for (Index t = 0; t < std::ssize(a); ++t)
    for (Index c = 0; c < std::ssize(a[t]); ++c) sum[t][c] += b[t][c];
  return sum;
}
inline Rows times(const Rows& a, const Rows& b) {
  Rows product = a;
  for (Index t = 0; t < std::ssize(a); ++t)
    for (Index c = 0; c < std::ssize(a[t]); ++c) product[t][c] *= b[t][c];
  return product;
}
inline Rows each(Rows x, Function f) {
  for (Row& row : x)
    for (double& v : row) v = f(v);
  return x;
}
inline Rows columns(const Rows& x, Index begin, Index end) {
  Rows part;
  for (const Row& row : x) part.emplace_back(row.begin() + begin, row.begin() + end);
  return part;
}

struct Look {
  Index heads, kv_heads;
  bool causal;
  double scale;
  std::function<double(Index head, Index t, Index j)> bias = [](Index, Index, Index) { return 0.0; };
};
inline Rows attend(const Rows& q, const Rows& k, const Rows& v, const Look& look) {
  const Index D = std::ssize(q[0]) / look.heads;
  Rows out(q.size(), Row(q[0].size(), 0.0));
  for (Index h = 0; h < look.heads; ++h) {
    const Index from = h / (look.heads / look.kv_heads) * D;
    for (Index t = 0; t < std::ssize(q); ++t) {
      const Index seen = look.causal ? t + 1 : std::ssize(k);
      Row weights;
      double sum = 0;
      for (Index j = 0; j < seen; ++j) {
        double score = look.bias(h, t, j);
        for (Index d = 0; d < D; ++d) score += look.scale * q[t][h * D + d] * k[j][from + d];
        weights.push_back(std::exp(score));
        sum += weights.back();
      }
      for (Index j = 0; j < seen; ++j)
        for (Index d = 0; d < D; ++d) out[t][h * D + d] += weights[j] / sum * v[j][from + d];
    }
  }
  return out;
}

inline double worst(const Tensor& ours, const Rows& theirs) {  // ours: (1, T, V)
  REQUIRE(ours.shape() == Shape{1, std::ssize(theirs), std::ssize(theirs[0])});
  double largest = 0;
  for (Index t = 0; t < std::ssize(theirs); ++t)
    for (Index v = 0; v < std::ssize(theirs[t]); ++v)
      largest = std::max(largest, std::fabs(double(ours(0, t, v)) - theirs[t][v]));
  return largest;
}

inline void write_json(const std::filesystem::path& path, const Settings& settings) {
  std::ofstream(path) << Json(settings).text;
}
inline IntTensor one_row(const std::vector<int>& ids) { return IntTensor({1, std::ssize(ids)}, ids); }
const std::vector<int> text = {3, 1, 4, 1, 5, 9, 2, 6};

}  // namespace attn
