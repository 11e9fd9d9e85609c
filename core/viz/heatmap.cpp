#include "core/viz/heatmap.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // clamp, find, max, min
#include <cmath>      // ceil, llround
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/viz/decorations.hpp"

namespace attn::viz {

namespace {

constexpr Index most_cells = 2048;  // per side; larger matrices are shrunk
constexpr double longest_label = 150;

// Indices at round steps, so far apart that they do not touch; empty text in between.
std::vector<std::string> index_labels(Index count, Index shrink, double slot, double room) {
  room = std::max(room, double(count) * slot / 25);  // and not more than about 25 of them
  const Index step = std::max<Index>(1, std::llround(round_step(room / slot)));
  std::vector<std::string> labels(count);
  for (Index i = 0; i < count; i += step) labels[i] = std::to_string(i * shrink);
  return labels;
}

struct CellSize {
  int width, height;
};

// The cells of a matrix, each in color(row, column). Those of a sequential map keep their colours on dark
// paper, unless they are faded.
template <class ColorOf, class IsFaded>
void draw_cells(Image& image, const Matrix& matrix, Point corner, CellSize cell, const ColorOf& color,
                const IsFaded& faded, const std::string& name, const HeatmapOptions& options) {
  // Thin white lines between cells that are large enough to spare the pixel.
  const int gap = std::min(cell.width, cell.height) >= 12 ? 1 : 0;
  const bool keep = options.colors == Colors::sequential;
  for (Index r = 0; r < matrix.rows; ++r)
    for (Index c = 0; c < matrix.cols; ++c) {
      const Rect rect{corner.x + double(c * cell.width), corner.y + double(r * cell.height),
                      double(cell.width - gap), double(cell.height - gap)};
      fill_rect(image, rect, color(r, c));
      if (keep && gap && !faded(r, c)) image.kept.push_back(rect);
    }
  const Rect all{corner.x, corner.y, double(matrix.cols * cell.width), double(matrix.rows * cell.height)};
  if (keep && !gap) image.kept.push_back(all);
  image.drawn.push_back({all, matrix, options.scores, name, options.x_title, options.y_title,
                         options.value_title, options.row_labels, options.column_labels});
}

// Everything about a heatmap that must be known before its first pixel is painted.
struct Plan {
  HeatmapLayout layout;
  Matrix small;  // the matrix where it is shrunk
  const Matrix* matrix;
  ColorScale scale;
  ColorBar bar;
  std::vector<std::string> row_labels;
  EdgeLabels column_labels;
  std::string note;
  double number_size = 0;  // 0: no numbers
  bool has_bar;

  Plan(const Matrix& given, const HeatmapOptions& options)
      : matrix(&given),
        scale(fit_scale({&given}, options.colors, options.low, options.high)),
        bar(scale, {&given}, options.value_title),
        has_bar(options.color_bar && !given.values.empty()) {
    check(given, options);
    const Index longest = std::max(given.rows, given.cols);
    layout.shrink = int((longest + most_cells - 1) / most_cells);
    if (layout.shrink > 1) {
      small = block_means(given, layout.shrink, layout.shrink);
      matrix = &small;
      note = fmt::format("each pixel is the mean of {} × {} cells", layout.shrink, layout.shrink);
    }
    if (given.values.empty()) note = "no cells: the matrix is empty";
    layout.rows = matrix->rows;
    layout.cols = matrix->cols;
    choose_cells(options);
    choose_labels(options);
    choose_places(options);
  }

 private:
  static void check(const Matrix& given, const HeatmapOptions& options) {
    const Index rows = std::ssize(options.row_labels), cols = std::ssize(options.column_labels);
    if (rows && rows != given.rows) fail("heatmap: {} row labels for {} rows", rows, given.rows);
    if (cols && cols != given.cols) fail("heatmap: {} column labels for {} columns", cols, given.cols);
    const Matrix& faded = options.faded;
    if (faded.rows && (faded.rows != given.rows || faded.cols != given.cols))
      fail("heatmap: faded is {} x {}, the matrix {} x {}", faded.rows, faded.cols, given.rows, given.cols);
  }

  void choose_cells(const HeatmapOptions& options) {
    const Index longest = std::max<Index>({layout.rows, layout.cols, 1});
    int side = int(std::clamp<Index>(520 / longest, 1, 52));
    const bool labelled = !options.row_labels.empty() || !options.column_labels.empty();
    if (labelled && longest <= 100) side = std::max(side, 20);
    int number_width = 0;
    if (options.numbers && longest <= 64) {
      number_size = small_size;
      for (const float value : matrix->values) {
        const double width = text_width(format_fixed(value, options.decimals), number_size);
        number_width = std::max(number_width, int(width) + 12);
      }
      side = std::max(side, 26);
    }
    if (options.cell > 0) side = options.cell;
    // A flat or narrow matrix gets cells that are longer the other way, so that they can be seen.
    const auto stretched = [&](Index count) {
      if (options.cell > 0) return side;
      return std::max(side, int(std::min<Index>(120 / std::max<Index>(count, 1), 36)));
    };
    layout.cell_width = std::max(stretched(layout.cols), number_width);
    layout.cell_height = stretched(layout.rows);
  }

  void choose_labels(const HeatmapOptions& options) {
    row_labels = index_labels(layout.rows, layout.shrink, layout.cell_height, 17);
    if (!options.row_labels.empty() && layout.shrink == 1) {
      const Index stride = Index(std::ceil(15.0 / layout.cell_height));
      for (Index i = 0; i < layout.rows; ++i)
        row_labels[i] = i % stride ? "" : shorten(visible(options.row_labels[i]), longest_label);
    }
    if (!options.column_labels.empty() && layout.shrink == 1) {
      column_labels = EdgeLabels(options.column_labels, layout.cell_width, longest_label);
    } else {
      const double room = text_width(std::to_string(layout.cols * layout.shrink)) + 10;
      column_labels.texts = index_labels(layout.cols, layout.shrink, layout.cell_width, room);
      column_labels.height = 18;
      column_labels.color = paint::muted;
      column_labels.size = small_size;
    }
  }

  void choose_places(const HeatmapOptions& options) {
    const Heading heading{.title = options.title};
    const int cells_wide = int(layout.cols) * layout.cell_width;
    const int cells_high = int(layout.rows) * layout.cell_height;
    layout.left =
        margin + (options.y_title.empty() ? 0 : 24) + int(std::ceil(widest(row_labels, label_size))) + 9;
    const int right =
        layout.left + std::max({cells_wide + (has_bar ? 20 + bar.width() : 0),
                                cells_wide + int(column_labels.overhang), int(text_width(note, small_size))});
    // Room for the title to break into lines of a sensible length.
    const int titled = 2 * margin + 2 + int(text_width(options.title, title_size, true));
    layout.width = std::max(
        {right + margin, std::min(300, titled), layout.left + margin + int(text_width(options.x_title))});
    layout.top = margin + heading.height(layout.width) + (options.x_title.empty() ? 0 : 22) +
                 int(std::ceil(column_labels.height));
    const int body =
        std::max({cells_high, has_bar ? bar.least_height() : 0, int(text_width(options.y_title))});
    layout.height = layout.top + body + (note.empty() ? 0 : 24) + margin;
  }
};

}  // namespace

Rect HeatmapLayout::cell(Index row, Index column) const {
  return {double(left + column * cell_width), double(top + row * cell_height), double(cell_width),
          double(cell_height)};
}

Rect HeatmapLayout::cells() const {
  return {double(left), double(top), double(cols * cell_width), double(rows * cell_height)};
}

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options) {
  return Plan(matrix, options).layout;
}

Image heatmap(const Matrix& matrix, const HeatmapOptions& options) {
  const Plan plan(matrix, options);
  const HeatmapLayout& layout = plan.layout;
  const Rect cells = layout.cells();
  Image image(layout.width, layout.height);
  image.middle = int(cells.center().y);
  Heading{.title = options.title}.draw(image);

  const auto pale = [&](Index r, Index c) {
    return layout.shrink == 1 && options.faded.rows && options.faded(r, c) != 0;
  };
  const auto color = [&](Index r, Index c) {
    const Color full = plan.scale((*plan.matrix)(r, c));
    return pale(r, c) ? mix(full, paint::white, 0.72) : full;
  };
  draw_cells(image, *plan.matrix, {cells.x, cells.y}, {layout.cell_width, layout.cell_height}, color, pale,
             options.title, options);
  TextStyle row_style = small_text(Align::right);
  if (!options.row_labels.empty() && layout.shrink == 1)
    row_style.size = label_size, row_style.color = paint::ink;
  for (Index r = 0; r < layout.rows; ++r)
    draw_text(image, {cells.x - 8, layout.cell(r, 0).center().y}, plan.row_labels[r], row_style);
  plan.column_labels.draw(image, cells.x, layout.cell_width, cells.y, true);

  const double x_middle = std::max(cells.center().x, cells.x + text_width(options.x_title) / 2),
               y_middle = std::max(cells.center().y, cells.y + text_width(options.y_title) / 2);
  draw_text(image, {x_middle, cells.y - plan.column_labels.height - 11}, options.x_title, axis_title());
  draw_text(image, {margin + 8, y_middle}, options.y_title, axis_title(90));
  if (plan.number_size > 0)
    for (Index r = 0; r < layout.rows; ++r)
      for (Index c = 0; c < layout.cols; ++c) {
        const float value = (*plan.matrix)(r, c);
        const bool on_dark = lightness(plan.scale(value)) < 0.66;
        draw_text(image, layout.cell(r, c).center(), format_fixed(value, options.decimals),
                  {.size = plan.number_size,
                   .color = pale(r, c) ? paint::muted
                            : on_dark  ? paint::white
                                       : paint::ink,
                   .align = Align::center});
      }
  if (plan.has_bar)
    plan.bar.draw(image, {cells.right() + 20, cells.y},
                  std::max<double>(cells.height, plan.bar.least_height()));
  draw_text(image, {cells.x, layout.height - margin - 8.0}, plan.note, small_text());
  return image;
}

namespace {

std::vector<const Matrix*> maps_of(const HeatmapGrid& grid) {
  if (grid.names.size() != grid.maps.size())
    fail("heatmap_grid: {} names for {} maps", grid.names.size(), grid.maps.size());
  if (grid.columns < 1) fail("heatmap_grid: {} columns: at least one is needed", grid.columns);
  std::vector<const Matrix*> maps;
  for (const Matrix& map : grid.maps) maps.push_back(&map);
  return maps;
}

ColorScale scale_of(const HeatmapGrid& grid) {
  return fit_scale(maps_of(grid), grid.options.colors, grid.options.low, grid.options.high);
}

}  // namespace

Image heatmap_grid(const HeatmapGrid& grid) {
  const HeatmapOptions& options = grid.options;
  const std::vector<const Matrix*> maps = maps_of(grid);
  const ColorBar bar(scale_of(grid), maps, options.value_title);
  Index longest = 1;
  for (const Matrix* map : maps) longest = std::max({longest, map->rows, map->cols});

  // A thumbnail is about 140 pixels; what is larger is shrunk to at most 280.
  const Index shrink = (longest + 279) / 280, cells = (longest + shrink - 1) / shrink;
  const int cell = int(std::clamp<Index>(140 / cells, 1, 40)), side = int(cells) * cell;
  const int caption = 24, gap = 18;
  const int slot = std::max(side, 90) + gap, count = int(maps.size());
  const int columns = std::min(grid.columns, std::max(count, 1)), lines = (count + columns - 1) / columns;
  const int left = margin + (options.y_title.empty() ? 0 : 26);
  const int bar_left = left + columns * slot + 4;
  const int width = std::max(bar_left + bar.width() + margin, 300);
  const Heading heading{.title = options.title};
  const int title = heading.height(width), top = margin + title + (options.x_title.empty() ? 0 : 24);
  const int body = std::max(lines * (side + caption + gap) - gap, caption + bar.least_height());
  Image image(width, top + body + margin);
  image.middle = top + body / 2;

  heading.draw(image);
  for (int i = 0; i < count; ++i) {
    const int x = left + i % columns * slot, y = top + i / columns * (side + caption + gap);
    draw_text(image, {double(x), y + 10.0}, shorten(grid.names[i], slot - 8, small_size),
              {.size = small_size});
    const Matrix map = shrink > 1 ? block_means(*maps[i], shrink, shrink) : *maps[i];
    draw_cells(
        image, map, {double(x), double(y + caption)}, {cell, cell},
        [&](Index r, Index c) { return bar.scale(map(r, c)); }, [](Index, Index) { return false; },
        grid.names[i], options);
  }
  draw_text(image, {left + (columns * slot - gap) / 2.0, margin + title + 8.0}, options.x_title,
            axis_title());
  draw_text(image, {margin + 8.0, top + (caption + body) / 2.0}, options.y_title, axis_title(90));
  if (options.color_bar)
    bar.draw(image, {double(bar_left), double(top + caption)},
             std::clamp(body - caption, bar.least_height(), 320));
  return image;
}

Image open_heatmap(const HeatmapGrid& grid, const std::string& name) {
  const ColorScale scale = scale_of(grid);
  const auto found = std::find(grid.names.begin(), grid.names.end(), name);
  if (found == grid.names.end()) {
    std::string known;
    for (const std::string& each : grid.names) known += (known.empty() ? "" : ", ") + each;
    fail("open_heatmap: the grid has no '{}'; it has: {}", name, known);
  }
  HeatmapOptions options = grid.options;
  options.title = options.title.empty() ? name : options.title + ": " + name;
  options.low = scale.low;
  options.high = scale.high;
  return heatmap(grid.maps[found - grid.names.begin()], options);
}

}  // namespace attn::viz
