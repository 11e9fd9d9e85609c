#include EXERCISE

#include "lessons/mine/exports.hpp"

// `look`, `feed` and `normalise`, which exercise 11 is given, lead back to the parts of the milestone. Which
// attention is meant is told by its weights: here they are nothing but markers.
using namespace attn;

namespace {

const mine::LayerParts* current = nullptr;

const exercise::AttentionWeights& self_marker() {
  static const Tensor mark = zeros({1});
  static const exercise::AttentionWeights weights{mark, mark, mark, mark};
  return weights;
}
const exercise::AttentionWeights& cross_marker() {
  static const Tensor mark = zeros({1});
  static const exercise::AttentionWeights weights{mark, mark, mark, mark};
  return weights;
}

// A layer is called from inside of no other, but the parts that it calls may throw.
struct Using {
  explicit Using(const mine::LayerParts& parts) { current = &parts; }
  ~Using() { current = nullptr; }
};

}  // namespace

Tensor exercise::look(const Tensor& asking, const Tensor& answering, const Tensor& visible,
                      const AttentionWeights& w) {
  return (w.query.is(self_marker().query) ? current->self : current->cross)(asking, answering, visible);
}
Tensor exercise::feed(const Tensor& x, const FeedForwardWeights&) { return current->feed(x); }
Tensor exercise::normalise(const Tensor& x) { return current->norm(x); }

void export_functions(mine::Exports& exports) {
  exports.add("encoder_layer", [](const Tensor& x, Index length, const mine::LayerParts& parts) {
    const Using using_these(parts);
    return exercise::encoder_layer(x, length, {self_marker(), {}});
  });
  exports.add("decoder_layer",
              [](const Tensor& y, const Tensor& memory, Index source_length, const mine::LayerParts& parts) {
                const Using using_these(parts);
                return exercise::decoder_layer(y, memory, source_length, {self_marker(), cross_marker(), {}});
              });
  exports.add("shift_targets", exercise::shift_targets);
}
