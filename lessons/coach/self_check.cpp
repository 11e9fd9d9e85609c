#include "lessons/coach/self_check.hpp"

#include <fmt/core.h>

#include <bit>      // has_single_bit
#include <cmath>    // frexp, ldexp, nearbyint
#include <fstream>  // ifstream
#include <sstream>  // stringstream

#include "lessons/coach/judge.hpp"
#include "lessons/coach/run_answers.hpp"

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

bool is_array(const Part& part) { return part.kind == Part::Kind::tensor || part.kind == Part::Kind::list; }

bool sized(const Value& arguments, std::size_t rank) {
  for (const Part& part : arguments)
    if (part.shape.size() >= rank && is_array(part)) return true;
  return false;
}

bool square(const Value& arguments) {
  for (const Part& part : arguments)
    if (part.shape.size() >= 2 && part.shape.back() != part.shape[part.shape.size() - 2]) return false;
  return true;
}

bool powers_of_two(const Value& arguments) {
  for (const Part& part : arguments)
    if (is_array(part))
      for (const Index size : part.shape)
        if (!std::has_single_bit(std::uint64_t(size))) return false;
  return true;
}

// The right answers with each number replaced, and each text by nothing.
template <class Change>
std::vector<Outcome> changed(const AnswerKey& key, const Change& change) {
  std::vector<Outcome> answers;
  for (const Outcome& right : key.right) {
    answers.push_back({.value = right.value});
    for (Part& part : answers.back().value) {
      for (double& number : part.numbers) number = change(part, number);
      if (part.kind == Part::Kind::text) part.text.clear();
    }
  }
  return answers;
}

// Right where `known` is true of the input, and the opposite of right elsewhere.
template <class Known>
std::vector<Outcome> only_where(const AnswerKey& key, const Known& known) {
  std::vector<Outcome> answers = key.right;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (!known(key.inputs[i].arguments))
      answers[i].kind =
          answers[i].kind == Outcome::Kind::threw ? Outcome::Kind::answered : Outcome::Kind::threw;
  return answers;
}

std::vector<Trivial> trivial_answers(const AnswerKey& key) {
  std::vector<Trivial> answers;
  for (std::size_t e = 0; e < key.inputs[0].echoes.size(); ++e) {
    answers.push_back({key.inputs[0].echoes[e].first, {}});
    for (const Input& input : key.inputs) answers.back().answers.push_back({.value = input.echoes[e].second});
  }
  answers.push_back({"zeros", changed(key, [](const Part&, double) { return 0.0; })});
  answers.push_back({"ones", changed(key, [](const Part&, double) { return 1.0; })});
  answers.push_back(
      {"the first answer for every input", std::vector<Outcome>(key.inputs.size(), key.right[0])});

  bool rounds = false;
  std::vector<Outcome> rounded = key.right;
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
  for (const Input& input : key.inputs) {
    matrices |= sized(input.arguments, 2);
    arrays |= sized(input.arguments, 1);
  }
  if (matrices) answers.push_back({"right for square sizes only", only_where(key, square)});
  if (arrays) answers.push_back({"right for powers of two only", only_where(key, powers_of_two)});
  return answers;
}

std::string names_of(const Task& task, const std::vector<Recognised>& recognised) {
  std::string names;
  for (const Recognised& each : recognised)
    names +=
        fmt::format("{}{}\"{}\"", names.empty() ? "" : " and ",
                    each.fit == Recognised::Fit::exact ? "" : "close to ", task.mistakes[each.mistake].name);
  return names.empty() ? "nothing known" : names;
}

void check_seed(Tally& tally, const Task& task, std::uint64_t seed) {
  const AnswerKey key(task, {.chosen_seed = seed, .draw_seed = seed});
  const auto say = [&](const std::string& what) {
    return fmt::format("{}, seed {}: {}", task.name, seed, what);
  };

  std::vector<Outcome> again;
  for (const Input& input : key.inputs) again.push_back(input.ask(oracle_itself));
  tally.check(judge(key, again).kind == Verdict::Kind::passed,
              say("the oracle does not give the same answer twice, or changes its input, or refuses one by "
                  "another exception than std::invalid_argument"));

  const MistakeAnswers known = ask_mistakes(key);
  for (std::size_t m = 0; m < task.mistakes.size(); ++m) {
    const NamedMistake& mistake = task.mistakes[m];
    if (mistake.runs_away && seed != seeds[0]) continue;  // each try takes its full second
    const Index count = std::ssize(key.inputs);
    std::vector<Outcome> answers = known[m];
    answers.resize(std::size_t(count), {.kind = Outcome::Kind::unasked});
    if (mistake.runs_away)
      answers = run_answers("/proc/self/exe",
                            {.function = task.name,
                             .candidate = int(m),
                             .selection = key.selection,
                             .from = 0,
                             .until = key.chosen(),
                             .file = "mistakes.hpp"},
                            count)
                    .outcomes;
    const bool passes = judge(key, answers).kind == Verdict::Kind::passed;
    const std::vector<Recognised> recognised =
        passes ? std::vector<Recognised>() : recognise(key, known, answers);
    const bool own_name =
        recognised.size() == 1 && recognised[0].mistake == m && recognised[0].fit == Recognised::Fit::exact;
    tally.check(!passes, say(fmt::format("the mistake \"{}\" passes", mistake.name)));
    tally.check(own_name || passes, say(fmt::format("the mistake \"{}\" is recognised as {}", mistake.name,
                                                    names_of(task, recognised))));
    if (seed == seeds[0]) tally.mistakes += own_name;
  }
  for (const Trivial& trivial : trivial_answers(key)) {
    const bool rejected = judge(key, trivial.answers).kind != Verdict::Kind::passed;
    tally.check(rejected, say(fmt::format("a trivial answer passes: {}", trivial.name)));
    if (seed == seeds[0]) tally.trivial += rejected;
  }
}

// A mistake must say why it is wrong and where the lesson explains it; the lesson must have that place.
void check_texts(Tally& tally, const Exercise& exercise) {
  std::stringstream lesson;
  if (std::ifstream file("lessons/" + exercise.name + "/lesson.cpp"); file) lesson << file.rdbuf();
  for (const Task& task : exercise.tasks) {
    tally.check(!task.notice.empty(), task.name + ": nothing to notice after it passed");
    tally.check(!task.mistakes.empty(), task.name + ": no mistake is known");
    for (const NamedMistake& mistake : task.mistakes) {
      tally.check(
          mistake.why.size() > 20 && mistake.why.size() < 400,
          fmt::format("{}: \"{}\": one or two sentences on why it is wrong", task.name, mistake.name));
      tally.check(!mistake.where.empty() &&
                      (lesson.str().empty() ||
                       lesson.str().find("/// ## " + mistake.where + "\n") != std::string::npos),
                  fmt::format("{}: \"{}\" points at \"{}\", a heading that lesson.cpp does not have",
                              task.name, mistake.name, mistake.where));
    }
  }
}

}  // namespace

int self_check(const Exercise& exercise) {
  Tally tally{exercise.name};
  check_texts(tally, exercise);
  for (const Task& task : exercise.tasks)
    for (const std::uint64_t seed : seeds) check_seed(tally, task, seed);
  fmt::print("functions {} mistakes {} trivial {} checks {} failed {}\n", exercise.tasks.size(),
             tally.mistakes, tally.trivial, tally.checks, tally.failed);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace coach
