#include "lessons/14_decoding/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max
#include <cmath>      // round
#include <iterator>   // ssize

namespace attn {

using namespace viz;

Image beam_tree(const BeamResult& result, const std::function<std::string(int)>& label,
                const std::string& title) {
  std::vector<bool> on_best(result.tree.size(), false);
  for (Index at = result.hypotheses[0].node; at >= 0; at = result.tree[at].parent) on_best[at] = true;
  std::vector<TreeNode> nodes;
  std::vector<int> number(result.tree.size(), -1), dropped(result.tree.size(), 0);
  Index deepest = 0;
  for (Index i = 0; i < std::ssize(result.tree); ++i) {
    const BeamNode& node = result.tree[i];
    const Index parent = std::max<Index>(node.parent, 0);
    if (!node.kept && dropped[parent]++ > 0) continue;
    number[i] = int(nodes.size());
    deepest = std::max(deepest, node.depth);
    nodes.push_back({.label = label(node.token),
                     .detail = node.parent < 0 ? "" : fmt::format("{:.2f}", node.log_probability),
                     .parent = node.parent < 0 ? -1 : number[parent],
                     .branch = on_best[i]  ? Branch::best
                               : node.kept ? Branch::kept
                                           : Branch::pruned});
  }
  std::vector<std::string> steps = {"start"};
  for (Index depth = 1; depth <= deepest; ++depth) steps.push_back(fmt::format("word {}", depth));
  return tree(nodes, {.title = title, .steps = steps});
}

Image small_multiples(const std::vector<std::string>& words,
                      const std::vector<NamedDistribution>& distributions, const std::string& title) {
  constexpr Index columns = 3;
  std::vector<Image> rows, images;
  for (Index i = 0; i < std::ssize(distributions); ++i) {
    std::vector<double> rounded;
    for (const double p : distributions[i].probabilities) rounded.push_back(std::round(100 * p) / 100);
    images.push_back(
        bar_chart(words, rounded,
                  {.title = distributions[i].name, .value_title = "probability", .high = 1, .width = 380}));
    if ((i + 1) % columns == 0 || i + 1 == std::ssize(distributions)) {
      rows.push_back(row(images));
      images.clear();
    }
  }
  return column(rows, {.title = title});
}

Image cache_rows(const std::vector<std::string>& words) {
  constexpr double cell = 26, block = 3 * cell, gap = 14, step_width = 2 * block + gap + 116, left = 150,
                   top = 96, row_height = 166;
  constexpr Color kept{214, 218, 225};
  const Index steps = std::ssize(words);
  Image image(int(left + step_width * double(steps)), int(top + 2 * row_height + 34));
  const TextStyle center{.align = Align::center}, small{.size = 12, .color = paint::muted};

  draw_text(image, {24, 28}, "The rows of keys K and values V that each step computes",
            {.size = 18, .bold = true});
  for (Index with_cache = 0; with_cache < 2; ++with_cache) {
    const double y = top + row_height * double(with_cache);
    draw_text(image, {24, y + 40}, with_cache ? "with a cache" : "without", {.size = 15, .bold = true});
    draw_text(image, {24, y + 62}, with_cache ? "one new row" : "every row again", small);
    Index computed = 0;
    for (Index step = 0; step < steps; ++step) {
      const double x = left + step_width * double(step);
      if (with_cache == 0)
        draw_text(image, {x + 60 + block, y - 36}, "step " + std::to_string(step + 1),
                  {.bold = true, .align = Align::center});
      for (Index side = 0; side < 2; ++side) {
        const double corner = x + 60 + double(side) * (block + gap);
        draw_text(image, {corner + block / 2, y - 14}, side == 0 ? "K" : "V", center);
        for (Index r = 0; r <= step; ++r) {
          const bool is_new = with_cache == 0 || r == step;
          for (Index d = 0; d < 3; ++d)
            fill_rect(image, {corner + cell * double(d), y + cell * double(r), cell - 2, cell - 2},
                      is_new ? mix(palette(side), paint::white, 0.25) : kept);
          if (side == 0)
            draw_text(image, {corner - 8, y + cell * (double(r) + 0.5) - 1}, words[r],
                      {.size = 13, .align = Align::right});
        }
      }
      computed += with_cache ? 1 : step + 1;
    }
    draw_text(image, {24, y + 84}, fmt::format("{} rows in all", computed), small);
  }
  const double y = top + 2 * row_height + 6;
  fill_rect(image, {left, y - 8, 16, 16}, mix(palette(0), paint::white, 0.25));
  fill_rect(image, {left + 18, y - 8, 16, 16}, mix(palette(1), paint::white, 0.25));
  draw_text(image, {left + 42, y}, "computed in this step", small);
  fill_rect(image, {left + 200, y - 8, 16, 16}, kept);
  draw_text(image, {left + 224, y}, "kept from an earlier step", small);
  return image;
}

}  // namespace attn
