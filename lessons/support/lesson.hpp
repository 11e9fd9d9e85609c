// Lesson: what every lesson program has in common, so that a lesson itself is nothing but the lesson.
//
//   int main(int argc, char** argv) {
//     return run_lesson(argc, argv, {.name = "06_self_attention", .question = "How does a token find …?"},
//                       [](Lesson& lesson) { … });
//   }
//
// Most of the text stands in the lesson's source as prose (lessons/support/prose.hpp); sentences with
// measured numbers are said with `say`. It all goes to standard output, as wide as the terminal and in
// colour there, and plain to DIR/06_self_attention/output.txt. What each piece is (prose, table, claim,
// figure …) is kept in lesson.json beside it, for the pages; pictures go there as PNG, and the gallery
// DIR/index.html is remade. A claim is a fact that the lesson has just shown: it is printed with its
// numbers, and if it does not hold, the program says so and ends with exit code 1. So running the lessons
// tests them.
#pragma once

#include <fmt/core.h>  // format

#include <filesystem>  // path
#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "core/json.hpp"
#include "core/tensor.hpp"
#include "core/viz/arrange.hpp"
#include "core/viz/chart.hpp"
#include "core/viz/heatmap.hpp"
#include "lessons/support/standard_options.hpp"

namespace attn {

struct LessonInfo {
  std::string name;                                // "06_self_attention"
  std::string question;                            // that the lesson answers
  std::function<void(Options&)> add_options = {};  // besides the standard ones
};

class Lesson : public StandardOptions {
 public:
  explicit Lesson(LessonInfo info, const StandardOptions& options = {})
      : StandardOptions(options), info_(std::move(info)) {}

  std::filesystem::path folder() const { return out / info_.name; }

  // Text. `say` is a paragraph and is filled; `print` leaves lines as they are.
  void prose(Index line, const std::string& markdown);  // called for each block: lessons/support/prose.hpp
  void section(const std::string& title);
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    paragraph(fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    lines(fmt::format(format, std::forward<Args>(args)...));
  }
  void equation(const std::string& text);  // set off, on a line of its own
  void table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);
  // A matrix with labelled rows and columns, as numbers.
  void numbers(const Tensor& matrix, const std::vector<std::string>& row_labels = {},
               const std::vector<std::string>& column_labels = {}, int decimals = 2);

  // Pictures: the PNG, its line in the gallery, and one line of text that says what to look at.
  void picture(const std::string& file, const viz::Image& image, const std::string& title,
               const std::string& caption);
  // Data for a figure that answers, on the page right after the picture that shows the same. What each
  // figure wants is told in notebooks_cpp/press/web/figures.js, where it is drawn.
  void data(const std::string& figure, const Json& values);
  // Small ones in the terminal, too.
  void heatmap(const viz::Matrix& matrix, const viz::HeatmapOptions& options = {});
  void line_chart(const std::vector<viz::Series>& series, const viz::ChartOptions& options = {});

  // A fact with its numbers; false makes the lesson fail.
  template <class... Args>
  void claim(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    check(holds, fmt::format(format, std::forward<Args>(args)...));
  }

  // The end of every lesson: changes to make and what should happen, and the exercise.
  struct Suggestion {
    std::string change, effect;
  };
  void try_next(const std::vector<Suggestion>& suggestions);

  void begin();  // the name and the question
  int finish();  // writes output.txt, lesson.json and the gallery; the exit code

 private:
  void paragraph(const std::string& text);
  void lines(const std::string& text);
  void check(bool holds, const std::string& fact);

  // How a piece of the lesson looks in `width` columns, in colour or not.
  using Look = std::function<std::string(double width, bool color)>;
  void show(const std::string& kind, const Look& look);
  void drawn(const Look& look);
  void keep(const std::string& kind, JsonMembers members);  // in lesson.json

  LessonInfo info_;
  std::string output_, records_, last_kind_;
  int claims_ = 0, broken_ = 0;
};

// Reads the command line and runs the lesson; the result is the program's exit code.
int run_lesson(int argc, char** argv, const LessonInfo& info, const std::function<void(Lesson&)>& body);

// For pictures of tensors: a matrix as it is, or part of a larger tensor by its leading indices.
viz::Matrix matrix_of(const Tensor& tensor, std::initializer_list<Index> leading = {});

std::string grouped(Index number);  // 63,082,496

}  // namespace attn
