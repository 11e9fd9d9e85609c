#include "lessons/coach/verdict.hpp"

#include <fmt/format.h>  // format

#include <cmath>    // abs, isnan
#include <fstream>  // ifstream

#include "core/text.hpp"  // wrapped

namespace coach {

Sheet::Sheet(const Graded& function, std::uint64_t seed) : function(function), inputs(function.inputs(seed)) {
  for (const Input& input : inputs) right.push_back(input.oracle());
  for (std::size_t m = 0; m < function.mistakes.size(); ++m) {
    wrong.emplace_back();
    if (function.mistakes[m].runs_away) continue;
    for (const Input& input : inputs) wrong.back().push_back(input.mistakes[m]());
  }
}

namespace {

using Ended = Outcome::Kind;
using Kind = Verdict::Kind;

// Whether a mistake, which ended as `known`, explains `answer`. Where it throws, an answer that reads past
// the end by a plain pointer crashes.
bool alike(const Outcome& answer, const Outcome& known, double tolerance) {
  if (known.kind == Ended::Threw) return answer.kind == Ended::Threw || answer.kind == Ended::Crashed;
  return answer.kind == Ended::Answered && answer.changed == known.changed &&
         !compare(answer.value, known.value, tolerance);
}

bool explains(const Sheet& sheet, std::size_t mistake, const std::vector<Outcome>& answers) {
  if (answers.back().kind == Ended::RanAway) return sheet.function.mistakes[mistake].runs_away;
  const std::vector<Outcome>& known = sheet.wrong[mistake];
  const double tolerance = sheet.function.tolerance;
  bool answered = false, differs = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (known.empty() || !alike(answers[i], known[i], tolerance)) return false;
    if (answers[i].kind != Ended::Answered) continue;
    answered = true;
    differs |= !alike(answers[i], sheet.right[i], tolerance);
  }
  // Right answers up to a crash are no evidence for any mistake.
  return answers.back().kind == Ended::Crashed ? differs : answered;
}

Kind fault(const Sheet& sheet, std::size_t i, const Outcome& answer, std::optional<Difference>& difference) {
  switch (answer.kind) {
    case Ended::NotStarted:
      return Kind::NotStarted;
    case Ended::Crashed:
      return Kind::Crashed;
    case Ended::RanAway:
      return Kind::RanAway;
    case Ended::Threw:
      return sheet.right[i].kind == Ended::Threw ? Kind::Passed : Kind::Threw;
    case Ended::Answered:
      break;
  }
  if (sheet.right[i].kind == Ended::Threw) return Kind::NotRefused;
  difference = compare(answer.value, sheet.right[i].value, sheet.function.tolerance);
  if (!difference) return answer.changed >= 0 ? Kind::ChangedInput : Kind::Passed;
  return difference->kind == Difference::Kind::Shape || difference->kind == Difference::Kind::Structure
             ? Kind::WrongShape
             : Kind::WrongValues;
}

}  // namespace

Verdict judge(const Sheet& sheet, const std::vector<Outcome>& answers) {
  Verdict verdict;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::optional<Difference> difference;
    const Kind kind = fault(sheet, i, answers[i], difference);
    if (kind == Kind::Passed) {
      ++verdict.right;
    } else if (verdict.kind == Kind::Passed || kind == Kind::NotStarted) {
      verdict.kind = kind;
      verdict.input = i;
      verdict.difference = difference;
    }
  }
  if (verdict.kind != Kind::Passed && verdict.kind != Kind::NotStarted)
    for (std::size_t m = 0; m < sheet.wrong.size(); ++m)
      if (explains(sheet, m, answers)) verdict.mistakes.push_back(m);
  return verdict;
}

const char* headline(Kind kind) {
  switch (kind) {
    case Kind::Passed:
      return "passed";
    case Kind::NotStarted:
      return "not started yet";
    case Kind::Crashed:
      return "crashed";
    case Kind::RanAway:
      return "ran away";
    case Kind::Threw:
      return "threw an exception";
    case Kind::NotRefused:
      return "took an input that it must refuse";
    case Kind::ChangedInput:
      return "changed its input";
    case Kind::WrongShape:
      return "wrong shape";
    case Kind::WrongValues:
      return "wrong values";
  }
  return "";
}

namespace {

constexpr int margin = 6;

std::string wrapped(const std::string& text, int indent) {
  const std::string blanks(indent, ' ');
  return attn::wrapped(text, {.first = blanks, .rest = blanks});
}

std::string labelled(const std::string& label, const Part& part) {
  const bool matrix = part.kind == Part::Kind::Number && part.shape.size() > 1;
  const std::string head =
      fmt::format("{:{}}{} {}= ", "", margin, label, matrix ? shape_text(part) + " " : "");
  return head + show(part, static_cast<int>(head.size())) + "\n";
}

// Part by part; the small fields of one struct share a line: "graph[1]: inputs = [0], derivatives = [2.3]".
std::string labelled(const std::string& label, const Value& value) {
  std::string out, open;  // the struct whose line is not ended yet
  for (const Part& part : value) {
    const std::size_t dot = part.name.rfind('.');
    const bool small = dot != std::string::npos && part.numbers.size() < 10 && part.shape.size() < 2;
    const std::string owner = small ? part.name.substr(0, dot) : "";
    if (!open.empty() && open != owner) out += "\n";
    if (small) out += open == owner ? ", " : fmt::format("{:{}}{}{}: ", "", margin, label, owner);
    if (small)
      out += part.name.substr(dot + 1) + " = " + show(part, 0);
    else if (part.kind != Part::Kind::List || part.shape[0] == 0)
      out += labelled(label + part.name, part);
    open = owner;
  }
  if (value.empty()) return fmt::format("{:{}}{}= nothing\n", "", margin, label);
  return open.empty() ? out : out + "\n";
}
std::string named(const std::string& whose, const Value& value) {
  return labelled(value.size() == 1 && value[0].name.empty() ? whose : whose + " ", value);
}

// Where a matrix is right and where it is wrong: the pattern often tells the loop that is at fault.
std::string picture(const Part& theirs, const Part& ours, double tolerance, bool color) {
  if (ours.shape.size() < 2) return "";
  const auto columns = static_cast<std::size_t>(ours.shape.back()), rows = ours.numbers.size() / columns;
  if (columns < 2 || rows < 2 || columns > 40 || rows > 24) return "";
  std::string out = fmt::format("{:{}}right · and wrong {}:\n", "", margin, color ? "\033[31m#\033[0m" : "#");
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    out += std::string(margin + 2, ' ');
    for (std::size_t column = 0; column < columns; ++column) {
      const bool bad = numbers_differ(theirs, ours, row * columns + column, tolerance);
      wrong += bad;
      out += !bad ? "· " : color ? "\033[31m#\033[0m " : "# ";
    }
    out.back() = '\n';
  }
  return wrong == ours.numbers.size() ? "" : out;
}

bool is_matrix(const Part& part) { return part.kind == Part::Kind::Number && part.shape.size() == 2; }

bool transposed(const Part& theirs, const Part& ours, double tolerance) {
  if (!is_matrix(theirs) || !is_matrix(ours) || theirs.shape[0] != ours.shape[1] ||
      theirs.shape[1] != ours.shape[0] || ours.shape[0] == 1 || ours.shape[1] == 1)
    return false;
  Part turned = ours;
  const auto rows = static_cast<std::size_t>(ours.shape[0]),
             columns = static_cast<std::size_t>(ours.shape[1]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) turned.numbers[i * columns + j] = theirs.numbers[j * rows + i];
  return !compare({turned}, {ours}, tolerance);
}

// What can be said of wrong numbers without knowing the mistake.
std::string remark(const Part& theirs, const Part& ours, double tolerance) {
  if (theirs.kind != Part::Kind::Number) return "";
  if (transposed(theirs, ours, tolerance)) return "Yours is the transpose of ours.";
  if (theirs.shape != ours.shape || ours.numbers.empty()) return "";
  const std::size_t count = ours.numbers.size();
  std::size_t zero = 0, nan = 0, pivot = 0;
  for (std::size_t i = 0; i < count; ++i) {
    zero += theirs.numbers[i] == 0;
    nan += std::isnan(theirs.numbers[i]) && !std::isnan(ours.numbers[i]);
    if (std::abs(ours.numbers[i]) > std::abs(ours.numbers[pivot])) pivot = i;
  }
  if (nan)
    return "Yours has NaN: an element that was never written (empty() is full of them), or 0/0, or ∞ − ∞.";
  if (count == 1 || ours.exact) return "";
  if (zero == count) return "Yours is all zeros.";
  const double factor = theirs.numbers[pivot] / ours.numbers[pivot];
  const double offset = theirs.numbers[pivot] - ours.numbers[pivot];
  Part scaled = ours, moved = ours;
  for (double& number : scaled.numbers) number *= factor;
  for (double& number : moved.numbers) number += offset;
  if (!compare({theirs}, {scaled}, tolerance))
    return fmt::format("Every element of yours is {:.5g} times ours.", factor);
  if (!compare({theirs}, {moved}, tolerance))
    return fmt::format("Every element of yours is ours {} {:.5g}.", offset < 0 ? "−" : "+", std::abs(offset));
  return "";
}

// The line of the lesson's program where this section begins.
std::string lesson_place(const std::string& lesson, const std::string& heading) {
  const std::string path = "lessons/" + lesson + "/lesson.cpp";
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (line.find('"' + heading) != std::string::npos) return fmt::format(", {}:{}", path, number);
  return "";
}

// Theirs against ours, where they part.
std::string comparison(const Value& theirs, const Value& ours, const Difference& difference, double tolerance,
                       bool known, bool color) {
  const bool list = difference.part < ours.size() && ours[difference.part].kind == Part::Kind::List;
  if (list || difference.kind == Difference::Kind::Structure)
    return named("yours", theirs) + named("ours", ours);
  const Part &left = theirs[difference.part], &right = ours[difference.part];
  const std::string name = right.name.empty() ? "" : " " + right.name;
  std::string out;
  if (difference.kind == Difference::Kind::Shape && right.kind == Part::Kind::Number)
    out += fmt::format("    your shape{} is {}, ours {}\n", name, shape_text(left), shape_text(right));
  out += labelled("yours" + name, left) + labelled("ours" + name, right);
  if (difference.kind == Difference::Kind::Number && right.numbers.size() > 1) {
    out += fmt::format(
        "    worst element {}: yours {}, ours {} ({} of {} elements differ)\n",
        index_text(right, difference.element), number_text(left.numbers[difference.element], right.exact),
        number_text(right.numbers[difference.element], right.exact), difference.wrong, right.numbers.size());
    out += picture(left, right, tolerance, color);
  }
  return known ? out : out + wrapped(remark(left, right, tolerance), 4);
}

std::string naming(const NamedMistake& mistake, const std::string& lesson, bool color) {
  return fmt::format("    {}This is a known mistake: {}.{}\n", color ? "\033[1m" : "", mistake.name,
                     color ? "\033[0m" : "") +
         wrapped(mistake.why, 4) +
         wrapped(fmt::format("See lesson {}, \"{}\"{}", lesson.substr(0, 2), mistake.where,
                             lesson_place(lesson, mistake.where)),
                 4);
}

}  // namespace

std::string explain(const Sheet& sheet, const std::vector<Outcome>& answers, const Verdict& verdict,
                    const std::string& lesson, bool color) {
  if (verdict.kind == Kind::Passed) return wrapped(sheet.function.notice, 4);
  if (verdict.kind == Kind::NotStarted) return "";
  const Outcome& answer = answers[verdict.input];
  const Outcome& right = sheet.right[verdict.input];
  std::string out;

  if (!answer.message.empty())
    out += wrapped(answer.message + (answer.place.empty() ? "" : " (" + answer.place + ")"), 4);
  if (verdict.kind == Kind::ChangedInput)
    out += wrapped(
        fmt::format("The result is right, but {} is not what it was before the call. A Tensor is a handle: "
                    "writing to it changes the caller's numbers. Make a new tensor with empty() or zeros().",
                    sheet.function.arguments[static_cast<std::size_t>(answer.changed)]),
        4);

  out += fmt::format("    on the smallest input that shows it{}:\n",
                     answers.size() < sheet.inputs.size()
                         ? ""
                         : fmt::format(" ({} of {} inputs are right)", verdict.right, answers.size()));
  out += labelled("", sheet.inputs[verdict.input].arguments);
  if (verdict.kind == Kind::NotRefused)
    out += named("yours", answer.value) + wrapped("ours throws: " + right.message, margin);
  else if (verdict.difference)
    out += comparison(answer.value, right.value, *verdict.difference, sheet.function.tolerance,
                      !verdict.mistakes.empty(), color);
  else if (right.kind == Ended::Answered && answer.kind != Ended::Answered)
    out += named("ours", right.value);
  for (const std::size_t m : verdict.mistakes) out += naming(sheet.function.mistakes[m], lesson, color);
  return out;
}

}  // namespace coach
