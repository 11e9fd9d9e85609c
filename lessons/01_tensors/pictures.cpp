#include "lessons/01_tensors/pictures.hpp"

#include <fmt/core.h>  // format

#include <cmath>    // cos, sin
#include <numbers>  // pi
#include <utility>  // pair

#include "core/viz/axis.hpp"  // format_fixed
#include "core/viz/text.hpp"

namespace attn {

using namespace viz;

namespace {

constexpr double cell_width = 56, cell_height = 36, edge = 20;

constexpr TextStyle middle{.align = Align::center}, bold_middle{.bold = true, .align = Align::center},
    at_right{.align = Align::right}, heading{.size = 17, .bold = true}, subtitle{.bold = true},
    note{.size = 13, .color = paint::muted},
    note_middle{.size = 13, .color = paint::muted, .align = Align::center};

// Where the cells of a table lie.
struct Cells {
  Point corner;
  double height = cell_height;
  Rect at(Index i, Index j) const {
    return {corner.x + cell_width * double(j), corner.y + height * double(i), cell_width, height};
  }
};

Color tint(Index color, double white = 0.72) { return mix(palette(color), paint::white, white); }

void draw_cell(Image& image, const Rect& cell, Color color, const std::string& text, bool bold = false) {
  fill_rect(image, {cell.x, cell.y, cell.width - 1, cell.height - 1}, color);
  draw_text(image, cell.center(), text, bold ? bold_middle : middle);
}

void draw_row_labels(Image& image, const Cells& cells, const Labels& labels) {
  for (Index i = 0; i < Index(labels.size()); ++i)
    draw_text(image, {cells.corner.x - 8, cells.at(i, 0).center().y}, labels[i], at_right);
}

void draw_column_labels(Image& image, const Cells& cells, const Labels& labels) {
  for (Index j = 0; j < Index(labels.size()); ++j)
    draw_text(image, {cells.at(0, j).center().x, cells.corner.y - 12}, labels[j], middle);
}

std::string whole(double value) { return format_fixed(value, 0); }

// Each cell in the colour of the row that it has in x, which is (rows, columns).
void draw_strip(Image& image, const Cells& strip, const Tensor& x) {
  for (Index n = 0; n < x.numel(); ++n) {
    draw_cell(image, strip.at(0, n), tint(n / x.size(1)), whole(x.data()[n]));
    draw_text(image, {strip.at(0, n).center().x, strip.corner.y + cell_height + 11}, whole(double(n)),
              note_middle);
  }
}

// Half an ellipse over the strip, from the middle of one cell to the middle of another.
void draw_jump(Image& image, const Cells& strip, Index from, Index to, const std::string& label,
               Color color) {
  const Point start{strip.at(0, from).center().x, strip.corner.y - 3},
      end{strip.at(0, to).center().x, strip.corner.y - 3};
  const double across = (end.x - start.x) / 2, up = 12 + 7 * double(to - from);
  std::vector<Point> arc;
  for (int step = 0; step <= 24; ++step) {
    const double angle = std::numbers::pi * (1 - step / 24.0);
    arc.push_back({start.x + across + across * std::cos(angle), start.y - up * std::sin(angle)});
  }
  polyline(image, arc, {color, 2});
  arrow_head(image, arc[arc.size() - 4], end, color, 9);
  draw_text(image, {start.x + across, start.y - up - 10}, label,
            {.size = 13, .color = color, .align = Align::center});
}

}  // namespace

Image strip_picture(const Tensor& x, const Labels& rows, const Labels& columns, Index i, Index j) {
  const Index stride = x.size(1), place = i * stride + j;
  const Cells table{{edge + 60, 84}}, strip{{edge, 290}};
  Image image(int(2 * edge + cell_width * double(x.numel())), 372);
  draw_text(image, {edge, 30}, "A table, and the strip of memory that holds it", heading);

  draw_row_labels(image, table, rows);
  draw_column_labels(image, table, columns);
  for (Index row = 0; row < x.size(0); ++row)
    for (Index column = 0; column < x.size(1); ++column) {
      const bool chosen = row == i && column == j;
      draw_cell(image, table.at(row, column), tint(row, chosen ? 0.35 : 0.72), whole(x(row, column)), chosen);
    }
  double y = table.corner.y + 4;
  for (const auto& [text, style] :
       {std::pair(fmt::format("shape ({},{}), strides ({},1)", x.size(0), stride, stride), subtitle),
        std::pair(fmt::format("one row down: {} places", stride), TextStyle{}),
        std::pair(std::string("one column right: 1 place"), TextStyle{}),
        std::pair(fmt::format("element ({},{}): {} · {} + {} · 1 = {}", i, j, i, stride, j, place),
                  TextStyle{})})
    draw_text(image, {table.at(0, stride).x + 44, y += 20}, text, style);

  draw_strip(image, strip, x);
  draw_cell(image, strip.at(0, place), tint(i, 0.35), whole(x(i, j)), true);
  for (Index row = 0; row < i; ++row)
    draw_jump(image, strip, row * stride, (row + 1) * stride, fmt::format("+{}: one row down", stride),
              palette(4));
  for (Index column = 0; column < j; ++column)
    draw_jump(image, strip, i * stride + column, i * stride + column + 1, "+1", palette(4));
  draw_text(image, {edge, strip.corner.y + cell_height + 32}, "place in memory, counted from 0", note);
  return image;
}

Image strides_picture(const Tensor& x, const Labels& rows, const Labels& columns) {
  struct Reading {
    std::string name;
    Index rows, columns, row_stride, column_stride;
    Labels row_labels, column_labels;
  };
  const Index R = x.size(0), C = x.size(1);
  const std::vector<Reading> readings = {{"as stored", R, C, C, 1, rows, columns},
                                         {"reshaped", C, R, R, 1, {}, {}},
                                         {"transposed", C, R, 1, C, columns, rows}};
  const Cells strip{{edge, 66}};
  Image image(870, 376);
  draw_text(image, {edge, 30}, "One strip, three ways to read it", heading);
  draw_strip(image, strip, x);
  double left = edge + 52;
  for (const Reading& reading : readings) {
    const Cells table{{left, 196}, 40};
    draw_text(image, {left - (reading.row_labels.empty() ? 0 : 52), 146},
              fmt::format("{} ({},{}), strides ({},{})", reading.name, reading.rows, reading.columns,
                          reading.row_stride, reading.column_stride),
              subtitle);
    draw_row_labels(image, table, reading.row_labels);
    draw_column_labels(image, table, reading.column_labels);
    for (Index i = 0; i < reading.rows; ++i)
      for (Index j = 0; j < reading.columns; ++j) {
        const Index place = i * reading.row_stride + j * reading.column_stride;
        const Rect cell = table.at(i, j);
        fill_rect(image, {cell.x, cell.y, cell.width - 1, cell.height - 1}, tint(place / C));
        draw_text(image, {cell.center().x, cell.y + 14}, whole(x.data()[place]), middle);
        draw_text(image, {cell.center().x, cell.y + 30}, fmt::format("at {}", place),
                  {.size = 11, .color = paint::muted, .align = Align::center});
      }
    left = table.at(0, reading.columns).x + (reading.row_labels.empty() ? 146 : 60);
  }
  return image;
}

Image product_picture(const Product& product, Index i, Index j) {
  const Tensor &a = product.a, &b = product.b, &c = product.c;
  const Cells left{{edge + 60, 286}}, top{{edge + 60 + cell_width * double(a.size(1)) + 100, 92}},
      result{{top.corner.x, left.corner.y}};
  Image image(int(result.at(0, b.size(1)).x + 150 + edge), int(left.at(a.size(0), 0).y + 72));
  draw_text(image, {edge, 30}, "A row meets a column", heading);
  const auto named = [](const std::string& name, const Tensor& x) {
    return fmt::format("{} {}", name, x.shape().str());
  };
  draw_text(image, {left.corner.x, left.corner.y - 38}, named(product.a_name, a), subtitle);
  draw_text(image, {top.corner.x, 60}, named(product.b_name, b), subtitle);
  draw_text(image, {result.at(0, b.size(1)).x + 12, result.at(0, 0).center().y}, named(product.c_name, c),
            subtitle);
  draw_row_labels(image, left, product.rows);
  draw_column_labels(image, left, product.inner);
  draw_row_labels(image, top, product.inner);
  draw_column_labels(image, top, product.columns);

  const Color row_color = tint(0, 0.6), column_color = tint(1, 0.6), met = tint(2, 0.5), plain = paint::panel;
  for (Index row = 0; row < a.size(0); ++row)
    for (Index k = 0; k < a.size(1); ++k)
      draw_cell(image, left.at(row, k), row == i ? row_color : plain, whole(a(row, k)), row == i);
  for (Index k = 0; k < b.size(0); ++k)
    for (Index column = 0; column < b.size(1); ++column)
      draw_cell(image, top.at(k, column), column == j ? column_color : plain, format_fixed(b(k, column), 2),
                column == j);
  for (Index row = 0; row < c.size(0); ++row)
    for (Index column = 0; column < c.size(1); ++column) {
      const bool chosen = row == i && column == j;
      draw_cell(image, result.at(row, column), chosen ? met : plain, format_fixed(c(row, column), 2), chosen);
    }

  const Rect cell = result.at(i, j);
  const auto arrow = [&](Point from, Point to, Color color) {
    line(image, from, to, {color, 2.5});
    arrow_head(image, from, to, color, 11);
  };
  arrow({left.at(i, a.size(1)).x + 8, cell.center().y}, {cell.x - 6, cell.center().y}, palette(0));
  arrow({cell.center().x, top.at(b.size(0), 0).y + 8}, {cell.center().x, cell.y - 6}, palette(1));

  std::string sum;
  for (Index k = 0; k < a.size(1); ++k)
    sum += fmt::format("{}{} · {}", k ? " + " : "", whole(a(i, k)), format_fixed(b(k, j), 2));
  draw_text(image, {left.corner.x, left.at(a.size(0), 0).y + 32},
            fmt::format("{} = {}", sum, format_fixed(c(i, j), 2)), {.size = 15, .bold = true});
  return image;
}

}  // namespace attn
