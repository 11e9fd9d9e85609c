#include "lessons/coach/self_check.hpp"

#include <fmt/format.h>

#include <bit>      // has_single_bit
#include <cmath>    // frexp, ldexp, nearbyint
#include <fstream>  // ifstream
#include <sstream>  // stringstream

#include "lessons/coach/run_answers.hpp"
#include "lessons/coach/verdict.hpp"

namespace coach {
namespace {

constexpr std::uint64_t seeds[] = {1, 2, 3, 4, 5};

struct Tally {
  std::string exercise;
  int checks = 0, failed = 0, mistakes = 0, trivial = 0;

  bool check(bool holds, const std::string& what) {
    ++checks;
    if (holds) return true;
    ++failed;
    fmt::print("{}: {}\n", exercise, what);
    return false;
  }
};

double float16(double number) {
  if (!std::isfinite(number) || number == 0) return number;
  int exponent;
  const double fraction = std::frexp(number, &exponent);        // 0.5 <= |fraction| < 1
  const int bits = exponent < -13 ? 11 + (exponent + 13) : 11;  // fewer below 2^-14
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

struct Trivial {
  std::string name;
  std::vector<Outcome> answers;
};

bool sized(const Value& arguments, std::size_t rank) {
  for (const Part& part : arguments)
    if (part.shape.size() >= rank && part.kind == Part::Kind::Number) return true;
  return false;
}

bool square(const Value& arguments) {
  for (const Part& part : arguments)
    if (part.shape.size() >= 2 && part.shape.back() != part.shape[part.shape.size() - 2]) return false;
  return true;
}

bool powers_of_two(const Value& arguments) {
  for (const Part& part : arguments)
    if (part.kind == Part::Kind::Number)
      for (const Index size : part.shape)
        if (!std::has_single_bit(static_cast<std::uint64_t>(size))) return false;
  return true;
}

// The right answers with each number replaced, and each text by nothing.
template <class Change>
std::vector<Outcome> changed(const Sheet& sheet, const Change& change) {
  std::vector<Outcome> answers;
  for (const Outcome& right : sheet.right) {
    answers.push_back({.value = right.value});
    for (Part& part : answers.back().value) {
      for (double& number : part.numbers) number = change(part, number);
      if (part.kind == Part::Kind::Text) part.text.clear();
    }
  }
  return answers;
}

// Right where `known` is true of the input, and the opposite of right elsewhere.
template <class Known>
std::vector<Outcome> only_where(const Sheet& sheet, const Known& known) {
  std::vector<Outcome> answers = sheet.right;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (!known(sheet.inputs[i].arguments))
      answers[i].kind =
          answers[i].kind == Outcome::Kind::Threw ? Outcome::Kind::Answered : Outcome::Kind::Threw;
  return answers;
}

std::vector<Trivial> trivial_answers(const Sheet& sheet) {
  std::vector<Trivial> answers;
  for (std::size_t e = 0; e < sheet.inputs[0].echoes.size(); ++e) {
    answers.push_back({sheet.inputs[0].echoes[e].first, {}});
    for (const Input& input : sheet.inputs)
      answers.back().answers.push_back({.value = input.echoes[e].second});
  }
  answers.push_back({"zeros", changed(sheet, [](const Part&, double) { return 0.0; })});
  answers.push_back({"ones", changed(sheet, [](const Part&, double) { return 1.0; })});
  answers.push_back(
      {"the first answer for every input", std::vector<Outcome>(sheet.inputs.size(), sheet.right[0])});

  bool rounds = false;
  std::vector<Outcome> rounded = sheet.right;
  for (Outcome& answer : rounded)
    for (Part& part : answer.value)
      if (!part.exact)
        for (double& number : part.numbers) {
          const double half = float16(number);
          rounds |= !(half == number) && std::isfinite(number);
          number = half;
        }
  if (rounds) answers.push_back({"the right answer in float16", rounded});

  bool matrices = false, arrays = false;
  for (const Input& input : sheet.inputs) {
    matrices |= sized(input.arguments, 2);
    arrays |= sized(input.arguments, 1);
  }
  if (matrices) answers.push_back({"right for square sizes only", only_where(sheet, square)});
  if (arrays) answers.push_back({"right for powers of two only", only_where(sheet, powers_of_two)});
  return answers;
}

std::string names_of(const Sheet& sheet, const Verdict& verdict) {
  std::string names;
  for (const std::size_t m : verdict.mistakes)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : " and ", sheet.function.mistakes[m].name);
  return names.empty() ? "nothing known" : names;
}

void check_seed(Tally& tally, const Graded& function, std::uint64_t seed) {
  const Sheet sheet(function, seed);
  const auto say = [&](const std::string& what) {
    return fmt::format("{}, seed {}: {}", function.name, seed, what);
  };

  std::vector<Outcome> again;
  for (const Input& input : sheet.inputs) again.push_back(input.oracle());
  tally.check(judge(sheet, again).kind == Verdict::Kind::Passed,
              say("the oracle does not give the same answer twice, or changes its input"));

  for (std::size_t m = 0; m < function.mistakes.size(); ++m) {
    const NamedMistake& mistake = function.mistakes[m];
    if (mistake.runs_away && seed != seeds[0]) continue;  // each try takes its full second
    const std::vector<Outcome> answers =
        mistake.runs_away ? run_answers(function, static_cast<int>(m), seed, "mistakes.hpp").outcomes
                          : sheet.wrong[m];
    const Verdict verdict = judge(sheet, answers);
    const bool own_name = verdict.mistakes == std::vector<std::size_t>{m};
    tally.check(verdict.kind != Verdict::Kind::Passed,
                say(fmt::format("the mistake \"{}\" passes", mistake.name)));
    tally.check(
        own_name || verdict.kind == Verdict::Kind::Passed,
        say(fmt::format("the mistake \"{}\" is recognised as {}", mistake.name, names_of(sheet, verdict))));
    if (seed == seeds[0]) tally.mistakes += own_name && verdict.kind != Verdict::Kind::Passed;
  }
  for (const Trivial& trivial : trivial_answers(sheet)) {
    const bool rejected = judge(sheet, trivial.answers).kind != Verdict::Kind::Passed;
    tally.check(rejected, say(fmt::format("a trivial answer passes: {}", trivial.name)));
    if (seed == seeds[0]) tally.trivial += rejected;
  }
}

// A mistake must say why it is wrong and where the lesson explains it; the lesson must have that place.
void check_texts(Tally& tally, const Exercise& exercise) {
  std::stringstream lesson;
  if (std::ifstream file("lessons/" + exercise.name + "/lesson.cpp"); file) lesson << file.rdbuf();
  for (const Graded& function : exercise.functions) {
    tally.check(!function.notice.empty(), function.name + ": nothing to notice after it passed");
    tally.check(!function.mistakes.empty(), function.name + ": no mistake is known");
    for (const NamedMistake& mistake : function.mistakes) {
      tally.check(
          mistake.why.size() > 20 && mistake.why.size() < 400,
          fmt::format("{}: \"{}\": one or two sentences on why it is wrong", function.name, mistake.name));
      tally.check(!mistake.where.empty() &&
                      (lesson.str().empty() || lesson.str().find(mistake.where) != std::string::npos),
                  fmt::format("{}: \"{}\" points at \"{}\", which lesson.cpp does not have", function.name,
                              mistake.name, mistake.where));
    }
  }
}

}  // namespace

int self_check(const Exercise& exercise) {
  Tally tally{exercise.name};
  check_texts(tally, exercise);
  for (const Graded& function : exercise.functions)
    for (const std::uint64_t seed : seeds) check_seed(tally, function, seed);
  fmt::print("functions {} mistakes {} trivial {} checks {} failed {}\n", exercise.functions.size(),
             tally.mistakes, tally.trivial, tally.checks, tally.failed);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace coach
