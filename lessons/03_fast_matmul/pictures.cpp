#include "lessons/03_fast_matmul/pictures.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // max, min
#include <iterator>   // ssize
#include <set>        // set

#include "core/viz/axis.hpp"
#include "core/viz/chart.hpp"
#include "core/viz/text.hpp"

namespace attn {

using namespace viz;

namespace {

constexpr TextStyle heading{.size = 17, .bold = true}, subtitle{.bold = true},
    note{.size = 13, .color = paint::muted},
    note_middle{.size = 13, .color = paint::muted, .align = Align::center};

// A matrix of 16 rows, two cache lines of 16 floats in each. read(i, j) says which floats are read.
template <class Read>
void draw_walk(Image& image, Point corner, Color color, const Read& read) {
  constexpr int side = 12, rows = 16, per_line = 16, lines = 2;
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < lines; ++l) {
      bool fetched = false;
      for (int j = 0; j < per_line; ++j) fetched = fetched || read(i, l * per_line + j);
      const Point line_corner{corner.x + l * (per_line * side + 6), corner.y + i * (side + 3)};
      for (int j = 0; j < per_line; ++j)
        fill_rect(image, {line_corner.x + j * side, line_corner.y, side - 1.0, side - 1.0},
                  read(i, l * per_line + j) ? color
                  : fetched                 ? mix(color, paint::white, 0.72)
                                            : paint::grid);
    }
}

void draw_key(Image& image, Point at, Color color, const std::string& text) {
  fill_rect(image, {at.x, at.y - 6, 12, 12}, color);
  draw_text(image, {at.x + 19, at.y}, text, note);
}

}  // namespace

Image cache_lines_picture() {
  Image image(880, 432);
  const Color down = palette(1), along = palette(0);
  draw_text(image, {20, 30}, "Sixteen reads of B, and the cache lines they fetch", heading);
  draw_text(image, {20, 66}, "ijk: down a column", subtitle);
  draw_walk(image, {20, 84}, down, [](int, int j) { return j == 5; });
  draw_text(image, {20, 346}, "16 lines fetched, 1,024 bytes; 64 of them used", {});
  draw_text(image, {460, 66}, "ikj: along a row", subtitle);
  draw_walk(image, {460, 84}, along, [](int i, int j) { return i == 3 && j < 16; });
  draw_text(image, {460, 346}, "1 line fetched, 64 bytes; all of them used", {});
  draw_key(image, {20, 386}, down, "read");
  draw_key(image, {90, 386}, mix(down, paint::white, 0.72), "fetched with it, not used");
  draw_key(image, {290, 386}, paint::grid, "not fetched");
  draw_text(image, {460, 386}, "each square is a float, each block of 16 a cache line", note);
  return image;
}

Image packing_picture() {
  constexpr int rows = 8, columns = 28, width = 4, first = 8, side = 14;
  Image image(880, 352);
  draw_text(image, {20, 30}, "Packing: a strip of B, copied to where it is read", heading);
  draw_text(image, {20, 66}, "in B, the rows of a strip lie a whole row apart", subtitle);
  const Color strip = palette(0);
  const auto shade = [&](int row) { return mix(strip, paint::white, 0.08 * row); };
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const bool chosen = j >= first && j < first + width;
      fill_rect(image, {20.0 + j * side, 86.0 + i * (side + 2), side - 1.0, side - 1.0},
                chosen ? shade(i) : paint::grid);
    }
  draw_text(image, {190, 244}, "packed, they follow one another", subtitle);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j)
      fill_rect(image, {20.0 + (i * width + j) * side, 276, side - 1.0, side - 1.0}, shade(i));
  const double middle = 20.0 + (first + width / 2.0) * side;
  line(image, {middle, 86.0 + rows * (side + 2) + 4}, {middle, 260}, {paint::muted, 2});
  arrow_head(image, {middle, 240}, {middle, 269}, paint::muted, 10);
  draw_text(image, {20, 318}, "one row of the strip, then the next: the loop over k walks straight on", note);
  const double x = 20.0 + columns * side + 40;
  double y = 92;
  for (const char* text :
       {"The register tile needs a few columns of B,", "row after row, and needs them again",
        "for every tile below. One copy pays", "for all of these reads."})
    draw_text(image, {x, y}, text, {}), y += 22;
  return image;
}

Image ladder_picture(const std::vector<Rung>& rungs, int threads, const std::string& title) {
  constexpr double left = 130, top = 84, row_height = 44, plot_width = 620;
  double low = 1e9, high = 0;
  for (const Rung& rung : rungs) {
    low = std::min({low, rung.one_core, rung.all_cores > 0 ? rung.all_cores : rung.one_core});
    high = std::max({high, rung.peak * (rung.all_cores > 0 ? threads : 1), rung.all_cores});
  }
  const Axis axis = make_axis(low / 2, high * 1.4, Scale::log10, 6, false);
  const double bottom = top + row_height * double(rungs.size());
  const auto x_of = [&](double value) { return left + plot_width * axis.fraction(value); };
  Image image(int(left + plot_width) + 100, int(bottom) + 70);
  draw_text(image, {20, 30}, title, heading);
  const Color one = palette(0), all = palette(1), peak = paint::ink;
  draw_key(image, {left, 62}, one, "one core");
  if (threads > 1) draw_key(image, {left + 110, 62}, all, fmt::format("{} cores", threads));
  line(image, {left + 226, 54}, {left + 226, 70}, {peak, 2});
  draw_text(image, {left + 234, 62}, "peak with vectors of that width", note);
  for (Index t = 0; t < std::ssize(axis.ticks); ++t) {
    line(image, {x_of(axis.ticks[t]), top}, {x_of(axis.ticks[t]), bottom}, {paint::grid, 1});
    draw_text(image, {x_of(axis.ticks[t]), bottom + 16}, axis.labels[t], note_middle);
  }
  draw_text(image, {left + plot_width / 2, bottom + 44}, "GFLOP/s (logarithmic)", note_middle);
  std::set<std::string> labelled;  // each peak where it first occurs
  const auto mark = [&](double value, Rect row, const std::string& label) {
    line(image, {x_of(value), row.y}, {x_of(value), row.bottom()}, {peak, 2.5});
    if (labelled.insert(label).second)
      draw_text(image, {x_of(value) + 8, row.y + row.height / 2}, label, note);
  };
  for (Index r = 0; r < std::ssize(rungs); ++r) {
    const Rung& rung = rungs[r];
    const double y = top + row_height * double(r);
    draw_text(image, {left - 10, y + row_height / 2}, rung.name, {.align = Align::right});
    const bool both = rung.all_cores > 0;
    const auto bar = [&](double value, double bar_top, double height, Color color) {
      fill_rect(image, {left, bar_top, x_of(value) - left, height}, color);
      draw_text(image, {x_of(value) - 6, bar_top + height / 2}, format_number(value),
                {.size = 12, .color = paint::white, .bold = true, .align = Align::right});
    };
    bar(rung.one_core, both ? y + 4 : y + 8, both ? 18 : 28, one);
    mark(rung.peak, {0, y + 2, 0, both ? 20 : row_height - 4}, rung.width);
    if (!both) continue;
    bar(rung.all_cores, y + 23, 18, all);
    mark(rung.peak * threads, {0, y + 22, 0, 20}, fmt::format("{} x {}", threads, rung.width));
  }
  return image;
}

Image roofline_picture(const std::vector<MemoryLevel>& levels, double peak,
                       const std::vector<Operation>& operations) {
  std::vector<Series> lines;
  for (const MemoryLevel& level : levels) {
    Series roof{.name = fmt::format("{}, {:.0f} GB/s", level.name, level.bandwidth),
                .dashed = &level != &levels.back()};
    for (const double intensity : {1.0 / 16, std::max(peak / level.bandwidth, 1.0 / 16), 512.0}) {
      roof.x.push_back(intensity);
      roof.y.push_back(std::min(peak, level.bandwidth * intensity));
    }
    lines.push_back(roof);
  }
  Series points{.name = "measured", .line = false, .points = true};
  for (const Operation& operation : operations) {
    points.x.push_back(operation.intensity);
    points.y.push_back(operation.speed);
    points.labels.push_back(operation.name);
  }
  lines.push_back(points);
  return line_chart(lines, {.title = "What holds it back: memory or arithmetic?",
                            .x_title = "FLOP per byte fetched",
                            .y_title = "GFLOP/s of one core",
                            .x_scale = Scale::log2,
                            .y_scale = Scale::log10});
}

}  // namespace attn
