#include "lessons/support/lesson.hpp"

#include <iterator>  // ssize

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "lessons/support/gallery.hpp"
#include "lessons/support/output.hpp"

namespace attn {

void Lesson::write(const std::string& shown, const std::string& kept) {
  write_out(shown);
  output_ += kept;
}

void Lesson::section(const std::string& title) {
  const std::string line(display_width(title), '-');
  write(fmt::format("\n{}\n{}\n", colored("1;36", title), colored("36", line)),
        fmt::format("\n{}\n{}\n", title, line));
}

void Lesson::paragraph(const std::string& text) {
  const std::string lines = wrapped(text);
  write(lines.empty() ? "\n" : lines);
}

void Lesson::equation(const std::string& text) {
  write(fmt::format("\n    {}\n\n", colored("1", text)), fmt::format("\n    {}\n\n", text));
}

void Lesson::table(const std::vector<std::string>& header,
                   const std::vector<std::vector<std::string>>& rows) {
  std::vector<Index> widths;
  for (Index c = 0; c < std::ssize(header); ++c) {
    widths.push_back(display_width(header[c]));
    for (const auto& row : rows)
      if (c < std::ssize(row)) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (Index c = 0; c < std::ssize(cells); ++c)
      text += "  " + padded(cells[c], widths[c], c > 0 ? Align::right : Align::left);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string rule;
  for (const Index width : widths) rule += "  " + std::string(width, '-');
  std::string text = line(header) + rule + "\n";
  for (const auto& row : rows) text += line(row);
  write(text);
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
      rows.back().push_back(fmt::format("{:.{}f}", matrix(i, j), decimals));
  }
  table(header, rows);
}

void Lesson::picture(const std::string& file, const viz::Image& image, const std::string& title,
                     const std::string& caption) {
  viz::write_png(folder() / file, image);
  record_picture(folder(), file, title, caption);
  const std::string label = "[picture] " + (folder() / file).string();
  write(colored("35", label) + "\n", label + "\n");
  paragraph(caption);
}

void Lesson::heatmap(const viz::Matrix& matrix, const viz::HeatmapOptions& options) {
  write(viz::terminal_heatmap(matrix, options), viz::terminal_heatmap(matrix, options, viz::Terminal::plain));
}

void Lesson::line_chart(const std::vector<viz::Series>& series, const viz::ChartOptions& options) {
  write(viz::terminal_line_chart(series, options),
        viz::terminal_line_chart(series, options, viz::Terminal::plain));
}

void Lesson::check(bool holds, const std::string& fact) {
  ++claims_;
  if (!holds) ++broken_;
  const std::string sign = holds ? "✓" : "✗ does not hold:";
  const std::string text = wrapped(fact, {.first = sign + " ", .rest = "  "});
  write(colored(holds ? "32" : "1;31", sign) + text.substr(sign.size()), text);
}

void Lesson::try_next(const std::vector<Suggestion>& suggestions) {
  section("Try");
  int number = 0;
  for (const Suggestion& suggestion : suggestions) {
    write(wrapped(suggestion.change, {.first = fmt::format("{}. ", ++number), .rest = "   "}));
    write(wrapped(suggestion.effect, {.first = "   → ", .rest = "     "}));
  }
  const std::string digits = info_.name.substr(0, 2);
  say("Then do the exercise: `make start` once, write into my/{}.hpp, and `make check-{}`.", info_.name,
      digits);
}

int Lesson::finish() {
  std::filesystem::create_directories(folder());
  write_file_atomically(folder() / "output.txt", {output_});
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
    lesson.print("{}: {}", info.name, info.question);
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

}  // namespace attn
