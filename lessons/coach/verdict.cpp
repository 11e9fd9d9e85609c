#include "lessons/coach/verdict.hpp"

#include <fmt/core.h>  // format

#include <fstream>  // ifstream
#include <sstream>  // istringstream

#include "core/text.hpp"  // wrapped

#include "lessons/coach/show.hpp"
#include "lessons/mine/table.hpp"

namespace coach {

using Kind = Verdict::Kind;

const char* headline(Kind kind) {
  switch (kind) {
    case Kind::passed:
      return "passed";
    case Kind::not_started:
      return "not started yet";
    case Kind::not_run:
      return "not run";
    case Kind::crashed:
      return "crashed";
    case Kind::ended_program:
      return "ended the program";
    case Kind::ran_away:
      return "ran away";
    case Kind::threw:
      return "threw an exception";
    case Kind::wrong_exception:
      return "threw the wrong exception";
    case Kind::not_refused:
      return "took an input that it must refuse";
    case Kind::changed_input:
      return "changed its input";
    case Kind::broke_promise:
      return "right numbers, but not as promised";
    case Kind::remembers:
      return "remembers an earlier call";
    case Kind::wrong_shape:
      return "wrong shape";
    case Kind::wrong_length:
      return "wrong length";
    case Kind::wrong_values:
      return "wrong values";
  }
  return "";
}

std::string wrapped(const std::string& text, int indent) {
  const std::string blanks(indent, ' ');
  return attn::wrapped(text, {.first = blanks, .rest = blanks});
}

namespace {

constexpr int most_printed_lines = 12;
constexpr Index most_calls_shown = 8;

std::string named(const std::string& whose, const Value& value) {
  return listing(value.size() == 1 && value[0].name.empty() ? whose : whose + " ", value);
}

// Where a matrix is right and where it is wrong: the pattern often tells the loop that is at fault.
std::string picture(const Part& theirs, const Part& ours, double tolerance, bool color) {
  if (ours.kind != Part::Kind::tensor || ours.shape.size() < 2 || ours.numbers.empty()) return "";
  const Index columns = ours.shape.back(), rows = std::ssize(ours.numbers) / columns,
              rows_each = ours.shape[ours.shape.size() - 2];
  if (columns < 2 || rows < 2 || columns > 40 || rows > 24) return "";
  std::string out = fmt::format("{:{}}right · and wrong {}:\n", "", margin, color ? "\033[31m#\033[0m" : "#");
  Index wrong = 0;
  for (Index row = 0; row < rows; ++row) {
    if (row && row % rows_each == 0) out += "\n";
    out += std::string(margin + 2, ' ');
    for (Index column = 0; column < columns; ++column) {
      const bool bad = numbers_differ(theirs, ours, row * columns + column, tolerance);
      wrong += bad;
      out += !bad ? "· " : color ? "\033[31m#\033[0m " : "# ";
    }
    out.back() = '\n';
  }
  return wrong == std::ssize(ours.numbers) ? "" : out;
}

// Theirs against ours, where they part.
std::string comparison(const Value& theirs, const Value& ours, const Difference& difference, double tolerance,
                       bool color) {
  const bool list = difference.part < std::ssize(ours) && ours[difference.part].kind == Part::Kind::parts;
  if (list || difference.kind == Difference::Kind::structure)
    return named("yours", theirs) + named("ours", ours);
  const Part &left = theirs[difference.part], &right = ours[difference.part];
  const std::string name = right.name.empty() ? "" : " " + right.name;
  std::string out;
  if (difference.kind == Difference::Kind::shape)
    out += right.kind == Part::Kind::tensor
               ? fmt::format("    your shape{} is {}, ours {}\n", name, size_text(left), size_text(right))
               : fmt::format("    yours{} has {}, ours {}\n", name, size_text(left), size_text(right));
  const auto alone = [](Part part) {
    part.name.clear();
    return Value{std::move(part)};
  };
  out += listing("yours" + name, alone(left)) + listing("ours" + name, alone(right));
  if (difference.kind == Difference::Kind::number && right.numbers.size() > 1 &&
      right.kind != Part::Kind::pair) {
    out += fmt::format(
        "    worst element {}: yours {}, ours {} ({} of {} elements differ)\n",
        index_text(right, difference.element), number_text(left.numbers[difference.element], right.exact),
        number_text(right.numbers[difference.element], right.exact), difference.wrong, right.numbers.size());
    out += picture(left, right, tolerance, color);
  }
  return out;
}

// What the functions among the arguments were asked, by whom, and what they answered.
std::string conversation(const Task& task, const Outcome& answer, const Outcome& right) {
  const auto lines = [&](const Calls& calls) {
    std::vector<std::string> out;
    for (const Call& call : calls) {
      const bool threw = call.answered.size() == 1 && call.answered[0].kind == Part::Kind::opaque;
      const std::string said =
          task.show_answer && !threw ? task.show_answer(call.answered) : show_inline(call.answered);
      out.push_back(
          fmt::format("{:{}}{}({}) = {}\n", "", margin + 2, call.name, show_inline(call.asked), said));
    }
    return out;
  };
  const std::vector<std::string> yours = lines(answer.calls), ours = lines(right.calls);
  const auto block = [&](const char* who, const std::vector<std::string>& all) {
    std::string out = fmt::format("{:{}}{}:\n", "", margin, who);
    for (Index i = 0; i < std::min(std::ssize(all), most_calls_shown); ++i) out += all[i];
    if (std::ssize(all) > most_calls_shown)
      out += fmt::format("{:{}}… and {} more\n", "", margin + 2, std::ssize(all) - most_calls_shown);
    return out;
  };
  if (yours.empty() && ours.empty()) return "";
  if (yours == ours) return block("yours and ours both asked", ours);
  return (yours.empty() ? fmt::format("{:{}}yours asked nothing\n", "", margin)
                        : block("yours asked", yours)) +
         block("ours asked", ours);
}

// The line of the lesson's program where this section begins.
std::string lesson_place(const std::string& lesson, const std::string& heading) {
  const std::string path = "lessons/" + lesson + "/lesson.cpp";
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (line.find("/// ## " + heading) != std::string::npos) return fmt::format(", {}:{}", path, number);
  return "";
}

// Where a milestone can show what the mistake does to a whole model, the last line says how.
std::string naming(const Task& task, const Recognised& recognised, const std::string& lesson, bool color) {
  const NamedMistake& mistake = task.mistakes[recognised.mistake];
  const std::string name =
      recognised.fit == Recognised::Fit::exact ? fmt::format("This is a known mistake: {}.", mistake.name)
      : recognised.fit == Recognised::Fit::in_part
          ? fmt::format("In {}, this is a known mistake: {}.", recognised.part_name, mistake.name)
          : fmt::format("Close to a known mistake: {}.", mistake.name);
  const std::string shown = attn::mine::how_to_see(task.name, mistake.name);
  return fmt::format("    {}{}{}\n", color ? "\033[1m" : "", name, color ? "\033[0m" : "") +
         wrapped(mistake.why, 4) +
         wrapped(fmt::format("See lesson {}, \"{}\"{}", lesson.substr(0, 2), mistake.where,
                             lesson_place(lesson, mistake.where)),
                 4) +
         (recognised.fit == Recognised::Fit::exact && !shown.empty()
              ? fmt::format("    What it does to a whole model: {}\n", shown)
              : "");
}

// The first sentence below the headline: what happened, where it is not the numbers that say it.
std::string event(const Finding& finding) {
  const Outcome& answer = finding.answer;
  switch (finding.verdict.kind) {
    case Kind::threw:
    case Kind::wrong_exception: {
      const std::string what = answer.message.empty() ? answer.thrown : answer.thrown + ": " + answer.message;
      return finding.verdict.kind == Kind::threw
                 ? "It threw " + what
                 : fmt::format(
                       "This input is to be refused by throwing std::invalid_argument. Yours threw {}", what);
    }
    case Kind::remembers:
      return "Asked about this input alone, in a new program, it gives another answer than after the calls "
             "before: "
             "it remembers an earlier call, or draws at random. Is a variable static or global?";
    default:
      return answer.message;
  }
}

std::string printed_lines(const std::string& printed) {
  std::string out = "    it printed:\n";
  std::istringstream lines(printed);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count == most_printed_lines) return out + "      …\n";
    out += "      " + line + "\n";
  }
  return count ? out : "";
}

}  // namespace

std::string in_short(const Task& task, const Finding& finding) {
  if (!finding.cause.empty()) return "it calls " + finding.cause + ", which is not right yet";
  if (!finding.mistakes.empty()) {
    const Recognised& first = finding.mistakes[0];
    return fmt::format(
        "{}{}", first.fit == Recognised::Fit::close ? "close to a known mistake: " : "a known mistake: ",
        task.mistakes[first.mistake].name);
  }
  if (!finding.facts.empty()) return finding.facts[0];
  return event(finding);
}

std::string explain(const Task& task, const Finding& finding, const std::string& lesson, bool color) {
  const Verdict& verdict = finding.verdict;
  if (verdict.kind == Kind::passed || verdict.kind == Kind::not_started) return "";
  if (!finding.cause.empty())
    return fmt::format("    It calls {}, which is not right yet: that one first.\n", finding.cause) +
           printed_lines(finding.printed);
  const Outcome &answer = finding.answer, &right = finding.right;
  std::string out;
  if (const std::string first = event(finding); !first.empty())
    out += wrapped(first + (answer.place.empty() ? "" : " (" + answer.place + ")"), 4);
  if (!finding.changed.empty())
    out += wrapped(
        fmt::format(
            "It changes {}, which is not what it was before the call. A Tensor is a handle: writing to "
            "it changes the caller's numbers. Make a new tensor with empty() or zeros().",
            finding.changed),
        4);
  if (!finding.broken.empty()) out += wrapped(finding.broken, 4);

  out += fmt::format(
      "    on the smallest input that shows it{}:\n",
      verdict.asked < 2 ? "" : fmt::format(" ({} of {} inputs are right)", verdict.right, verdict.asked));
  Value arguments;
  for (const Part& part : finding.arguments)
    if (part.kind != Part::Kind::opaque || (answer.calls.empty() && right.calls.empty()))
      arguments.push_back(part);
  out += listing("", arguments) + conversation(task, answer, right);
  if (verdict.kind == Kind::not_refused)
    out += named("yours", answer.value) + wrapped("ours throws: " + right.message, margin);
  else if (verdict.difference)
    out += comparison(answer.value, right.value, *verdict.difference, task.tolerance, color);
  else if (right.kind == Outcome::Kind::answered && answer.kind != Outcome::Kind::answered)
    out += named("ours", right.value);
  for (const Recognised& recognised : finding.mistakes) out += naming(task, recognised, lesson, color);
  for (const std::string& fact : finding.facts) out += wrapped(fact, 4);
  return out + printed_lines(finding.printed);
}

}  // namespace coach
