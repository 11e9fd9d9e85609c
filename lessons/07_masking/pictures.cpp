#include "lessons/07_masking/pictures.hpp"

#include "core/ops.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of

namespace attn {
namespace {

// A heatmap in which hidden cells are grey and hold `hidden`, so that they cannot be taken for small numbers.
// (Faded cells are no numbers to a dark page either: there this grey is dark.)
viz::Image panel(const std::string& title, const Tensor& values, const Tensor& visible,
                 const std::string& hidden, viz::HeatmapOptions options) {
  options.title = title;
  const viz::Matrix matrix = matrix_of(values);
  options.faded = matrix_of(1 - visible);
  viz::Image image = viz::heatmap(matrix, options);
  const viz::HeatmapLayout layout = viz::heatmap_layout(matrix, options);
  for (Index i = 0; i < matrix.rows; ++i)
    for (Index j = 0; j < matrix.cols; ++j) {
      if (visible(i, j) != 0) continue;
      const viz::Rect cell = layout.cell(i, j);
      viz::fill_rect(image, {cell.x, cell.y, cell.width - 1, cell.height - 1}, viz::paint::minus_infinity);
      viz::draw_text(image, cell.center(), hidden, {.size = 13, .align = Align::center});
    }
  return image;
}

}  // namespace

viz::Image scores_to_weights(const Tensor& scores, const Tensor& visible, const Tensor& weights,
                             const viz::HeatmapOptions& options) {
  const Tensor all = ones(scores.shape()), no_bias = zeros(scores.shape());
  viz::HeatmapOptions raw = options;
  raw.high = 2.5, raw.decimals = 1;
  return viz::row(
      {panel("scores", scores, all, "", raw), panel("mask, as a bias", no_bias, visible, "−∞", raw),
       panel("scores + bias", scores, visible, "−∞", raw), panel("weights", weights, visible, "0", options)},
      {.title = "From scores to weights", .between = {"+", "=", "softmax →"}});
}

viz::Image both_masks(const Tensor& causal, const Tensor& padding, const Tensor& both,
                      const viz::HeatmapOptions& options) {
  return viz::row({panel("causal", causal, causal, "0", options),
                   panel("padding", padding, padding, "0", options), panel("both", both, both, "0", options)},
                  {.title = "What may be seen", .between = {"×", "="}});
}

}  // namespace attn
