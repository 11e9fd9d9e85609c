#include "core/viz/terminal.hpp"

#include <fmt/format.h>  // format, formatted_size
#include <unistd.h>      // isatty

#include <algorithm>    // clamp, max, min
#include <cmath>        // isinf, isnan, lround
#include <cstdlib>      // getenv
#include <limits>       // numeric_limits
#include <string_view>  // string_view
#include <utility>      // pair

#include "core/error.hpp"
#include "core/viz/text.hpp"

namespace attn::viz {

namespace {

constexpr int most_columns = 100;
constexpr const char* reset = "\x1b[0m";

std::string foreground(Color c) { return fmt::format("\x1b[38;2;{};{};{}m", c.r, c.g, c.b); }
std::string background(Color c) { return fmt::format("\x1b[48;2;{};{};{}m", c.r, c.g, c.b); }

bool use_colors(Terminal terminal) {
  return terminal == Terminal::Color || (terminal == Terminal::Detect && terminal_has_colors());
}

// The text cut or filled with blanks to exactly `width` columns.
std::string fit(std::string_view text, int width, Align align = Align::Left) {
  std::string kept;
  int used = 0;
  for (const char32_t letter : decode_utf8(text)) {
    const std::string next = encode_utf8(letter);
    if (used + terminal_width(next) > width) break;
    kept += next;
    used += terminal_width(next);
  }
  const auto missing = static_cast<std::size_t>(width - used);
  const std::size_t left = align == Align::Left ? 0 : align == Align::Right ? missing : missing / 2;
  return std::string(left, ' ') + kept + std::string(missing - left, ' ');
}

std::string heading(const std::string& title, bool colors) {
  if (title.empty()) return "";
  std::string text = fit(title, most_columns);
  text.erase(text.find_last_not_of(' ') + 1);
  return (colors ? "\x1b[1m" + text + reset : text) + "\n";
}

std::string brief(double value) { return fmt::format("{:.3g}", value); }

// Ten characters from little ink to much, and one for each value that is on no scale.
char ink_of(float value, const ColorScale& scale) {
  if (std::isnan(value)) return '?';
  if (std::isinf(value)) return value > 0 ? '^' : 'x';
  const double position = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
  return " .:-=+*#%@"[std::min(9, static_cast<int>(position * 10))];
}

int columns_of(const std::vector<std::string>& labels) {
  int columns = 0;
  for (const std::string& label : labels) columns = std::max(columns, terminal_width(visible(label)));
  return columns;
}

std::string key(const Matrix& matrix, const ColorScale& scale, bool colors, int indent) {
  std::string text(static_cast<std::size_t>(indent), ' ');
  text += brief(scale.low) + " ";
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(scale.low + (scale.high - scale.low) * (i + 0.5) / 20);
    text += colors ? background(scale(value)) + " " : std::string(1, ink_of(value, scale));
  }
  if (colors) text += reset;
  text += ' ';
  text += brief(scale.high);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [special, name] :
       {std::pair{infinity, "inf"}, std::pair{-infinity, "-inf"}, std::pair{NAN, "nan"}}) {
    const auto same = [wanted = special](float v) {
      return v == wanted || (std::isnan(v) && std::isnan(wanted));
    };
    if (std::none_of(matrix.values.begin(), matrix.values.end(), same)) continue;
    const std::string mark =
        colors ? background(scale(special)) + "  " + reset : std::string(1, ink_of(special, scale));
    text += "   " + mark + " " + name;
  }
  return text + "\n";
}

// One line for each row, labels at the left and on top; every cell is `wide` columns.
std::string labelled_map(const Matrix& matrix, const HeatmapOptions& options, const ColorScale& scale,
                         bool colors, int label_columns, int wide) {
  std::string text;
  const std::string indent(static_cast<std::size_t>(label_columns), ' ');
  if (!options.column_labels.empty() && wide >= 3) {
    text += indent;
    for (const std::string& label : options.column_labels) text += fit(fit(visible(label), wide - 1), wide);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  for (Index r = 0; r < matrix.rows; ++r) {
    const std::string label =
        options.row_labels.empty() ? "" : visible(options.row_labels[static_cast<std::size_t>(r)]);
    if (label_columns > 0) text += fit(label, label_columns - 1, Align::Right) + " ";
    std::string line;
    for (Index c = 0; c < matrix.cols; ++c) {
      const float value = matrix(r, c);
      std::string inside = options.numbers ? fmt::format("{:.{}f}", value, options.decimals) : "";
      if (static_cast<int>(inside.size()) >= wide) inside.clear();
      if (colors) {
        const Color color = scale(value);
        const Color ink = lightness(color) < 0.66 ? paint::white : paint::ink;
        line += background(color) + foreground(ink) + fit(inside, wide, Align::Center);
      } else if (!inside.empty()) {
        line += fit(inside, wide, Align::Right);
      } else {
        line += std::string(static_cast<std::size_t>(wide), ink_of(value, scale));
      }
    }
    text += line + (colors ? reset : "") + "\n";
  }
  return text;
}

}  // namespace

bool terminal_has_colors() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  // Apple's own terminal knows 256 colours but not all of them.
  return isatty(STDOUT_FILENO) && variable("NO_COLOR").empty() && !variable("TERM").empty() &&
         variable("TERM") != "dumb" && variable("TERM_PROGRAM") != "Apple_Terminal";
}

std::string terminal_heatmap(const Matrix& matrix, const HeatmapOptions& options, Terminal terminal) {
  heatmap_layout(matrix, options);  // the same complaints about labels that do not fit
  const bool colors = use_colors(terminal);
  const ColorScale scale = fit_scale({&matrix}, options.colors, options.low, options.high);
  std::string text = heading(options.title, colors);
  if (matrix.values.empty()) return text + "(empty)\n";

  const int label_columns = options.row_labels.empty() ? 0 : std::min(columns_of(options.row_labels), 16) + 1;
  const Index room = (most_columns - label_columns) / matrix.cols;
  if (room >= 2 && matrix.rows <= 32) {
    int wanted = std::max(2, std::min(columns_of(options.column_labels), 9) + 1);
    if (options.numbers)
      for (const float value : matrix.values)
        wanted =
            std::max(wanted, static_cast<int>(fmt::formatted_size("{:.{}f}", value, options.decimals)) + 2);
    const int wide = std::max(2, static_cast<int>(std::min<Index>(room, wanted)));
    text += labelled_map(matrix, options, scale, colors, label_columns, wide);
    return text + key(matrix, scale, colors, label_columns);
  }
  // Too large for labels. A character is about twice as high as wide: a half block makes its two cells
  // square, and plain characters take two rows in one.
  const Index wide = (matrix.cols + most_columns - 1) / most_columns,
              high = std::max(wide, (matrix.rows + 79) / 80);
  const Matrix small = block_means(matrix, colors ? high : 2 * high, wide);
  for (Index r = 0; r < small.rows; r += colors ? 2 : 1) {
    for (Index c = 0; c < small.cols; ++c) {
      if (!colors)
        text += ink_of(small(r, c), scale);
      else if (r + 1 < small.rows)
        text += foreground(scale(small(r, c))) + background(scale(small(r + 1, c))) + "▀";
      else
        text += foreground(scale(small(r, c))) + "▀";
    }
    text += colors ? std::string(reset) + "\n" : "\n";
  }
  return text + key(matrix, scale, colors, 0);
}

namespace {

// Cells of a plot, each with the number of the series that passes it, or -1.
struct Raster {
  int width, height;
  std::vector<int> cells = std::vector<int>(static_cast<std::size_t>(width * height), -1);

  int& at(int x, int y) { return cells[static_cast<std::size_t>(y * width + x)]; }
  void put(double x, double y, int series) {
    const long column = std::lround(x), line = std::lround(y);
    if (column >= 0 && line >= 0 && column < width && line < height)
      at(static_cast<int>(column), static_cast<int>(line)) = series;
  }
};

void trace(Raster& raster, const Series& series, const Numbers& x, const ChartAxes& axes, int number) {
  const auto place = [&](std::size_t i) {
    return Point{axes.x.fraction(x[i]) * (raster.width - 1),
                 (1 - axes.y.fraction(series.y[i])) * (raster.height - 1)};
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!axes.x.can_show(x[i]) || !axes.y.can_show(series.y[i])) continue;
    const Point here = place(i);
    raster.put(here.x, here.y, number);
    if (!series.line || i + 1 == x.size() || !axes.x.can_show(x[i + 1]) || !axes.y.can_show(series.y[i + 1]))
      continue;
    const Point next = place(i + 1);
    // A step a cell; an axis cut short must not make for millions of them.
    const double longest = std::max(std::abs(next.x - here.x), std::abs(next.y - here.y));
    const int steps = static_cast<int>(std::min(std::ceil(longest), 10000.0));
    for (int k = 1; k < steps; ++k) {
      const double t = static_cast<double>(k) / steps;
      raster.put(here.x + t * (next.x - here.x), here.y + t * (next.y - here.y), number);
    }
  }
}

}  // namespace

std::string terminal_line_chart(const std::vector<Series>& series, const ChartOptions& options,
                                Terminal terminal) {
  const bool colors = use_colors(terminal);
  const ChartAxes axes = fit_axes(series, options, 6, 5);
  const std::string marks = "*o+x#@%&";
  const auto label = [](double tick) { return fmt::format("{:.6g}", tick); };
  const auto color_of = [&](std::size_t i) {
    return palette(series[i].color < 0 ? static_cast<int>(i) : series[i].color);
  };
  const auto mark_of = [&](std::size_t i) { return marks[i % marks.size()]; };

  std::string text = heading(options.title, colors), legend;
  int legend_columns = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].name.empty()) continue;
    const std::string name = fit(series[i].name, std::min(terminal_width(series[i].name), 40));
    if (legend_columns > 0 && legend_columns + 7 + terminal_width(name) > most_columns)
      legend += "\n", legend_columns = 0;
    legend += colors ? "  " + foreground(color_of(i)) + "━━ " + reset + name
                     : "  " + std::string(1, mark_of(i)) + "  " + name;
    legend_columns += 7 + terminal_width(name);
  }
  if (!legend.empty()) text += legend + "\n";
  if (!axes.has_data) return text + "(no data)\n";

  int label_columns = 0;
  for (const double tick : axes.y.ticks)
    label_columns = std::max(label_columns, static_cast<int>(label(tick).size()));
  const int width = std::min(72, most_columns - label_columns - 3), lines = 16;
  Raster raster{width, colors ? 2 * lines : lines};
  for (std::size_t i = 0; i < series.size(); ++i)
    trace(raster, series[i], axes.xs[i], axes, static_cast<int>(i));

  for (int line = 0; line < lines; ++line) {
    std::string tick_label;
    for (const double tick : axes.y.ticks)
      if (std::lround((1 - axes.y.fraction(tick)) * (lines - 1)) == line) tick_label = label(tick);
    text += fit(tick_label, label_columns, Align::Right) + (tick_label.empty() ? " | " : " + ");
    for (int x = 0; x < width; ++x) {
      if (!colors) {
        text += raster.at(x, line) < 0 ? ' ' : mark_of(static_cast<std::size_t>(raster.at(x, line)));
        continue;
      }
      const int upper = raster.at(x, 2 * line), lower = raster.at(x, 2 * line + 1);
      if (upper < 0 && lower < 0)
        text += " ";
      else if (lower < 0)
        text += foreground(color_of(static_cast<std::size_t>(upper))) + "▀" + reset;
      else if (upper < 0)
        text += foreground(color_of(static_cast<std::size_t>(lower))) + "▄" + reset;
      else
        text += foreground(color_of(static_cast<std::size_t>(upper))) +
                background(color_of(static_cast<std::size_t>(lower))) + "▀" + reset;
    }
    if (!colors) text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  std::string ruler(static_cast<std::size_t>(width), '-'), numbers;
  for (const double tick : axes.x.ticks) {
    const auto at = static_cast<std::size_t>(std::lround(axes.x.fraction(tick) * (width - 1)));
    const std::string number = label(tick);
    ruler[at] = '+';
    const std::size_t start = at < number.size() / 2 ? 0 : at - number.size() / 2;
    if (start < numbers.size() + (numbers.empty() ? 0 : 2) || start + number.size() > ruler.size()) continue;
    numbers += std::string(start - numbers.size(), ' ') + number;
  }
  const std::string indent(static_cast<std::size_t>(label_columns), ' ');
  text += indent + " +-" + ruler + "\n" + indent + "   " + numbers + "\n";
  if (!options.x_title.empty())
    text += indent + "   " + heading(fit(options.x_title, width, Align::Center), false);
  return text;
}

}  // namespace attn::viz
