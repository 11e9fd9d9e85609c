#include "lessons/04_learning/spirals.hpp"

#include <cmath>  // cos, sin

namespace attn {

Spirals make_spirals(Index count, Rng& rng) {
  Spirals data{empty({count, 2}), IntTensor({count})};
  for (Index i = 0; i < count; ++i) {
    const int arm = int(i % 2);
    const double along = 0.1 + 0.9 * rng.uniform(), radius = 3 * along, angle = M_PI * (3.4 * along + arm);
    data.points(i, 0) = real(radius * std::cos(angle) + 0.06 * rng.normal());
    data.points(i, 1) = real(radius * std::sin(angle) + 0.06 * rng.normal());
    data.classes[i] = arm;
  }
  return data;
}

Network::Network(Rng& rng, Index hidden_layers, Activation activation, Index width) : activation(activation) {
  for (Index i = 0; i <= hidden_layers; ++i)
    layers.emplace_back(i == 0 ? 2 : width, i == hidden_layers ? 2 : width, rng);
}

Tensor Network::operator()(const Tensor& points) const {
  Tensor x = points;
  for (const Linear& layer : layers) x = layer(x, &layer == &layers.back() ? Activation::none : activation);
  return x;
}

double accuracy_of(const Network& network, const Spirals& data) {
  const NoGrad no_grad;
  const IntTensor answers = argmax(network(data.points));
  Index right = 0;
  for (Index i = 0; i < answers.numel(); ++i) right += answers[i] == data.classes[i];
  return double(right) / double(answers.numel());
}

viz::Image decision_picture(const Network& network, const Spirals& data, const std::string& title) {
  viz::Points points{.classes = data.classes.values(), .class_names = {"first arm", "second arm"}};
  for (Index i = 0; i < data.points.size(0); ++i) {
    points.x.push_back(data.points(i, 0));
    points.y.push_back(data.points(i, 1));
  }
  const viz::Grid grid{-3.4, 3.4, -3.4, 3.4, 120, 120};
  Tensor places = empty({grid.rows * grid.cols, 2});
  for (Index i = 0; i < places.size(0); ++i) {
    places(i, 0) = real(grid.x(i % grid.cols));
    places(i, 1) = real(grid.y(i / grid.cols));
  }
  const NoGrad no_grad;
  const Tensor p = softmax(network(places));
  viz::Matrix second_arm(grid.rows, grid.cols);
  for (Index i = 0; i < p.size(0); ++i) second_arm.values[i] = float(p(i, 1));
  return viz::scatter(points,
                      {.title = title, .grid = grid, .background = second_arm, .width = 400, .height = 420});
}

}  // namespace attn
