// The terminal twins: never wider than asked for, plain text without a terminal, the right cell
// in the right place.
#include <doctest/doctest.h>

#include <algorithm>  // max
#include <cmath>      // NAN
#include <string>     // string
#include <vector>     // vector

#include "core/text.hpp"  // display_width
#include "core/viz/viz.hpp"

using namespace attn;
using namespace attn::viz;

namespace {

// The lines of a text without their colour codes.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find('m', i);
    else if (text[i] == '\n')
      lines.emplace_back();
    else
      lines.back() += text[i];
  }
  lines.pop_back();  // after the last line end
  return lines;
}

Index widest(const std::string& text) {
  Index columns = 0;
  for (const std::string& line : lines_of(text)) columns = std::max(columns, display_width(line));
  return columns;
}

}  // namespace

TEST_CASE("no terminal picture is wider than asked for") {
  for (const Terminal terminal : {Terminal::color, Terminal::plain})
    for (const Index columns : {40, 61, 100, 120}) {
      CAPTURE(columns);
      for (const Index size : {1, 3, 17, 33, 49, 50, 51, 101, 1000}) {
        CAPTURE(size);
        Matrix matrix(size, size, 0.5f);
        matrix(0, 0) = NAN, matrix(0, size - 1) = INFINITY, matrix(size - 1, 0) = -INFINITY;
        const std::vector<std::string> labels(size, "아주 긴 나는 label");
        const HeatmapOptions options{.title = std::string(150, 't'),
                                     .x_title = "what is read, from left to right",
                                     .y_title = "what is written, from top to bottom",
                                     .row_labels = labels,
                                     .column_labels = labels,
                                     .numbers = true};
        const std::string text = terminal_heatmap(matrix, options, terminal, columns);
        CHECK(widest(text) <= columns);
        CHECK(lines_of(text).size() <= 50);
        CHECK(lines_of(text).size() >= 3);
      }
      const std::vector<Series> series(
          9, {.name = "a series with a name that is long, very long", .y = {1e-12, 123456789, 3}});
      const ChartOptions options{.title = std::string(150, 't'), .x_title = std::string(150, 'x')};
      CHECK(widest(terminal_line_chart(series, options, terminal, columns)) <= columns);
    }
}

TEST_CASE("in a narrow terminal titles go on, and characters take the place of numbers") {
  const HeatmapOptions options{.title = "a title of more than forty columns that goes on",
                               .x_title = "keys: the word that is read",
                               .y_title = "queries: the word being written",
                               .row_labels = {"q"},
                               .column_labels = std::vector<std::string>(14, "key"),
                               .numbers = true,
                               .decimals = 4};
  const Matrix matrix{{0, 0.25f, 0.5f, 0.75f, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}};
  CHECK(lines_of(terminal_heatmap(matrix, options, Terminal::plain, 100)).size() == 4);
  const std::vector<std::string> lines = lines_of(terminal_heatmap(matrix, options, Terminal::plain, 40));
  REQUIRE(lines.size() == 8);
  CHECK(lines[1] == "goes on");
  CHECK(lines[2] == "↓ " + options.y_title);
  CHECK(lines[3] == "→ " + options.x_title);
  CHECK(lines[4] == "columns: key key key key key key key key");
  CHECK(lines[5] == "key key key key key key");
  CHECK(lines[6].starts_with("q   ::++##@@"));
}

TEST_CASE("without a terminal a heatmap is plain characters, rows from the top") {
  Matrix matrix(3, 5);
  matrix(1, 4) = 1;
  matrix(2, 0) = -INFINITY;
  matrix(2, 1) = NAN;
  const std::string text = terminal_heatmap(matrix, {.row_labels = {"a", "bb", "c"}}, Terminal::plain);
  for (const char c : text) CHECK((c == '\n' || (c >= 32 && c < 127)));
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines[0] == " a           ");
  CHECK(lines[1] == "bb         @@");
  CHECK(lines[2] == " c xx??      ");
  CHECK(lines[3].find("x -inf") != std::string::npos);
  CHECK(lines[3].find("? nan") != std::string::npos);
}

TEST_CASE("numbers and column labels stand over their cells") {
  const std::string text = terminal_heatmap(
      Matrix{{0.25f, 0.75f}}, {.row_labels = {"q"}, .column_labels = {"key", "나는"}, .numbers = true},
      Terminal::plain);
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines[0] == "     key  나는");
  CHECK(lines[1] == "q   0.25  0.75");
  CHECK(lines.size() == 2);  // numbers need no key
}

TEST_CASE("on a terminal a large heatmap is half blocks, two rows in a line, in true colours") {
  Matrix matrix(40, 60);
  matrix(1, 0) = 1;
  const std::string text = terminal_heatmap(matrix, {}, Terminal::color);
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines.size() == 21);  // 20 of cells and the key
  CHECK(display_width(lines[0]) == 60);
  const Color hot = map_color(Colors::sequential, 1), cold = map_color(Colors::sequential, 0);
  // The very first block: row 0 above is cold, row 1 below is hot.
  CHECK(text.find(fmt::format("\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m▀", cold.r, cold.g, cold.b, hot.r, hot.g,
                              hot.b)) == 0);
}

TEST_CASE("a terminal chart rises to the right and has its ticks") {
  for (const Terminal terminal : {Terminal::color, Terminal::plain}) {
    const std::string mark = terminal == Terminal::plain ? "*" : "";
    const std::vector<std::string> lines =
        lines_of(terminal_line_chart({{.name = "rising", .y = {0, 1, 2, 3, 4}}}, {.title = "t"}, terminal));
    CHECK(lines[0] == "t");
    CHECK(lines[1].find("rising") != std::string::npos);
    REQUIRE(lines.size() == 20);
    if (terminal == Terminal::plain) {
      std::size_t previous = std::string::npos;
      for (std::size_t i = 2; i < 18; ++i) {
        const std::size_t first = lines[i].find('*');
        if (first == std::string::npos) continue;
        if (previous != std::string::npos) CHECK(first < previous);
        previous = first;
      }
    }
    CHECK(lines[19].find("0 ") != std::string::npos);
    CHECK(lines[19].find("4") != std::string::npos);
  }
}

TEST_CASE("nothing to show is said, not drawn") {
  CHECK(terminal_heatmap(Matrix{}, {.title = "m"}, Terminal::plain) == "m\n(empty)\n");
  CHECK(terminal_line_chart({}, {.title = "c"}, Terminal::plain) == "c\n(no data)\n");
  CHECK(terminal_line_chart({{.y = {NAN}}}, {}, Terminal::plain) == "(no data)\n");
}

TEST_CASE("a steep curve on a cut axis takes no time") {
  CHECK(terminal_line_chart({{.y = {-1e300, 1e300}}}, {.y_low = 0, .y_high = 1}, Terminal::plain).size() >
        100);
}
