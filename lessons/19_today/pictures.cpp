#include "lessons/19_today/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max, max_element, min, stable_sort
#include <iterator>   // ssize
#include <map>        // map
#include <numeric>    // accumulate

#include "core/viz/axis.hpp"
#include "lessons/support/diagram.hpp"

namespace attn {

using viz::Point;

namespace {

constexpr int attention_color = 0, feed_color = 1, norm_color = 2, position_color = 4;

// Leaves the residual path to the left, passes through the boxes from the bottom up, and is added to it
// again; returns the height of the sum.
double draw_branch(viz::Image& image, Point start, const std::vector<DiagramBox>& boxes) {
  const double x = start.x - 160;
  std::vector<Point> way{start, {x, start.y}};
  double y = start.y;
  for (DiagramBox box : boxes) {
    const double height = box.detail.empty() ? 34 : 48;
    y -= height + 18;
    way.push_back({x, y + height});
    draw_arrow(image, way);
    box.place = {x - 95, y, 190, height};
    draw_box(image, box);
    way = {{x, y}};
  }
  const Point sum{start.x, y - 20};
  way.push_back({x, sum.y});
  way.push_back({sum.x - 11, sum.y});
  draw_arrow(image, way);
  return sum.y;
}

void draw_block(viz::Image& image, double path, bool today) {
  constexpr double bottom = 470, top = 88;
  const DiagramBox norm{.label = today ? "RMSNorm" : "LayerNorm", .color = norm_color};
  const std::vector<DiagramBox> sublayers = {
      {.label = "attention",
       .detail = today ? "RoPE on q, k; 2 kv heads" : "4 heads, 4 kv heads",
       .color = attention_color},
      {.label = today ? "SwiGLU" : "feed-forward, ReLU",
       .detail = today ? "no biases" : "with biases",
       .color = feed_color}};
  draw_arrow(image, {{path, bottom}, {path, top}}, {viz::palette(3), 4});
  draw_box(image, {.place = {path - 80, bottom, 160, 34}, .label = "embedding", .color = -1});
  double y = bottom - 8;
  if (!today) {
    draw_box(image, {.place = {path - 290, bottom, 150, 34}, .label = "positions", .color = position_color});
    draw_arrow(
        image,
        {{path - 140, bottom + 17}, {path - 110, bottom + 17}, {path - 110, y - 8}, {path - 11, y - 8}});
    draw_plus(image, {path, y - 8});
    y -= 26;
  }
  for (const DiagramBox& sublayer : sublayers) {
    y = draw_branch(image, {path, y}, today ? std::vector{norm, sublayer} : std::vector{sublayer});
    draw_plus(image, {path, y});
    if (!today) {
      y -= 62;
      draw_box(image, {.place = {path - 62, y, 124, 34}, .label = norm.label, .color = norm_color});
    }
    y -= 24;
  }
  draw_note(image, {path + 14, top + 8}, today ? "one more RMSNorm at the end" : "to the next block");
}

}  // namespace

viz::Image draw_two_blocks() {
  viz::Image image(1010, 530);
  draw_title(image, "One block, 2017 and today");
  for (const bool today : {false, true}) {
    const double left = today ? 480 : 20;
    draw_text(image, {left, 62}, today ? "today: Llama" : "2017: Transformer", {.bold = true});
    draw_block(image, left + 290, today);
  }
  return image;
}

viz::Image draw_seeds(const std::vector<SeedRow>& rows, const std::string& title,
                      const std::string& value_title) {
  constexpr double left = 190, right = 560, top = 70, step = 40;
  double low = rows[0].values[0], high = low;
  for (const SeedRow& row : rows)
    for (const double value : row.values) low = std::min(low, value), high = std::max(high, value);
  const viz::Axis axis = viz::make_axis(low, high, viz::Scale::linear, 6, true);
  const auto place = [&](double value) { return left + (right - left) * axis.fraction(value); };
  viz::Image image(760, int(top + step * double(rows.size()) + 62));
  draw_title(image, title);
  const double bottom = top + step * double(rows.size());
  for (Index t = 0; t < std::ssize(axis.ticks); ++t) {
    const double x = place(axis.ticks[t]);
    viz::line(image, {x, top - 8}, {x, bottom}, {viz::paint::grid, 1});
    draw_note(image, {x, bottom + 14}, axis.labels[t], Align::center);
  }
  draw_note(image, {(left + right) / 2, bottom + 38}, value_title, Align::center);
  for (Index i = 0; i < std::ssize(rows); ++i) {
    const double y = top + step * (double(i) + 0.5);
    const std::vector<double>& values = rows[i].values;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    draw_text(image, {left - 14, y}, rows[i].name, {.align = Align::right});
    viz::line(image, {place(mean), y - 12}, {place(mean), y + 12}, {viz::paint::ink, 2});
    for (const double value : values) viz::fill_circle(image, {place(value), y}, 5, viz::palette(i));
    draw_note(image, {right + 20, y}, fmt::format("{:.3f}", mean));
  }
  return image;
}

viz::Image draw_routing(const std::vector<int>& characters, const std::vector<int>& chosen, Index experts,
                        const CharacterVocabulary& vocabulary) {
  constexpr double frequent = 20;
  std::map<int, std::vector<double>> counts;
  for (Index n = 0; n < std::ssize(characters); ++n)
    counts.try_emplace(characters[n], std::vector<double>(experts)).first->second[chosen[n]] += 1;
  const auto all = [](const std::vector<double>& count) {
    return std::accumulate(count.begin(), count.end(), 0.0);
  };
  const auto favourite = [](const std::vector<double>& count) {
    return std::max_element(count.begin(), count.end()) - count.begin();
  };
  std::vector<std::pair<int, std::vector<double>>> kept;
  for (const auto& entry : counts)
    if (all(entry.second) >= frequent) kept.push_back(entry);
  std::stable_sort(kept.begin(), kept.end(), [&](const auto& one, const auto& other) {
    return favourite(one.second) < favourite(other.second);
  });

  viz::Matrix shares(experts, std::ssize(kept));
  viz::HeatmapOptions options{.title = "Who is routed where",
                              .x_title = "character that is read (frequent ones)",
                              .y_title = "expert",
                              .low = 0,
                              .high = 1,
                              .value_title = "share"};
  for (Index e = 0; e < experts; ++e) options.row_labels.push_back(std::to_string(e));
  for (Index i = 0; i < std::ssize(kept); ++i) {
    options.column_labels.push_back(vocabulary.label(kept[i].first));
    for (Index e = 0; e < experts; ++e) shares(e, i) = float(kept[i].second[e] / all(kept[i].second));
  }
  return viz::heatmap(shares, options);
}

}  // namespace attn
