// Grading: how an exercise says what is asked, what is right, and which mistakes it knows.
//
// An exercise is five files, four of them in lessons/NN_name/; copy those of lesson 06:
//   exercise.hpp      the stub: contract, shapes, one worked example, `todo();` for a body
//   solution.hpp      the same functions, answered and explained: shown to those who have passed
//   mistakes.diff     the wrong answers, each with its name, as changes of the solution: see mistakes.hpp
//   hints.md          for each function a heading `## function` with three or more numbered hints
//   tests/exercises/NN_name_test.cpp: the right answer (where the library has it, the library), the inputs
// (Structs that an interface needs go into a types.hpp that the others include: see lesson 02.)
//
// To add a function: write it in exercise.hpp and solution.hpp, add a Question in the test and a heading in
// hints.md and in mistakes.diff. Its name must not be that of an op (`softmax` would be ambiguous there;
// say `row_softmax`). 3 to 25 lines to write, 2 to 6 functions in an exercise.
//
//   Question<decltype(exercise::scores)>{
//       .name = "scores", .answer = exercise::scores, .oracle = oracle::scores, .arguments = {"q", "k"},
//       .cases = [](Rng& rng) -> Cases<decltype(exercise::scores)> {
//         return {{tidy({1, 2}, rng), tidy({2, 2}, rng)}, {normal({3, 5}, rng), normal({7, 5}, rng)}};
//       },
//       .draw = [](Draw& draw) -> Case<decltype(exercise::scores)> {
//         const Index T = draw.size(), S = draw.size(), D = draw.size();
//         return {draw.tidy({T, D}), draw.tidy({S, D})};
//       },
//       .mistakes = mistakes::scores,
//       .notice = "Row i of the result is what token i thinks of every other."}
//
// Cases are chosen, smallest first: the first one that shows an error is printed, so begin with one that can
// be worked out by hand (`tidy` has one decimal, `places` tells where a number stands). Have sizes that are
// odd, not square and not powers of two (1, 3, 5, 7), and enough of them that no two mistakes give the same
// answers. `draw` (draw.hpp) makes one more input anywhere in the contract's range: every check draws fresh
// ones, so whatever the contract promises must be in reach of it: sizes of 0 or 1, ±1000, counts beyond an
// int. Where the oracle throws, the answer must throw std::invalid_argument.
//
// What a function writes to arguments of type T& counts as part of its answer; whoever changes another
// argument is told. Where several results are right, `.accepts` (result, arguments) says whether this one is.
// What a contract promises beside its numbers (in place, no more memory than a tile) is looked at by
// `.promise`. `.library` names the calls that would do the whole job: they pass, with a remark. See value.hpp
// for the types that can pass. Answers in float are near enough (tolerance 1e-5), in float16 not.
//
// To add a mistake: in mistakes.diff, its name as one would say it in a sentence ("no scaling"), one or two
// sentences on why it is wrong (not how to repair it), and what a learner does to a right answer:
//
//   @@ no scaling @@ Why ÷ √d_k?
//   The products are not divided by √D. Their variance grows with D, so …
//   -      out(i, j) = dot / std::sqrt(real(D));
//   +      out(i, j) = dot;
//
// The build makes the wrong function from it (mutants.hpp) and fails with the line of a hunk that does not
// fit the solution. A mistake is recognised when it agrees with the learner on every input (where it throws,
// the learner's answer must throw, too). `make check-course` fails if it passes or is taken for another one.
//
// How it runs: the learner's file is compiled alone, with sanitizers, and linked to the grader of its
// lesson (everything else is built already). That program is only ever run under limits (sandbox.hpp),
// once or more for each function, and answers through a pipe. What reads the answers is another
// program, the grader linked with the empty exercise: nothing of the learner's is in it. See
// grader.cpp, run_answers.hpp, judge.hpp, verdict.hpp.
#pragma once

#include <functional>   // function
#include <memory>       // make_shared
#include <string>       // string
#include <tuple>        // tuple
#include <type_traits>  // decay_t
#include <vector>       // vector

#include "lessons/coach/draw.hpp"
#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"
#include "lessons/coach/vary.hpp"
#include "lessons/coach/watch_calls.hpp"

namespace coach {

// What became of one call.
struct Outcome {
  enum class Kind { unasked, answered, threw, not_started, crashed, ran_away, ended };
  Kind kind = Kind::answered;
  Value value = {};          // of an answer
  std::string message = {};  // of an exception; of a crash, what happened
  std::string thrown = {};   // the type of an exception
  bool refused = false;      // it was a std::invalid_argument
  std::string place = {};    // the learner's line, "my/06_self_attention.hpp:23", if known
  Index changed = -1;        // the first argument that was changed and must not be
  std::string broken = {};   // what it does that its contract forbids, as a sentence
  Calls calls = {};          // of the functions among its arguments
};

// A result as it can be kept: a function that returns nothing has an empty one.
template <class Result>
using Stored = std::conditional_t<std::is_void_v<Result>, std::tuple<>, std::decay_t<Result>>;

template <class Signature>
struct Mistake;
template <class Result, class... Arguments>
struct Mistake<Result(Arguments...)> {
  std::string name, why, where;
  Result (*answer)(Arguments...);
  bool runs_away = false;
};
template <class Signature>
using Mistakes = std::vector<Mistake<Signature>>;

// What can be seen of a call beside its result.
template <class Case>
struct Witness {
  const Case &before,
      &after;        // the arguments; tensors of `before` are the same handles, so they show changes
  Index most_bytes;  // held at one time, beyond what was there before the call
};

template <class Signature>
struct Question;
template <class Result, class... Arguments>
struct Question<Result(Arguments...)> {
  using Case = std::tuple<std::decay_t<Arguments>...>;
  std::string name;
  Result (*answer)(Arguments...);  // the learner's
  Result (*oracle)(Arguments...);
  std::vector<std::string> arguments;  // their names, for printing
  std::vector<Case> (*cases)(Rng& rng);
  Case (*draw)(Draw& draw);
  std::function<bool(const Stored<Result>& result, const std::decay_t<Arguments>&... arguments)> accepts =
      nullptr;
  std::function<std::string(const Witness<Case>& seen)> promise = nullptr;  // a sentence if it is broken
  Mistakes<Result(Arguments...)> mistakes = {};
  std::string notice;                                        // one sentence, after it passed
  std::vector<std::string> library = {};                     // ops that do the whole job
  std::string (*show_answer)(const Value& value) = nullptr;  // of a function among the arguments
  double tolerance = 1e-5;                                   // relative to the largest number of a result
};
template <class Signature>
using Case = typename Question<Signature>::Case;
template <class Signature>
using Cases = std::vector<Case<Signature>>;

// Who is asked: the learner, the oracle, or the mistake of that number.
constexpr int learner = -1, oracle_itself = -2;

// One input, the types erased.
struct Input {
  Value arguments;  // one part or more for each
  std::function<Outcome(int candidate)> ask;
  // The oracle on a changed input (vary.hpp), and the change; nothing when there are no more.
  std::function<std::optional<std::pair<std::string, Outcome>>(int variation)> as_if;
  std::vector<std::pair<std::string, Value>> echoes;  // answers that only hand back what came in
};

// Which inputs a check asks about. The chosen ones of the learner are always those of seed 1, on which the
// mistakes are known to differ.
struct Selection {
  std::uint64_t chosen_seed = 1;  // 0: none of them
  std::uint64_t draw_seed = 1;
  Index draws = 40, largest_scale = 7;

  Index scale(Index draw) const { return draw * (largest_scale + 1) / std::max<Index>(draws, 1); }
};

struct NamedMistake {
  std::string name, why, where;
  bool runs_away;
};

// A question, the types erased.
struct Task {
  std::string name, notice;
  double tolerance;
  std::vector<std::string> arguments, library;
  std::vector<NamedMistake> mistakes;
  std::string (*show_answer)(const Value& value);
  std::function<std::vector<Input>(const Selection& selection)> inputs;

  template <class Signature>
  Task(const Question<Signature>& question);
};

struct Exercise {
  std::string name;  // "06_self_attention"
  std::vector<Task> tasks;
};
Exercise exercise();  // each tests/exercises/NN_name_test.cpp defines it

namespace detail {

// Runs `call`, which fills the value, and notes how it ended.
Outcome outcome_of(const std::function<void(Outcome&)>& call);
bool same_bits(const Value& a, const Value& b);
void start_counting_bytes();
Index stop_counting_bytes();  // the most that were held in between

template <class Argument>
inline constexpr bool is_output =
    std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>;

template <class Result, class... Arguments, std::size_t... i>
Outcome ask(const Question<Result(Arguments...)>& question, Result (*function)(Arguments...),
            const std::tuple<std::decay_t<Arguments>...>& given, std::index_sequence<i...> indices) {
  using Case = std::tuple<std::decay_t<Arguments>...>;
  const auto calls = std::make_shared<Calls>();
  Case arguments = clone(given);
  (watch_calls(std::get<i>(arguments), question.arguments[i], calls), ...);
  const Case before = arguments;
  bool accepted = false;
  Outcome outcome = outcome_of([&](Outcome& outcome) {
    Index most = 0;
    start_counting_bytes();
    if constexpr (std::is_void_v<Result>) {
      function(static_cast<Arguments>(std::get<i>(arguments))...);
      most = stop_counting_bytes();
    } else {
      const Stored<Result> result = function(static_cast<Arguments>(std::get<i>(arguments))...);
      most = stop_counting_bytes();
      accepted =
          question.accepts && function == question.answer && question.accepts(result, std::get<i>(given)...);
      flatten(outcome.value, "", result);
    }
    if (question.promise && function == question.answer)
      outcome.broken = question.promise({before, arguments, most});
  });
  if (accepted) outcome.value = ask(question, question.oracle, given, indices).value;
  const auto look = [&]<class Argument>(Index index, const auto& argument, const auto& earlier) {
    Value now, then;
    flatten(now, question.arguments[index], argument);
    flatten(then, question.arguments[index], earlier);
    if constexpr (is_output<Argument>) {
      if (outcome.kind == Outcome::Kind::answered && !accepted)
        outcome.value.insert(outcome.value.end(), now.begin(), now.end());
    } else if (outcome.changed < 0 && !same_bits(now, then)) {
      outcome.changed = index;
    }
  };
  (look.template operator()<Arguments>(i, std::get<i>(arguments), std::get<i>(given)), ...);
  outcome.calls = *calls;
  return outcome;
}

template <class Result, class... Arguments, std::size_t... i>
Input make_input(const std::shared_ptr<const Question<Result(Arguments...)>>& shared,
                 const std::tuple<std::decay_t<Arguments>...>& given, std::index_sequence<i...> indices) {
  const Question<Result(Arguments...)>& question = *shared;
  const auto kept = std::make_shared<std::tuple<std::decay_t<Arguments>...>>(given);
  Input input;
  input.ask = [=](int candidate) {
    return detail::ask(*shared,
                       candidate == learner         ? shared->answer
                       : candidate == oracle_itself ? shared->oracle
                                                    : shared->mistakes.at(std::size_t(candidate)).answer,
                       *kept, indices);
  };
  input.as_if = [=](int number) -> std::optional<std::pair<std::string, Outcome>> {
    auto changed = clone(*kept);
    Variation variation{number, ""};
    const Outcome varied = outcome_of([&](Outcome&) {
      const auto fields = std::tuple{field(shared->arguments[i].c_str(), std::get<i>(changed))...};
      vary_fields(fields, "", variation);
    });
    if (variation.text.empty()) return std::nullopt;
    if (varied.kind != Outcome::Kind::answered) return std::pair{variation.text, varied};
    return std::pair{variation.text, detail::ask(*shared, shared->oracle, changed, indices)};
  };

  Value untouched;
  const auto look = [&]<class Argument>(Index index, const auto& argument) {
    const std::string& name = question.arguments.at(std::size_t(index));
    flatten(input.arguments, name, argument);
    if constexpr (std::is_same_v<std::decay_t<Argument>, Result>) {
      Value echo;
      flatten(echo, "", argument);
      input.echoes.emplace_back("returns " + name, echo);
    }
    if constexpr (is_output<Argument>) flatten(untouched, name, argument);
  };
  (look.template operator()<Arguments>(i, std::get<i>(given)), ...);
  if (std::is_void_v<Result>) input.echoes.emplace_back("does nothing", untouched);
  return input;
}

template <class Result, class... Arguments>
std::vector<Input> make_inputs(const std::shared_ptr<const Question<Result(Arguments...)>>& question,
                               const Selection& selection) {
  std::vector<Input> inputs;
  const auto add = [&](const auto& given) {
    inputs.push_back(make_input(question, given, std::index_sequence_for<Arguments...>{}));
  };
  if (selection.chosen_seed) {
    Rng rng(selection.chosen_seed);
    for (const auto& given : question->cases(rng)) add(given);
  }
  for (Index d = 0; d < selection.draws; ++d) {
    Draw draw(selection.draw_seed * 1000003 + std::uint64_t(d), selection.scale(d));
    add(question->draw(draw));
  }
  return inputs;
}

}  // namespace detail

template <class Signature>
Task::Task(const Question<Signature>& question)
    : name(question.name),
      notice(question.notice),
      tolerance(question.tolerance),
      arguments(question.arguments),
      library(question.library),
      show_answer(question.show_answer),
      inputs([shared = std::make_shared<const Question<Signature>>(question)](const Selection& selection) {
        return detail::make_inputs(shared, selection);
      }) {
  for (const auto& mistake : question.mistakes)
    mistakes.push_back({mistake.name, mistake.why, mistake.where, mistake.runs_away});
}

}  // namespace coach
