#include "lessons/coach/judge.hpp"

#include <cmath>  // isfinite

namespace coach {

using Ended = Outcome::Kind;
using Kind = Verdict::Kind;

AnswerKey::AnswerKey(const Task& task, const Selection& selection)
    : task(task), selection(selection), inputs(task.inputs(selection)) {
  for (const Input& input : inputs) right.push_back(input.ask(oracle_itself));
}

Kind fault(const Task& task, const Outcome& answer, const Outcome& right,
           std::optional<Difference>& difference) {
  switch (answer.kind) {
    case Ended::unasked:
      return Kind::passed;
    case Ended::not_started:
      return Kind::not_started;
    case Ended::crashed:
      return Kind::crashed;
    case Ended::ended:
      return Kind::ended_program;
    case Ended::ran_away:
      return Kind::ran_away;
    case Ended::threw:
      if (right.kind != Ended::threw) return Kind::threw;
      if (!answer.refused) return Kind::wrong_exception;
      return answer.changed >= 0 ? Kind::changed_input : Kind::passed;
    case Ended::answered:
      break;
  }
  if (right.kind == Ended::threw) return Kind::not_refused;
  difference = compare(answer.value, right.value, task.tolerance);
  if (difference && difference->kind == Difference::Kind::structure) return Kind::wrong_shape;
  if (difference && difference->kind == Difference::Kind::shape)
    return right.value[difference->part].kind == Part::Kind::tensor ? Kind::wrong_shape : Kind::wrong_length;
  if (difference) return Kind::wrong_values;
  if (answer.changed >= 0) return Kind::changed_input;
  return answer.broken.empty() ? Kind::passed : Kind::broke_promise;
}

Verdict judge(const AnswerKey& key, const std::vector<Outcome>& answers) {
  Verdict verdict;
  for (Index i = 0; i < std::ssize(answers); ++i) {
    std::optional<Difference> difference;
    const Kind kind = fault(key.task, answers[i], key.right[i], difference);
    if (answers[i].kind == Ended::unasked) continue;
    ++verdict.asked;
    if (kind == Kind::passed) {
      ++verdict.right;
    } else if (verdict.kind == Kind::passed || (kind == Kind::not_started && verdict.kind != kind)) {
      verdict.kind = kind;
      verdict.input = i;
      verdict.difference = difference;
    }
  }
  return verdict;
}

MistakeAnswers ask_mistakes(const AnswerKey& key) {
  MistakeAnswers known;
  for (int m = 0; m < int(key.task.mistakes.size()); ++m) {
    known.emplace_back();
    for (Index i = 0; i < key.chosen() && !key.task.mistakes[std::size_t(m)].runs_away; ++i)
      known.back().push_back(key.inputs[i].ask(m));
  }
  return known;
}

namespace {

// Numbers as they are compared with a near variant: one that overflows to an infinity is like
// one that becomes NaN.
Value without_infinities(Value value) {
  for (Part& part : value)
    for (double& number : part.numbers)
      if (!std::isfinite(number)) number = std::nan("");
  return value;
}

// Whether a mistake, which ended as `known`, explains `answer`. Where it throws, an answer that reads past
// the end by a plain pointer crashes. One that asks its model nothing is not like one that asks.
bool alike(const Outcome& answer, const Outcome& known, double tolerance) {
  if (known.kind == Ended::threw) return answer.kind == Ended::threw || answer.kind == Ended::crashed;
  return answer.kind == Ended::answered && answer.changed == known.changed &&
         answer.calls.empty() == known.calls.empty() && !compare(answer.value, known.value, tolerance);
}
bool nearly_alike(const Outcome& answer, const Outcome& known, double tolerance) {
  if (known.kind == Ended::threw) return alike(answer, known, tolerance);
  return answer.kind == Ended::answered && answer.calls.empty() == known.calls.empty() &&
         !compare(without_infinities(answer.value), without_infinities(known.value), tolerance);
}

bool agrees(const AnswerKey& key, const std::vector<Outcome>& known, const std::vector<Outcome>& answers) {
  bool answered = false, differs = false, crashed = false;
  for (Index i = 0; i < std::ssize(known); ++i) {
    if (answers[i].kind == Ended::unasked) continue;
    if (!alike(answers[i], known[i], key.task.tolerance)) return false;
    crashed |= answers[i].kind == Ended::crashed;
    if (answers[i].kind != Ended::answered) continue;
    answered = true;
    differs |= !alike(answers[i], key.right[i], key.task.tolerance);
  }
  // Right answers up to a crash are no evidence for any mistake.
  return crashed ? differs : answered;
}

// Whether it is the value of a function that does nothing: what `return {};` gives.
bool is_nothing(const Value& value) {
  for (const Part& part : value) {
    if (part.kind == Part::Kind::text && !part.text.empty()) return false;
    for (const double number : part.numbers)
      if (number != 0) return false;
  }
  return true;
}

// Counts one input. An error that anybody makes who returns nothing is none in common.
void count(Likeness& likeness, const Outcome& answer, const Outcome& known, const Outcome& right,
           double tolerance) {
  if (answer.kind == Ended::unasked) return;
  const bool same = nearly_alike(answer, known, tolerance),
             right_here = nearly_alike(answer, right, tolerance);
  likeness.apart += !same;
  likeness.unexplained += !same && !right_here;
  likeness.same_errors += same && !right_here && answer.kind == Ended::answered && !is_nothing(answer.value);
}

// The names of the parts of a result that has several, if all answers have them.
std::vector<std::string> part_names(const AnswerKey& key) {
  std::vector<std::string> names;
  for (Index i = 0; i < key.chosen(); ++i) {
    std::vector<std::string> here;
    for (const Part& part : pairs_apart(key.right[i].value)) here.push_back(part.name);
    if (key.right[i].kind != Ended::answered) continue;
    if (!names.empty() && names != here) return {};
    names = here;
  }
  return names.size() > 1 ? names : std::vector<std::string>();
}

Outcome one_part(const Outcome& whole, std::size_t part) {
  Outcome out = whole;
  const Value parts = pairs_apart(whole.value);
  if (whole.kind == Ended::answered) out.value = part < parts.size() ? Value{parts[part]} : Value();
  return out;
}

// Whether the mistake explains that part of every answer, and the part is wrong somewhere.
bool explains_part(const AnswerKey& key, std::size_t part, const std::vector<Outcome>& known,
                   const std::vector<Outcome>& answers) {
  bool differs = false;
  for (Index i = 0; i < std::ssize(known); ++i) {
    if (answers[i].kind == Ended::unasked || key.right[i].kind != Ended::answered) continue;
    const Outcome mine = one_part(answers[i], part);
    if (!alike(mine, one_part(known[i], part), key.task.tolerance)) return false;
    differs |= !alike(mine, one_part(key.right[i], part), key.task.tolerance);
  }
  return differs;
}

}  // namespace

std::vector<Recognised> recognise(const AnswerKey& key, const MistakeAnswers& known,
                                  const std::vector<Outcome>& answers) {
  std::vector<Recognised> found;
  bool ran_away = false;
  for (const Outcome& answer : answers) ran_away |= answer.kind == Ended::ran_away;
  for (std::size_t m = 0; m < known.size(); ++m) {
    const bool runs_away = key.task.mistakes[m].runs_away;
    if (ran_away ? runs_away : !runs_away && agrees(key, known[m], answers)) found.push_back({m});
  }
  if (!found.empty() || ran_away) return found;

  const std::vector<std::string> names = part_names(key);
  for (std::size_t part = 0; part < names.size(); ++part)
    for (std::size_t m = 0; m < known.size(); ++m)
      if (!known[m].empty() && explains_part(key, part, known[m], answers))
        found.push_back({m, Recognised::Fit::in_part, part, names[part]});
  if (!found.empty()) return found;

  Index best = 0;
  for (std::size_t m = 0; m < known.size(); ++m) {
    Likeness like;
    for (Index i = 0; i < std::ssize(known[m]); ++i)
      count(like, answers[i], known[m][i], key.right[i], key.task.tolerance);
    if (known[m].empty() || like.apart > 1 || like.same_errors < 2 || like.same_errors < best) continue;
    if (like.same_errors > best) found.clear();
    best = like.same_errors;
    found.push_back({m, Recognised::Fit::close});
  }
  return found.size() > 2 ? std::vector<Recognised>() : found;
}

Likeness likeness_on_drawn(const AnswerKey& key, const Recognised& recognised,
                           const std::vector<Outcome>& known, const std::vector<Outcome>& answers) {
  const auto seen = [&](const Outcome& outcome) {
    return recognised.fit == Recognised::Fit::in_part ? one_part(outcome, recognised.part) : outcome;
  };
  Likeness like;
  for (Index i = key.chosen(); i < std::ssize(answers); ++i)
    if (known[i].kind == Ended::answered)
      count(like, seen(answers[i]), seen(known[i]), seen(key.right[i]), key.task.tolerance);
  return like;
}

}  // namespace coach
