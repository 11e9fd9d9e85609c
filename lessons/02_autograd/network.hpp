// A small network with every number written out, for lesson 02: 4 samples, 5 inputs, 8 hidden units and 3
// classes. `Number` may be float, double, or a number that remembers how it was computed. Parameters, one
// after the other: W1 (5,8), b1 (8), W2 (8,3), b2 (3).
#pragma once

#include <cmath>   // exp, log, tanh
#include <vector>  // vector

namespace attn {

constexpr int inputs = 5, hidden = 8, classes = 3, samples = 4;
constexpr int parameter_count = inputs * hidden + hidden + hidden * classes + classes;

template <class Number>
Number sample_loss(const std::vector<Number>& p, const std::vector<Number>& x, int sample) {
  using std::exp, std::log, std::tanh;
  const Number* w1 = p.data();
  const Number *b1 = w1 + inputs * hidden, *w2 = b1 + hidden, *b2 = w2 + hidden * classes;
  std::vector<Number> h, logits;
  for (int j = 0; j < hidden; ++j) {
    Number total = b1[j];
    for (int i = 0; i < inputs; ++i) total = total + x[sample * inputs + i] * w1[i * hidden + j];
    h.push_back(tanh(total));
  }
  for (int c = 0; c < classes; ++c) {
    Number total = b2[c];
    for (int j = 0; j < hidden; ++j) total = total + h[j] * w2[j * classes + c];
    logits.push_back(total);
  }
  Number denominator = exp(logits[0]);
  for (int c = 1; c < classes; ++c) denominator = denominator + exp(logits[c]);
  return log(denominator) - logits[sample % classes];  // −log of the right class's share: lesson 04
}

template <class Number>
Number network_loss(const std::vector<Number>& p, const std::vector<Number>& x) {
  Number total = sample_loss(p, x, 0);
  for (int sample = 1; sample < samples; ++sample) total = total + sample_loss(p, x, sample);
  return total;
}

// (f(p + h) − f(p − h)) / 2h for each parameter.
template <class Number>
std::vector<double> central_differences(const std::vector<double>& p, const std::vector<double>& x,
                                        double h) {
  std::vector<Number> at(p.begin(), p.end());
  const std::vector<Number> fixed(x.begin(), x.end());
  std::vector<double> gradient;
  for (std::size_t i = 0; i < p.size(); ++i) {
    at[i] = static_cast<Number>(p[i] + h);
    const double above = network_loss(at, fixed);
    at[i] = static_cast<Number>(p[i] - h);
    gradient.push_back((above - network_loss(at, fixed)) / (2 * h));
    at[i] = static_cast<Number>(p[i]);
  }
  return gradient;
}

}  // namespace attn
