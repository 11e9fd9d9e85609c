// Verdict: what a set of answers is worth, and how it is told.
//
// Answers are compared with the right ones input by input, smallest first. The first input that shows an
// error decides what is said: not started, crashed, ran away, threw, did not refuse, changed its input, wrong
// shape, wrong values. Then each known mistake is asked whether it would have given the very same answers to
// all inputs.
#pragma once

#include <optional>  // optional
#include <string>    // string
#include <vector>    // vector

#include "lessons/coach/grading.hpp"

namespace coach {

// The inputs of one seed, with the right answers and those of every mistake.
struct Sheet {
  const Graded& function;
  std::vector<Input> inputs;
  std::vector<Outcome> right;
  std::vector<std::vector<Outcome>> wrong;  // one list for each mistake; empty for one that runs away

  Sheet(const Graded& function, std::uint64_t seed);
};

struct Verdict {
  enum class Kind {
    Passed,
    NotStarted,
    Crashed,
    RanAway,
    Threw,
    NotRefused,
    ChangedInput,
    WrongShape,
    WrongValues
  };
  Kind kind = Kind::Passed;
  std::size_t input = 0;                      // the smallest that shows it
  std::size_t right = 0;                      // how many inputs were answered rightly
  std::optional<Difference> difference = {};  // of wrong values and shapes
  std::vector<std::size_t> mistakes = {};     // those that agree with every answer
};

// `answers` may be fewer than the inputs: a crash ends them.
Verdict judge(const Sheet& sheet, const std::vector<Outcome>& answers);

const char* headline(Verdict::Kind kind);  // "wrong values"

// Everything below the headline, indented; empty where the headline says it all. `color` marks up for a
// terminal.
std::string explain(const Sheet& sheet, const std::vector<Outcome>& answers, const Verdict& verdict,
                    const std::string& lesson, bool color);

}  // namespace coach
