// The task of lesson 04: points on two spiral arms, and a network that has to tell the arms apart.
#pragma once

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "core/viz/chart.hpp"
#include "nn/linear.hpp"

namespace attn {

struct Spirals {
  Tensor points;      // (N, 2)
  IntTensor classes;  // (N), the arm of each: 0 or 1
};

// Two arms, each of one and a half turns, the second half a turn ahead.
Spirals make_spirals(Index count, Rng& rng);

struct Network {
  std::vector<Linear> layers;
  Activation activation;  // after each layer but the last

  explicit Network(Rng& rng, Index hidden_layers = 2, Activation activation = Activation::tanh,
                   Index width = 48);
  Tensor operator()(const Tensor& points) const;  // (N, 2) -> (N, 2) logits
  void parameters(ParameterList& list) const { list.add_layers("layer", layers); }
};

double accuracy_of(const Network& network, const Spirals& data);

// The points, over what the network decides at each place of the plane.
viz::Image decision_picture(const Network& network, const Spirals& data, const std::string& title);

}  // namespace attn
