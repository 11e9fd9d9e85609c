#include "core/viz/heatmap.hpp"

#include <algorithm>  // clamp, max, min
#include <cmath>      // ceil, llround

#include "core/error.hpp"
#include "core/viz/furniture.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr Index most_cells = 2048;  // a side; larger matrices are shrunk
constexpr double longest_label = 150;

// Indices at round steps, so far apart that they do not touch; empty text in between.
std::vector<std::string> index_labels(Index count, Index shrink, double slot, double room) {
  room = std::max(room, static_cast<double>(count) * slot / 25);  // and not more than about 25 of them
  const Index step = std::max<Index>(1, std::llround(round_step(room / slot)));
  std::vector<std::string> labels(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; i += step) labels[static_cast<std::size_t>(i)] = std::to_string(i * shrink);
  return labels;
}

double widest(const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label, size));
  return width;
}

void draw_cells(Image& image, const Matrix& matrix, const ColorScale& scale, Point corner, int cell_width,
                int cell_height, const Matrix& faded) {
  // Thin white lines between cells that are large enough to spare the pixel.
  const int gap = std::min(cell_width, cell_height) >= 12 ? 1 : 0;
  for (Index r = 0; r < matrix.rows; ++r)
    for (Index c = 0; c < matrix.cols; ++c) {
      Color color = scale(matrix(r, c));
      if (faded.rows && faded(r, c) != 0) color = mix(color, paint::white, 0.72);
      fill_rect(
          image,
          {corner.x + static_cast<double>(c * cell_width), corner.y + static_cast<double>(r * cell_height),
           static_cast<double>(cell_width - gap), static_cast<double>(cell_height - gap)},
          color);
    }
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
    layout.shrink = static_cast<int>((longest + most_cells - 1) / most_cells);
    if (layout.shrink > 1) {
      small = block_means(given, layout.shrink, layout.shrink);
      matrix = &small;
      note = fmt::format("each pixel is the mean of {0} × {0} cells", layout.shrink);
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
    const auto rows = static_cast<Index>(options.row_labels.size());
    const auto cols = static_cast<Index>(options.column_labels.size());
    if (rows && rows != given.rows) fail("heatmap: {} row labels for {} rows", rows, given.rows);
    if (cols && cols != given.cols) fail("heatmap: {} column labels for {} columns", cols, given.cols);
    const Matrix& faded = options.faded;
    if (faded.rows && (faded.rows != given.rows || faded.cols != given.cols))
      fail("heatmap: faded is {} x {}, the matrix {} x {}", faded.rows, faded.cols, given.rows, given.cols);
  }

  void choose_cells(const HeatmapOptions& options) {
    const Index longest = std::max<Index>({layout.rows, layout.cols, 1});
    int side = static_cast<int>(std::clamp<Index>(520 / longest, 1, 52));
    const bool labelled = !options.row_labels.empty() || !options.column_labels.empty();
    if (labelled && longest <= 100) side = std::max(side, 20);
    int number_width = 0;
    if (options.numbers && longest <= 64) {
      number_size = small_size;
      for (const float value : matrix->values)
        number_width =
            std::max(number_width,
                     static_cast<int>(text_width(format_fixed(value, options.decimals), number_size)) + 12);
      side = std::max(side, 26);
    }
    if (options.cell > 0) side = options.cell;
    // A flat or narrow matrix gets cells that are longer the other way, so that they can be seen.
    const auto stretched = [&](Index count) {
      return options.cell > 0
                 ? side
                 : std::max(side, static_cast<int>(std::min<Index>(120 / std::max<Index>(count, 1), 36)));
    };
    layout.cell_width = std::max(stretched(layout.cols), number_width);
    layout.cell_height = stretched(layout.rows);
  }

  void choose_labels(const HeatmapOptions& options) {
    row_labels = index_labels(layout.rows, layout.shrink, layout.cell_height, 17);
    if (!options.row_labels.empty() && layout.shrink == 1) {
      const auto stride = static_cast<std::size_t>(std::ceil(15.0 / layout.cell_height));
      for (std::size_t i = 0; i < row_labels.size(); ++i)
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
    const int cells_wide = static_cast<int>(layout.cols) * layout.cell_width;
    const int cells_high = static_cast<int>(layout.rows) * layout.cell_height;
    layout.left = margin + (options.y_title.empty() ? 0 : 24) +
                  static_cast<int>(std::ceil(widest(row_labels, label_size))) + 9;
    int right = layout.left + cells_wide;
    if (has_bar) right += 20 + bar.width();
    right = std::max(right, layout.left + cells_wide + static_cast<int>(column_labels.overhang));
    if (!note.empty()) right = std::max(right, layout.left + static_cast<int>(text_width(note, small_size)));
    // Room for the title to break into lines of a sensible length.
    layout.width = std::max(
        right + margin,
        std::min(300, 2 * margin + 2 + static_cast<int>(text_width(options.title, title_size, true))));
    layout.width =
        std::max(layout.width, layout.left + margin + static_cast<int>(text_width(options.x_title)));
    layout.top = margin + title_height(options.title, layout.width - 2 * margin) +
                 (options.x_title.empty() ? 0 : 22) + static_cast<int>(std::ceil(column_labels.height));
    int body = cells_high;
    if (has_bar) body = std::max(body, bar.least_height());
    body = std::max(body, static_cast<int>(options.y_title.empty() ? 0 : text_width(options.y_title)));
    layout.height = layout.top + body + (note.empty() ? 0 : 24) + margin;
  }
};

}  // namespace

Rect HeatmapLayout::cell(Index row, Index column) const {
  return {static_cast<double>(left + column * cell_width), static_cast<double>(top + row * cell_height),
          static_cast<double>(cell_width), static_cast<double>(cell_height)};
}

Rect HeatmapLayout::cells() const {
  return {static_cast<double>(left), static_cast<double>(top), static_cast<double>(cols * cell_width),
          static_cast<double>(rows * cell_height)};
}

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options) {
  return Plan(matrix, options).layout;
}

Image heatmap(const Matrix& matrix, const HeatmapOptions& options) {
  const Plan plan(matrix, options);
  const HeatmapLayout& layout = plan.layout;
  const Rect cells = layout.cells();
  Image image(layout.width, layout.height);
  image.middle = static_cast<int>(cells.center().y);

  draw_title(image, options.title, {margin, margin}, layout.width - 2 * margin);
  const Matrix no_fading;
  draw_cells(image, *plan.matrix, plan.scale, {cells.x, cells.y}, layout.cell_width, layout.cell_height,
             layout.shrink > 1 ? no_fading : options.faded);
  const bool named_rows = !options.row_labels.empty() && layout.shrink == 1;
  for (Index r = 0; r < layout.rows; ++r)
    draw_text(image, {cells.x - 8, layout.cell(r, 0).center().y},
              plan.row_labels[static_cast<std::size_t>(r)],
              {.size = named_rows ? label_size : small_size,
               .color = named_rows ? paint::ink : paint::muted,
               .align = Align::right});
  plan.column_labels.draw(image, cells.x, layout.cell_width, cells.y, true);

  const TextStyle axis_title{.color = paint::muted, .align = Align::center};
  if (!options.x_title.empty()) {
    const double half = text_width(options.x_title) / 2;
    draw_text(image, {std::max(cells.center().x, cells.x + half), cells.y - plan.column_labels.height - 11},
              options.x_title, axis_title);
  }
  if (!options.y_title.empty()) {
    TextStyle upright = axis_title;
    upright.angle = 90;
    const double half = text_width(options.y_title) / 2;
    draw_text(image, {margin + 8, std::max(cells.center().y, cells.y + half)}, options.y_title, upright);
  }
  if (plan.number_size > 0)
    for (Index r = 0; r < layout.rows; ++r)
      for (Index c = 0; c < layout.cols; ++c) {
        const float value = (*plan.matrix)(r, c);
        const bool pale = options.faded.rows && options.faded(r, c) != 0;
        const bool on_dark = lightness(plan.scale(value)) < 0.66 && !pale;
        draw_text(image, layout.cell(r, c).center(), format_fixed(value, options.decimals),
                  {.size = plan.number_size,
                   .color = on_dark ? paint::white
                            : pale  ? paint::muted
                                    : paint::ink,
                   .align = Align::center});
      }
  if (plan.has_bar)
    plan.bar.draw(image, {cells.right() + 20, cells.y},
                  std::max<double>(cells.height, plan.bar.least_height()));
  if (!plan.note.empty())
    draw_text(image, {cells.x, layout.height - margin - 8.0}, plan.note,
              {.size = small_size, .color = paint::muted});
  return image;
}

void heatmap(const std::filesystem::path& path, const Matrix& matrix, const HeatmapOptions& options) {
  write_png(path, heatmap(matrix, options));
}

namespace {

ColorScale grid_scale(const HeatmapGrid& grid) {
  std::vector<const Matrix*> maps;
  for (const Matrix& map : grid.maps) maps.push_back(&map);
  return fit_scale(maps, grid.options.colors, grid.options.low, grid.options.high);
}

void check(const HeatmapGrid& grid) {
  if (grid.names.size() != grid.maps.size())
    fail("heatmap_grid: {} names for {} maps", grid.names.size(), grid.maps.size());
  if (grid.columns < 1) fail("heatmap_grid: {} columns: at least one is needed", grid.columns);
}

}  // namespace

Image heatmap_grid(const HeatmapGrid& grid) {
  check(grid);
  const HeatmapOptions& options = grid.options;
  Index longest = 1;
  std::vector<const Matrix*> maps;
  for (const Matrix& map : grid.maps) {
    longest = std::max({longest, map.rows, map.cols});
    maps.push_back(&map);
  }
  const ColorBar bar(grid_scale(grid), maps, options.value_title);

  // A thumbnail is about 140 pixels; what is larger is shrunk to at most 280.
  const Index shrink = (longest + 279) / 280, cells = (longest + shrink - 1) / shrink;
  const int cell = static_cast<int>(std::clamp<Index>(140 / cells, 1, 40)),
            side = static_cast<int>(cells) * cell;
  const int caption = 24, gap = 18;
  const int slot = std::max(side, 90) + gap, count = static_cast<int>(maps.size());
  const int columns = std::min(grid.columns, std::max(count, 1)), lines = (count + columns - 1) / columns;
  const int left = margin + (options.y_title.empty() ? 0 : 26);
  const int bar_left = left + columns * slot + 4;
  const int width = std::max(bar_left + bar.width() + margin, 300);
  const int title = title_height(options.title, width - 2 * margin);
  const int top = margin + title + (options.x_title.empty() ? 0 : 24);
  const int body = std::max(lines * (side + caption + gap) - gap, caption + bar.least_height());
  Image image(width, top + body + margin);
  image.middle = top + body / 2;

  draw_title(image, options.title, {margin, margin}, width - 2 * margin);
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const int x = left + i % columns * slot, y = top + i / columns * (side + caption + gap);
    draw_text(image, {x + 0.0, y + 10.0}, shorten(grid.names[index], slot - 8, small_size),
              {.size = small_size});
    draw_cells(image, shrink > 1 ? block_means(*maps[index], shrink, shrink) : *maps[index], bar.scale,
               {x + 0.0, y + caption + 0.0}, cell, cell, Matrix{});
  }
  const double middle_x = left + (columns * slot - gap) / 2.0;
  const TextStyle axis_title{.color = paint::muted, .align = Align::center};
  if (!options.x_title.empty())
    draw_text(image, {middle_x, margin + title + 8.0}, options.x_title, axis_title);
  if (!options.y_title.empty())
    draw_text(image, {margin + 8.0, top + (caption + body) / 2.0}, options.y_title,
              {.color = paint::muted, .align = Align::center, .angle = 90});
  if (options.color_bar)
    bar.draw(image, {bar_left + 0.0, top + caption + 0.0},
             std::clamp(body - caption, bar.least_height(), 320));
  return image;
}

void heatmap_grid(const std::filesystem::path& path, const HeatmapGrid& grid) {
  write_png(path, heatmap_grid(grid));
}

Image open_heatmap(const HeatmapGrid& grid, const std::string& name) {
  check(grid);
  const auto found = std::find(grid.names.begin(), grid.names.end(), name);
  if (found == grid.names.end()) {
    std::string known;
    for (const std::string& each : grid.names) known += (known.empty() ? "" : ", ") + each;
    fail("open_heatmap: the grid has no '{}'; it has: {}", name, known);
  }
  const ColorScale scale = grid_scale(grid);
  HeatmapOptions options = grid.options;
  options.title = options.title.empty() ? name : options.title + ": " + name;
  options.low = scale.low;
  options.high = scale.high;
  return heatmap(grid.maps[static_cast<std::size_t>(found - grid.names.begin())], options);
}

void open_heatmap(const std::filesystem::path& path, const HeatmapGrid& grid, const std::string& name) {
  write_png(path, open_heatmap(grid, name));
}

}  // namespace attn::viz
