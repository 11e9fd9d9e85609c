#include "lessons/12_training/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max, max_element
#include <cmath>      // log
#include <iterator>   // ssize

#include "lessons/support/diagram.hpp"

namespace attn {

namespace {

constexpr double word = 7, row = 7, gap = 14;  // of a batch: width of a word, height of a sentence

double height_of(const Batches& batches) {
  double height = 0;
  for (const std::vector<Index>& batch : batches) height += row * double(batch.size()) + gap;
  return height;
}

void draw_plan(viz::Image& image, viz::Point corner, const Batches& batches) {
  double y = corner.y;
  for (const std::vector<Index>& batch : batches) {
    const double longest = double(*std::max_element(batch.begin(), batch.end()));
    for (const Index length : batch) {
      viz::fill_rect(image, {corner.x, y, word * longest, row - 2}, viz::paint::minus_infinity);
      viz::fill_rect(image, {corner.x, y, word * double(length), row - 2}, viz::palette(0));
      y += row;
    }
    y += gap;
  }
}

std::vector<std::string> letters_of(const std::string& text) {
  std::vector<std::string> letters;
  for (const char letter : text) letters.emplace_back(1, letter);
  return letters;
}

}  // namespace

viz::Image draw_batches(const Batches& in_random_order, const Batches& by_tokens) {
  const double top = 92, bottom = top + std::max(height_of(in_random_order), height_of(by_tokens)) + 14;
  viz::Image image(860, int(bottom) + 28);
  draw_title(image, "What a batch computes: words and padding");
  const auto panel = [&](double x, const std::string& title, const Batches& batches) {
    draw_text(image, {x, 66}, title, {.bold = true});
    draw_plan(image, {x, top}, batches);
  };
  panel(20, "16 sentences per batch, in random order", in_random_order);
  panel(450, "similar lengths, at most 256 tokens", by_tokens);
  viz::fill_rect(image, {20, bottom - 5, 14, 10}, viz::palette(0));
  draw_note(image, {42, bottom}, "word");
  viz::fill_rect(image, {100, bottom - 5, 14, 10}, viz::paint::minus_infinity);
  draw_note(image, {122, bottom}, "padding");
  return image;
}

viz::Image draw_letter_maps(const std::vector<LetterMap>& maps, const std::string& source,
                            const std::string& target) {
  std::vector<viz::Image> lines, line;
  for (Index i = 0; i < std::ssize(maps); ++i) {
    const bool last = i % 3 == 2 || i + 1 == std::ssize(maps);
    line.push_back(viz::heatmap(maps[i].weights, {.title = fmt::format("step {}", maps[i].step),
                                                  .x_title = "letter that is read",
                                                  .y_title = "letter to write",
                                                  .row_labels = letters_of(target),
                                                  .column_labels = letters_of(source),
                                                  .low = 0,
                                                  .high = 1,
                                                  .value_title = "weight",
                                                  .color_bar = last,
                                                  .cell = 26}));
    if (last) lines.push_back(viz::row(line)), line.clear();
  }
  return viz::column(lines, {.title = "Cross-attention while it learns to reverse"});
}

viz::Image draw_warm_up(const std::vector<viz::Series>& by_step, const std::vector<viz::Series>& by_rate) {
  const viz::Guide guessing{.at = std::log(8.0), .label = "guessing"};
  return viz::row({viz::line_chart(by_step, {.title = "Learning rate 0.008",
                                             .x_title = "step",
                                             .y_title = "loss, median of the runs",
                                             .y_low = 0,
                                             .y_high = 4,
                                             .x_guides = {{.at = 100, .label = "from here on equal"}},
                                             .y_guides = {guessing},
                                             .width = 560}),
                   viz::line_chart(by_rate, {.title = "The loss at the end",
                                             .x_title = "learning rate, in thousandths",
                                             .y_title = "loss: each run, and the median",
                                             .x_scale = viz::Scale::log2,
                                             .x_low = 1.75,
                                             .x_high = 24,
                                             .y_low = 0,
                                             .y_guides = {guessing},
                                             .width = 560})});
}

}  // namespace attn
