// Grading: how an exercise says what is asked, what is right, and which mistakes it knows.
//
// An exercise is five files, four of them in lessons/NN_name/; copy those of lesson 06:
//   exercise.hpp      the stub: contract, shapes, one worked example, `todo();` for a body
//   solution.hpp      the same functions, answered and explained: shown to who has passed
//   mistakes.diff     the wrong answers, each with its name, as changes of the solution: see mistakes.hpp
//   hints.md          for each function a heading `## function` with three or more numbered hints
//   tests/exercises/NN_name_test.cpp: the right answer as plain loops, the inputs, what to notice
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
//       .mistakes = mistakes::scores,
//       .notice = "Row i of the result is what token i thinks of every other."}
//
// Cases are drawn from `rng`, smallest first: the first one that shows an error is printed, so begin with one
// that can be worked out by hand (`tidy` has one decimal). Have sizes that are odd, not square and not powers
// of two (1, 3, 5, 7), and enough of them that no two mistakes give the same answers. Where the oracle
// throws, the answer must throw as well. What a function writes to arguments of type T& counts as part of its
// answer; whoever changes another argument is told. Where several results are right, `.accepts` (result,
// arguments) says whether this one is. See value.hpp for the types that can pass. Answers in float are near
// enough (tolerance 1e-5), in float16 not.
//
// To add a mistake: in mistakes.diff, its name as one would say it in a sentence ("no scaling"), one or two
// sentences on why it is wrong (not how to repair it), and what a learner does to a right answer:
//
//   @@ no scaling @@ Why ÷ √d_k?
//   The products are not divided by √D. Their variance grows with D, so …
//   -      out(i, j) = dot / std::sqrt(real(D));
//   +      out(i, j) = dot;
//
// The build makes the wrong function from it (mutants.hpp), and fails with its line if it does not fit the
// solution. A mistake is recognised when it agrees with the learner on every input (where it throws, so must
// the learner's). `make check-course` fails if it passes, or is taken for another one.
//
// How it runs: the learner's file is compiled alone, with sanitizers, and linked to the grader of its lesson
// (everything else is built already). The grader starts itself once more for each function, so that a crash
// or an endless loop ends that process only, and reads the answers from a pipe. See grader.cpp and
// verdict.hpp.
#pragma once

#include <cmath>        // round
#include <functional>   // function
#include <memory>       // make_shared
#include <string>       // string
#include <tuple>        // tuple
#include <type_traits>  // decay_t
#include <vector>       // vector

#include "lessons/coach/exercise.hpp"
#include "lessons/coach/value.hpp"

namespace coach {

using namespace attn;

// Normal numbers with one decimal, to be followed by hand.
inline Tensor tidy(const Shape& shape, Rng& rng) {
  Tensor x = normal(shape, rng);
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = std::round(10 * x.data()[i]) / 10;
  return x;
}

// What became of one call.
struct Outcome {
  enum class Kind { Answered, Threw, NotStarted, Crashed, RanAway };
  Kind kind = Kind::Answered;
  Value value = {};          // of an answer
  std::string message = {};  // of an exception; of a crash, what the sanitizer said
  std::string place = {};    // the learner's line, "my/06_self_attention.hpp:23", if known
  int changed = -1;          // the first argument that was changed and must not be
};

template <class Result>
using Kept = std::conditional_t<std::is_void_v<Result>, std::tuple<>, std::decay_t<Result>>;

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
  std::function<bool(const Kept<Result>& result, const std::decay_t<Arguments>&... arguments)> accepts =
      nullptr;
  Mistakes<Result(Arguments...)> mistakes = {};
  std::string notice;       // one sentence, after it passed
  double tolerance = 1e-5;  // relative to the largest number of a result
};
template <class Signature>
using Cases = std::vector<typename Question<Signature>::Case>;

// One input with everybody's answer to it, the types erased.
struct Input {
  Value arguments;  // one part or more for each
  std::function<Outcome()> learner, oracle;
  std::vector<std::function<Outcome()>> mistakes;
  std::vector<std::pair<std::string, Value>> echoes;  // answers that only hand back what came in
};

struct NamedMistake {
  std::string name, why, where;
  bool runs_away;
};

// A question, the types erased.
struct Graded {
  std::string name, notice;
  double tolerance;
  std::vector<std::string> arguments;
  std::vector<NamedMistake> mistakes;
  std::function<std::vector<Input>(std::uint64_t seed)> inputs;

  template <class Signature>
  Graded(const Question<Signature>& question);
};

struct Exercise {
  std::string name;  // "06_self_attention"
  std::vector<Graded> functions;
};
Exercise exercise();  // each tests/exercises/NN_name_test.cpp defines it

namespace detail {

// Runs `call`, which fills the value, and notes how it ended.
Outcome outcome_of(const std::function<void(Outcome&)>& call);
bool same_bits(const Value& a, const Value& b);

template <class Argument>
inline constexpr bool is_output =
    std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>;

template <class Result, class... Arguments, std::size_t... i>
Outcome ask(const Question<Result(Arguments...)>& question, Result (*function)(Arguments...),
            const std::tuple<std::decay_t<Arguments>...>& given, std::index_sequence<i...> indices) {
  return outcome_of([&](Outcome& outcome) {
    auto arguments = clone(given);
    if constexpr (std::is_void_v<Result>) {
      function(static_cast<Arguments>(std::get<i>(arguments))...);
    } else {
      const Kept<Result> result = function(static_cast<Arguments>(std::get<i>(arguments))...);
      if (question.accepts && function != question.oracle && question.accepts(result, std::get<i>(given)...))
        outcome = ask(question, question.oracle, given, indices);
      else
        flatten(outcome.value, "", result);
    }
    const auto after = [&]<class Argument>(std::size_t index, const auto& argument, const auto& before) {
      Value now, then;
      flatten(now, question.arguments[index], argument);
      if constexpr (is_output<Argument>) {
        outcome.value.insert(outcome.value.end(), now.begin(), now.end());
      } else {
        flatten(then, question.arguments[index], before);
        if (outcome.changed < 0 && !same_bits(now, then)) outcome.changed = static_cast<int>(index);
      }
    };
    (after.template operator()<Arguments>(i, std::get<i>(arguments), std::get<i>(given)), ...);
  });
}

template <class Result, class... Arguments, std::size_t... i>
Input make_input(const std::shared_ptr<const Question<Result(Arguments...)>>& shared,
                 const std::tuple<std::decay_t<Arguments>...>& given, std::index_sequence<i...> indices) {
  const Question<Result(Arguments...)>& question = *shared;
  const auto kept = std::make_shared<std::tuple<std::decay_t<Arguments>...>>(given);
  const auto asking = [&](Result (*function)(Arguments...)) -> std::function<Outcome()> {
    return [=] { return ask(*shared, function, *kept, indices); };
  };
  Input input;
  input.learner = asking(question.answer);
  input.oracle = asking(question.oracle);
  for (const auto& mistake : question.mistakes) input.mistakes.push_back(asking(mistake.answer));

  Value untouched;
  const auto look = [&]<class Argument>(int index, const auto& argument) {
    const std::string& name = question.arguments.at(static_cast<std::size_t>(index));
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
                               std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Input> inputs;
  for (const auto& given : question->cases(rng))
    inputs.push_back(make_input(question, given, std::index_sequence_for<Arguments...>{}));
  return inputs;
}

}  // namespace detail

template <class Signature>
Graded::Graded(const Question<Signature>& question)
    : name(question.name),
      notice(question.notice),
      tolerance(question.tolerance),
      arguments(question.arguments),
      inputs([shared = std::make_shared<const Question<Signature>>(question)](std::uint64_t seed) {
        return detail::make_inputs(shared, seed);
      }) {
  for (const auto& mistake : question.mistakes)
    mistakes.push_back({mistake.name, mistake.why, mistake.where, mistake.runs_away});
}

}  // namespace coach
