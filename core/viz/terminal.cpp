#include "core/viz/terminal.hpp"

#include <fmt/core.h>  // format, formatted_size

#include <algorithm>    // clamp, max, min, none_of
#include <cmath>        // abs, ceil, INFINITY, isinf, isnan, lround, NAN
#include <cstdlib>      // getenv
#include <iterator>     // ssize
#include <string_view>  // string_view

#include "core/text.hpp"
#include "core/viz/text.hpp"  // visible

namespace attn::viz {

namespace {

constexpr const char* reset = "\x1b[0m";

std::string foreground(Color c) { return fmt::format("\x1b[38;2;{};{};{}m", c.r, c.g, c.b); }
std::string background(Color c) { return fmt::format("\x1b[48;2;{};{};{}m", c.r, c.g, c.b); }

bool use_colors(Terminal terminal) {
  if (terminal != Terminal::detect) return terminal == Terminal::color;
  const char* program = std::getenv("TERM_PROGRAM");  // Apple's own terminal has no true colours
  return in_color() && (!program || std::string_view(program) != "Apple_Terminal");
}

// Clipped or padded to exactly `width` columns.
std::string fit(std::string_view text, Index width, Align align = Align::left) {
  return padded(clipped(text, width), width, align);
}

std::string without_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string heading(const std::string& title, bool colors, Index columns) {
  std::string text;
  for (const std::string& line : attn::wrap(title, {.width = double(columns)}))
    text += colored("1", clipped(line, columns), colors) + "\n";
  return text;
}

Index most_columns(const std::vector<std::string>& labels) {
  Index columns = 0;
  for (const std::string& label : labels) columns = std::max(columns, display_width(visible(label)));
  return columns;
}

struct HeatmapText {
  const Matrix& matrix;
  const HeatmapOptions& options;
  ColorScale scale;
  bool colors, numbers;
  Index columns, label_columns;

  // Ten characters from little ink to much, and one for each value that is on no scale.
  char ink_of(float value) const {
    if (std::isnan(value)) return '?';
    if (std::isinf(value)) return value > 0 ? '^' : 'x';
    const double position = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
    return " .:-=+*#%@"[std::min(9, int(position * 10))];
  }

  std::string cell(float value, Index wide) const {
    const std::string number = numbers ? fmt::format("{:.{}f}", value, options.decimals) : "";
    if (!colors) return numbers ? fit(number, wide, Align::right) : std::string(wide, ink_of(value));
    const Color color = scale(value), ink = lightness(color) < 0.66 ? paint::white : paint::ink;
    return background(color) + foreground(ink) + fit(number, wide, Align::center);
  }

  // What the colours or characters mean, under the cells where there is room for it. Numbers need no key.
  std::string key() const {
    const int steps = columns < 60 ? 10 : 20;
    const std::string low = fmt::format("{:.3g} ", scale.low), high = fmt::format(" {:.3g}", scale.high);
    Index used = std::ssize(low) + steps + std::ssize(high);
    std::string text(std::clamp<Index>(columns - used, 0, label_columns), ' ');
    used += std::ssize(text);
    text += low;
    for (int i = 0; i < steps; ++i) {
      const float value = float(scale.low + (scale.high - scale.low) * (i + 0.5) / steps);
      text += colors ? background(scale(value)) + " " : std::string(1, ink_of(value));
    }
    text += (colors ? reset : "") + high;
    for (const float special : {INFINITY, -INFINITY, NAN}) {
      const auto same = [=](float v) { return v == special || (std::isnan(v) && std::isnan(special)); };
      if (std::none_of(matrix.values.begin(), matrix.values.end(), same)) continue;
      used += 10;  // "   ██ -inf"
      text += used > columns ? "\n" : "   ";
      text += colors ? background(scale(special)) + "  " + reset : std::string(1, ink_of(special));
      text += fmt::format(" {}", special);
    }
    return text + "\n";
  }

  // One line for each row, labels at the left and on top; every cell is `wide` columns.
  std::string labelled(Index wide) const {
    std::string text, names, header(label_columns, ' ');
    const Align align = !numbers ? Align::left : colors ? Align::center : Align::right;
    for (const std::string& label : options.column_labels) {
      header += padded(clipped(visible(label), wide - 1), wide, align);
      names += visible(label) + " ";
    }
    if (!names.empty() && wide >= 3) text = without_end(header) + "\n";
    if (!names.empty() && wide < 3) text = wrapped(names, {.width = double(columns), .first = "columns: "});
    for (Index r = 0; r < matrix.rows; ++r) {
      if (label_columns > 0)
        text += fit(visible(options.row_labels[r]), label_columns - 1, Align::right) + " ";
      for (Index c = 0; c < matrix.cols; ++c) text += cell(matrix(r, c), wide);
      text += colors ? std::string(reset) + "\n" : "\n";
    }
    return text + (numbers && !colors ? "" : key());
  }

  // Too large for labels. A character is about twice as high as wide: a half block makes its two cells
  // square, and plain characters take two rows in one.
  std::string shrunk() const {
    const Index wide = (matrix.cols + columns - 1) / columns;
    const Index high = std::max(wide, (matrix.rows + 79) / 80);
    const Matrix small = block_means(matrix, colors ? high : 2 * high, wide);
    std::string text;
    for (Index r = 0; r < small.rows; r += colors ? 2 : 1) {
      for (Index c = 0; c < small.cols; ++c) {
        if (!colors)
          text += ink_of(small(r, c));
        else
          text += foreground(scale(small(r, c))) +
                  (r + 1 < small.rows ? background(scale(small(r + 1, c))) : "") + "▀";
      }
      text += colors ? std::string(reset) + "\n" : "\n";
    }
    return text + key();
  }
};

}  // namespace

std::string terminal_heatmap(const Matrix& matrix, const HeatmapOptions& options, Terminal terminal,
                             Index columns) {
  heatmap_layout(matrix, options);  // the same complaints about labels that do not fit
  const bool colors = use_colors(terminal);
  std::string title = heading(options.title, colors, columns);
  const auto axis = [&](const char* sign, const std::string& name) {
    return name.empty() ? "" : wrapped(name, {.width = double(columns), .first = sign, .rest = "  "});
  };
  const std::string down = axis("↓ ", options.y_title), across = axis("→ ", options.x_title);
  const bool on_one_line = !across.empty() && display_width(down) + display_width(across) + 3 <= columns;
  title += (on_one_line && !down.empty() ? down.substr(0, down.size() - 1) + "   " : down) + across;
  if (matrix.values.empty()) return title + "(empty)\n";
  const Index label_columns =
      options.row_labels.empty()
          ? 0
          : std::min<Index>(most_columns(options.row_labels), columns < 60 ? 8 : 16) + 1;
  const Index room = (columns - label_columns) / matrix.cols;
  Index wanted = std::max<Index>(2, std::min<Index>(most_columns(options.column_labels), 9) + 1), number = 0;
  for (const float value : matrix.values)
    number = std::max(number, Index(fmt::formatted_size("{:.{}f}", value, options.decimals)) + 1);
  const bool numbers = options.numbers && number <= room;
  if (numbers) wanted = std::max(wanted, number + 1);
  const bool labelled = room >= 2 && matrix.rows <= 32;
  const ColorScale scale = fit_scale({&matrix}, options.colors, options.low, options.high);
  const HeatmapText text{matrix, options, scale, colors, numbers, columns, labelled ? label_columns : 0};
  return title + (labelled ? text.labelled(std::min(room, wanted)) : text.shrunk());
}

namespace {

// Cells of a plot, each with the number of the series that passes it, or -1.
struct Raster {
  Index width, height;
  std::vector<int> cells = std::vector<int>(width * height, -1);

  int& at(Index x, Index y) { return cells[y * width + x]; }
  void put(double x, double y, int series) {
    const Index column = std::lround(x), line = std::lround(y);
    if (column >= 0 && line >= 0 && column < width && line < height) at(column, line) = series;
  }
};

void trace(Raster& raster, const Series& series, const Numbers& x, const ChartAxes& axes, int number) {
  const auto can_show = [&](Index i) { return axes.x.can_show(x[i]) && axes.y.can_show(series.y[i]); };
  const auto place = [&](Index i) {
    return Point{axes.x.fraction(x[i]) * double(raster.width - 1),
                 (1 - axes.y.fraction(series.y[i])) * double(raster.height - 1)};
  };
  for (Index i = 0; i < std::ssize(x); ++i) {
    if (!can_show(i)) continue;
    const Point here = place(i);
    raster.put(here.x, here.y, number);
    if (!series.line || i + 1 == std::ssize(x) || !can_show(i + 1)) continue;
    const Point next = place(i + 1);
    // One step per cell, but not millions of them where the axis is cut short.
    const double longest = std::max(std::abs(next.x - here.x), std::abs(next.y - here.y));
    const double steps = std::min(std::ceil(longest), 10000.0);
    for (double k = 1; k < steps; ++k)
      raster.put(here.x + k / steps * (next.x - here.x), here.y + k / steps * (next.y - here.y), number);
  }
}

}  // namespace

std::string terminal_line_chart(const std::vector<Series>& series, const ChartOptions& options,
                                Terminal terminal, Index columns) {
  const bool colors = use_colors(terminal);
  const ChartAxes axes = fit_axes(series, options, 6, 5);
  const auto label = [](double tick) { return fmt::format("{:.6g}", tick); };
  const auto color_of = [&](int i) { return palette(series[i].color < 0 ? i : series[i].color); };
  const auto mark_of = [&](int i) { return "*o+x#@%&"[i % 8]; };

  std::string text = heading(options.title, colors, columns), legend;
  Index legend_columns = 0;
  for (int i = 0; i < int(series.size()); ++i) {
    if (series[i].name.empty()) continue;
    const std::string name = clipped(series[i].name, std::min<Index>(40, columns - 7));
    if (legend_columns > 0 && legend_columns + 7 + display_width(name) > columns)
      legend += "\n", legend_columns = 0;
    legend += colors ? "  " + foreground(color_of(i)) + "━━ " + reset + name
                     : "  " + std::string(1, mark_of(i)) + "  " + name;
    legend_columns += 7 + display_width(name);
  }
  if (!legend.empty()) text += legend + "\n";
  if (!axes.has_data) return text + "(no data)\n";

  Index label_columns = 0;
  for (const double tick : axes.y.ticks)
    label_columns = std::max<Index>(label_columns, std::ssize(label(tick)));
  const Index width = std::min<Index>(72, columns - label_columns - 3), lines = 16;
  Raster raster{width, colors ? 2 * lines : lines};
  for (int i = 0; i < int(series.size()); ++i) trace(raster, series[i], axes.xs[i], axes, i);

  for (Index line = 0; line < lines; ++line) {
    std::string tick_label, cells;
    for (const double tick : axes.y.ticks)
      if (std::lround((1 - axes.y.fraction(tick)) * double(lines - 1)) == line) tick_label = label(tick);
    for (Index x = 0; x < width; ++x) {
      const int upper = raster.at(x, colors ? 2 * line : line),
                lower = colors ? raster.at(x, 2 * line + 1) : -1;
      if (upper < 0 && lower < 0)
        cells += " ";
      else if (!colors)
        cells += mark_of(upper);
      else if (lower < 0)
        cells += foreground(color_of(upper)) + "▀" + reset;
      else
        cells += foreground(color_of(lower)) + (upper < 0 ? "" : background(color_of(upper))) + "▄" + reset;
    }
    cells = fit(tick_label, label_columns, Align::right) + (tick_label.empty() ? " | " : " + ") + cells;
    text += (colors ? cells : without_end(cells)) + "\n";
  }
  std::string ruler(width, '-'), numbers;
  for (const double tick : axes.x.ticks) {
    const Index at = std::lround(axes.x.fraction(tick) * double(width - 1));
    const std::string number = label(tick);
    ruler[at] = '+';
    const Index start = std::max<Index>(0, at - std::ssize(number) / 2);
    if (start < std::ssize(numbers) + (numbers.empty() ? 0 : 2) || start + std::ssize(number) > width)
      continue;
    numbers += std::string(start - std::ssize(numbers), ' ') + number;
  }
  const std::string indent(label_columns, ' ');
  text += indent + " +-" + ruler + "\n" + indent + "   " + numbers + "\n";
  if (!options.x_title.empty())
    text += indent + "   " + without_end(fit(options.x_title, width, Align::center)) + "\n";
  return text;
}

}  // namespace attn::viz
