// What a set of answers is worth, and which known mistake it is.
//
// Answers are compared with the right ones input by input, smallest first. The first input that shows an
// error decides the kind of the verdict. Then each known mistake is asked whether it would have given the
// same answers: to all inputs, to all but one, or in one part of the result.
#pragma once

#include <optional>  // optional
#include <string>    // string
#include <vector>    // vector

#include "lessons/coach/grading.hpp"

namespace coach {

// The inputs of a check, and the right answers to them.
struct AnswerKey {
  const Task& task;
  Selection selection;
  std::vector<Input> inputs;  // the chosen ones, then the drawn ones
  std::vector<Outcome> right;

  AnswerKey(const Task& task, const Selection& selection);
  Index chosen() const { return std::ssize(inputs) - selection.draws; }
};

struct Verdict {
  enum class Kind {
    passed,
    not_started,
    not_run,  // it calls a function that never ends
    crashed,
    ended_program,
    ran_away,
    threw,
    wrong_exception,
    not_refused,
    changed_input,
    broke_promise,
    remembers,
    wrong_shape,
    wrong_length,
    wrong_values
  };
  Kind kind = Kind::passed;
  Index input = 0;                            // the first that shows it
  Index right = 0, asked = 0;                 // how many inputs were answered, and how many rightly
  std::optional<Difference> difference = {};  // of wrong values and shapes
};

// What is wrong with one answer: `passed` if nothing is.
Verdict::Kind fault(const Task& task, const Outcome& answer, const Outcome& right,
                    std::optional<Difference>& difference);

Verdict judge(const AnswerKey& key, const std::vector<Outcome>& answers);

// A mistake that explains the answers.
struct Recognised {
  enum class Fit { exact, in_part, close };
  std::size_t mistake;
  Fit fit = Fit::exact;
  std::size_t part = 0;  // the part of the result that it explains, if not all of it
  std::string part_name = {};
};

// The mistakes' answers to the chosen inputs; empty for one that runs away.
using MistakeAnswers = std::vector<std::vector<Outcome>>;
MistakeAnswers ask_mistakes(const AnswerKey& key);

// Those that fit best: all that agree everywhere, else those that explain one part, else
// those that are close.
std::vector<Recognised> recognise(const AnswerKey& key, const MistakeAnswers& known,
                                  const std::vector<Outcome>& answers);

// How a mistake and the answers compare, counted over inputs.
struct Likeness {
  Index apart = 0;        // they disagree
  Index unexplained = 0;  // they disagree, and the answer is wrong
  Index same_errors = 0;  // they make the same error
};
// On the drawn inputs that the mistake answered: it was written with the chosen ones in mind, and what it
// does elsewhere may be no answer at all.
Likeness likeness_on_drawn(const AnswerKey& key, const Recognised& recognised,
                           const std::vector<Outcome>& known, const std::vector<Outcome>& answers);

}  // namespace coach
