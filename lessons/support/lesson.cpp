#include "lessons/support/lesson.hpp"

#include <algorithm>  // max, min
#include <cctype>     // isalnum, isalpha
#include <iterator>   // ssize
#include <numeric>    // accumulate

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/viz/terminal.hpp"
#include "lessons/support/gallery.hpp"
#include "lessons/support/markdown.hpp"
#include "lessons/support/output.hpp"
#include "lessons/support/picture.hpp"

namespace attn {

namespace {

constexpr double kept_width = 100;  // of output.txt, whatever the terminal

// "-0.00" is what rounding leaves of a small negative number: nobody means it.
std::string without_minus_zero(std::string text) {
  for (std::size_t at = 0; (at = text.find("-0", at)) != text.npos; ++at) {
    const std::size_t end = text.find_first_not_of("0.", at + 1);
    const bool number_goes_on = end != text.npos && std::isalnum(static_cast<unsigned char>(text[end]));
    const bool begins = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (begins && !number_goes_on) text.erase(at, 1);
  }
  return text;
}

std::string underlined(const std::string& title, double width, bool color) {
  std::string text;
  Index widest = 0;
  for (const std::string& line : wrap(title, {.width = width})) {
    text += colored("1;36", line, color) + "\n";
    widest = std::max(widest, display_width(line));
  }
  return text + colored("36", std::string(widest, '-'), color) + "\n";
}

viz::Terminal terminal_of(bool color) { return color ? viz::Terminal::detect : viz::Terminal::plain; }

std::string set_off(const std::string& text, double width, bool color) {
  const bool fits = 4 + display_width(text) <= Index(width);
  const std::string lines =
      fits ? "    " + text + "\n" : wrapped(text, {.width = width, .first = "    ", .rest = "      "});
  return color ? colored("1", lines.substr(0, lines.size() - 1)) + "\n" : lines;
}

using Row = std::vector<std::string>;

// A table that fits into no columns: row by row, each value after its heading.
std::string stacked(const Row& header, const std::vector<Row>& rows, double width) {
  std::string text;
  for (const Row& row : rows)
    for (Index c = 0; c < std::min(std::ssize(row), std::ssize(header)); ++c)
      text += wrapped((header[c].empty() ? "" : header[c] + ": ") + row[c],
                      {.width = width, .first = c ? "    " : "  ", .rest = "      "});
  return text;
}

// Numbers stand at the right of their column, words at the left. A table that is too wide has its widest
// columns narrowed, their words on several lines.
std::string aligned(const Row& header, const std::vector<Row>& rows, double width) {
  std::vector<Index> widths, narrowest;  // of the columns; their longest words
  std::vector<Align> sides;
  for (Index c = 0; c < std::ssize(header); ++c) {
    widths.push_back(0);
    narrowest.push_back(0);
    sides.push_back(c ? Align::right : Align::left);
    const auto make_room = [&](const std::string& cell) {
      widths[c] = std::max(widths[c], display_width(cell));
      for (const std::string& word : wrap(cell, {.width = 1}))
        narrowest[c] = std::max(narrowest[c], display_width(word));
    };
    make_room(header[c]);
    for (const Row& row : rows) {
      if (c >= std::ssize(row) || row[c].empty()) continue;
      make_room(row[c]);
      if (std::isalpha(static_cast<unsigned char>(row[c][0]))) sides[c] = Align::left;
    }
  }
  Index too_much =
      2 * std::ssize(widths) + std::accumulate(widths.begin(), widths.end(), Index{0}) - Index(width);
  for (; too_much > 0; --too_much) {
    Index widest = -1;  // of those that can give way
    for (Index c = 0; c < std::ssize(widths); ++c)
      if (widths[c] > narrowest[c] && (widest < 0 || widths[c] > widths[widest])) widest = c;
    if (widest < 0) return stacked(header, rows, width);
    --widths[widest];
  }
  const auto lines = [&](const Row& cells) {
    std::vector<Row> parts;
    std::size_t height = 1;
    for (Index c = 0; c < std::min(std::ssize(cells), std::ssize(widths)); ++c) {
      parts.push_back(display_width(cells[c]) <= widths[c] ? Row{cells[c]}
                                                           : wrap(cells[c], {.width = double(widths[c])}));
      height = std::max(height, parts.back().size());
    }
    std::string text;
    for (std::size_t part = 0; part < height; ++part) {
      for (Index c = 0; c < std::ssize(parts); ++c)
        text += "  " + padded(part < parts[c].size() ? parts[c][part] : "", widths[c], sides[c]);
      text.erase(text.find_last_not_of(' ') + 1);
      text += "\n";
    }
    return text;
  };
  std::string rule;
  for (const Index column : widths) rule += "  " + std::string(column, '-');
  std::string text = lines(header) + rule + "\n";
  for (const Row& row : rows) text += lines(row);
  return text;
}

// Lines as they are, each after `indent`; one that is too wide goes on below.
std::string folded(const std::string& text, double width, const std::string& indent = "") {
  std::string result;
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = indent + text.substr(begin, end - begin);
    const std::string blanks(std::min(line.find_first_not_of(' '), line.size()), ' ');
    result += double(display_width(line)) <= width
                  ? line + "\n"
                  : wrapped(line, {.width = width, .first = blanks, .rest = blanks + "  "});
  }
  return result;
}

std::string shown_block(const MarkdownBlock& block, double width, bool color) {
  using Kind = MarkdownBlock::Kind;
  const std::string text = markdown_line(block.text, color);
  switch (block.kind) {
    case Kind::heading:
      return underlined(text, width, color);
    case Kind::equation:
      return set_off(text, width, color);
    case Kind::quote:
      return wrapped(text, {.width = width, .first = "    ", .rest = "    "});
    case Kind::item: {
      const std::string mark = block.mark + " ";
      return wrapped(text, {.width = width, .first = mark, .rest = std::string(mark.size(), ' ')});
    }
    case Kind::code:
      return folded(block.text, width, "    ");
    case Kind::table: {
      std::vector<std::vector<std::string>> rows = block.rows;
      for (auto& row : rows)
        for (std::string& cell : row) cell = markdown_line(cell, false);
      return aligned(rows.front(), {rows.begin() + 1, rows.end()}, width);
    }
    case Kind::paragraph:
      break;
  }
  return wrapped(text, {.width = width});
}

}  // namespace

// Pieces are set apart by an empty line; claims, items and printed lines stand together.
void Lesson::show(const std::string& kind, const Look& look) {
  const bool together = kind == last_kind_ && (kind == "claim" || kind == "item" || kind == "lines");
  const std::string gap = last_kind_.empty() || together ? "" : "\n";
  write_out(gap + without_minus_zero(look(double(width), in_color())));
  output_ += gap + without_minus_zero(look(kept_width, false));
  last_kind_ = kind;
}

void Lesson::keep(const std::string& kind, JsonMembers members) {
  members.emplace(members.begin(), "kind", kind);
  records_ += (records_.empty() ? "" : ",\n") + json_object(members).text;
}

void Lesson::begin() {
  keep("title", {{"name", info_.name}, {"question", info_.question}});
  show("title",
       [&](double width, bool) { return wrapped(info_.name + ": " + info_.question, {.width = width}); });
}

void Lesson::prose(Index line, const std::string& markdown) {
  keep("prose", {{"line", line}, {"text", markdown}});
  for (const MarkdownBlock& block : markdown_blocks(markdown))
    show(block.kind == MarkdownBlock::Kind::item ? "item" : "prose",
         [&](double width, bool color) { return shown_block(block, width, color); });
}

void Lesson::section(const std::string& title) {
  keep("heading", {{"text", title}});
  show("heading", [&](double width, bool color) { return underlined(title, width, color); });
}

void Lesson::paragraph(const std::string& text) {
  keep("paragraph", {{"text", text}});
  show("paragraph", [&](double width, bool) { return wrapped(text, {.width = width}); });
}

void Lesson::lines(const std::string& text) {
  keep("lines", {{"text", text}});
  show("lines", [&](double width, bool) { return folded(text, width); });
}

void Lesson::equation(const std::string& text) {
  keep("equation", {{"text", text}});
  show("equation", [&](double width, bool color) { return set_off(text, width, color); });
}

void Lesson::table(const std::vector<std::string>& header,
                   const std::vector<std::vector<std::string>>& rows) {
  keep("table", {{"header", header}, {"rows", rows}});
  show("table", [&](double width, bool) { return aligned(header, rows, width); });
}

void Lesson::numbers(const Tensor& matrix, const std::vector<std::string>& row_labels,
                     const std::vector<std::string>& column_labels, int decimals) {
  if (matrix.rank() != 2) fail("numbers: {} is not a matrix", matrix.shape().str());
  std::vector<std::string> header{""};
  std::vector<std::vector<std::string>> rows;
  for (Index j = 0; j < matrix.shape()[1]; ++j)
    header.push_back(column_labels.empty() ? fmt::format("[{}]", j) : column_labels[j]);
  for (Index i = 0; i < matrix.shape()[0]; ++i) {
    rows.push_back({row_labels.empty() ? fmt::format("[{}]", i) : row_labels[i]});
    for (Index j = 0; j < matrix.shape()[1]; ++j)
      rows.back().push_back(without_minus_zero(fmt::format("{:.{}f}", matrix(i, j), decimals)));
  }
  table(header, rows);
}

void Lesson::picture(const std::string& file, const viz::Image& image, const std::string& title,
                     const std::string& caption) {
  write_picture(folder() / file, image);
  record_picture(folder(), file, title, caption);
  keep("figure", {{"file", file}, {"title", title}, {"caption", caption}});
  show("figure", [&](double width, bool color) {
    return colored("35", "[picture] " + (folder() / file).string(), color) + "\n" +
           wrapped(caption, {.width = width});
  });
}

void Lesson::data(const std::string& figure, const Json& values) {
  keep("data", {{"figure", figure}, {"values", values}});
}

void Lesson::drawn(const Look& look) {
  keep("drawing", {{"text", look(kept_width, false)}});
  show("drawing", look);
}

void Lesson::heatmap(const viz::Matrix& matrix, const viz::HeatmapOptions& options) {
  drawn([&](double width, bool color) {
    return viz::terminal_heatmap(matrix, options, terminal_of(color), Index(width));
  });
}

void Lesson::line_chart(const std::vector<viz::Series>& series, const viz::ChartOptions& options) {
  drawn([&](double width, bool color) {
    return viz::terminal_line_chart(series, options, terminal_of(color), Index(width));
  });
}

void Lesson::check(bool holds, const std::string& fact) {
  ++claims_;
  if (!holds) ++broken_;
  keep("claim", {{"holds", holds}, {"text", fact}});
  const std::string sign = holds ? "✓" : "✗ does not hold:";
  show("claim", [&](double width, bool color) {
    const std::string text = wrapped(fact, {.width = width, .first = sign + " ", .rest = "  "});
    return colored(holds ? "32" : "1;31", sign, color) + text.substr(sign.size());
  });
}

void Lesson::try_next(const std::vector<Suggestion>& suggestions) {
  section("Try");
  std::vector<Json> kept;
  int number = 0;
  for (const auto& [change, effect] : suggestions) {
    kept.push_back(json_object({{"change", change}, {"effect", effect}}));
    const std::string mark = fmt::format("{}. ", ++number);
    show("item", [&, change = change, effect = effect](double width, bool) {
      return wrapped(change, {.width = width, .first = mark, .rest = "   "}) +
             wrapped(effect, {.width = width, .first = "   → ", .rest = "     "});
    });
  }
  keep("try", {{"suggestions", kept}});
  say("Then do the exercise: `make start` once, write into my/{}.hpp, and `make check-{}`.", info_.name,
      info_.name.substr(0, 2));
}

int Lesson::finish() {
  std::filesystem::create_directories(folder());
  write_file_atomically(folder() / "output.txt", {output_});
  write_file_atomically(folder() / "lesson.json", {"[\n", records_, "\n]\n"});
  write_gallery(out);
  if (broken_) fmt::print(stderr, "{}: {} of {} claims do not hold\n", info_.name, broken_, claims_);
  return broken_ ? 1 : 0;
}

int run_lesson(int argc, char** argv, const LessonInfo& info, const std::function<void(Lesson&)>& body) {
  return run_program(info.name, [&] {
    Lesson lesson(info);
    Options options(info.name + " [options]", info.question);
    if (info.add_options) info.add_options(options);
    lesson.parse(options, {argv + 1, argv + argc});
    std::filesystem::create_directories(lesson.folder());
    lesson.begin();
    body(lesson);
    return lesson.finish();
  });
}

viz::Matrix matrix_of(const Tensor& tensor, std::initializer_list<Index> leading) {
  const int rank = tensor.rank();
  if (rank < 2 || rank - 2 != int(leading.size()))
    fail("matrix_of: {} indices into {}; all axes but the last two need one", leading.size(),
         tensor.shape().str());
  Index offset = 0;
  int axis = 0;
  for (const Index i : leading) offset += i * tensor.shape().stride(axis++);
  return viz::Matrix(tensor.shape()[-2], tensor.shape()[-1], tensor.data() + offset);
}

std::string grouped(Index number) {
  std::string digits = fmt::format("{}", number);
  for (Index at = std::ssize(digits) - 3; at > (number < 0); at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace attn
