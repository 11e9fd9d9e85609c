#include "lessons/coach/facts.hpp"

#include <fmt/core.h>
#include <sys/time.h>  // setitimer
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, pipe

#include <algorithm>   // adjacent_find, find
#include <functional>  // not_equal_to

namespace coach {
namespace {

using Ended = Outcome::Kind;

// Whether the answers are the oracle's to the question changed in this way; nothing if there is no such way.
// Only inputs that both answer are looked at: whether an input is refused is another matter.
std::optional<bool> behaves_as_if(const AnswerKey& key, const std::vector<Outcome>& answers, int variation,
                                  std::string& text) {
  constexpr int enough = 2;
  int explained = 0;
  for (Index i = 0; i < std::ssize(answers); ++i) {
    const auto other = key.inputs[i].as_if(variation);
    if (!other) return std::nullopt;
    text = other->first;
    if (answers[i].kind != Ended::answered || key.right[i].kind != Ended::answered) continue;
    const bool wrong = compare(answers[i].value, key.right[i].value, key.task.tolerance).has_value();
    const bool possible = other->second.kind == Ended::answered;
    if (possible ? compare(answers[i].value, other->second.value, key.task.tolerance).has_value() : wrong)
      return false;
    explained += wrong;
  }
  return explained >= enough;
}

// The oracle was not written for every input that a change makes: it may crash on one, or not end. So it is
// asked in a process of its own, which writes a sign for each change that it has tried.
std::string as_if_fact(const AnswerKey& key, const std::vector<Outcome>& answers) {
  constexpr itimerval time_each = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 150'000}};
  constexpr int most_tries = 8;
  int next = 0;
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
      setitimer(ITIMER_PROF, &time_each, nullptr);
      for (int descriptor : {1, 2}) close(descriptor);
      for (int variation = next;; ++variation) {
        std::string text;
        const std::optional<bool> is = behaves_as_if(key, answers, variation, text);
        const std::string line = !is ? "." : *is ? "+" + text + "\n" : "-";
        if (::write(ends[1], line.data(), line.size()) < 0 || !is || *is) _exit(0);
      }
    }
    close(ends[1]);
    std::string said;
    char block[256];
    for (ssize_t count; (count = read(ends[0], block, sizeof block)) > 0;)
      said.append(block, std::size_t(count));
    close(ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);
    if (const std::size_t found = said.find('+'); found != std::string::npos)
      return fmt::format("It behaves as if {}.", said.substr(found + 1, said.find('\n') - found - 1));
    if (child < 0 || said.ends_with('.')) return "";
    next += int(said.size()) + 1;  // past the one on which it ended
  }
  return "";
}

// An input that both answered, and the two answers.
struct Both {
  const Value* arguments;
  Value theirs, ours;
};

// The parts of all wrong answers at this place of the result.
std::vector<WrongPart> wrong_parts(const AnswerKey& key, const std::vector<Both>& answered,
                                   std::size_t part) {
  std::vector<WrongPart> wrong;
  for (const auto& [arguments, theirs, ours] : answered) {
    if (part >= theirs.size() || part >= ours.size()) continue;
    if (compare({theirs[part]}, {ours[part]}, key.task.tolerance))
      wrong.push_back({&theirs[part], &ours[part], arguments});
  }
  return wrong;
}

// Results with a fixed number of parts: several outputs, a struct, a pair.
std::size_t part_count(const std::vector<Both>& answered) {
  for (const Both& both : answered)
    if (both.ours.size() != answered[0].ours.size()) return 0;
  return answered.empty() ? 0 : answered[0].ours.size();
}

}  // namespace

std::vector<std::string> facts(const AnswerKey& key, const std::vector<Outcome>& answers, std::size_t most) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty() && found.size() < most && std::find(found.begin(), found.end(), fact) == found.end())
      found.push_back(fact);
  };
  add(as_if_fact(key, answers));

  std::vector<Both> answered;
  for (Index i = 0; i < std::ssize(answers); ++i)
    if (answers[i].kind == Ended::answered && key.right[i].kind == Ended::answered)
      answered.push_back(
          {&key.inputs[i].arguments, pairs_apart(answers[i].value), pairs_apart(key.right[i].value)});
  // What `fact` says of each part of the result, with the part's name, or once if it is the same of all.
  const std::size_t parts = part_count(answered);
  const auto add_of_parts = [&](std::string (*fact)(const std::vector<WrongPart>&, double)) {
    std::vector<std::string> names, said;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::vector<WrongPart> wrong = wrong_parts(key, answered, part);
      names.push_back(answered[0].ours[part].name);
      said.push_back(wrong.empty() ? "" : fact(wrong, key.task.tolerance));
    }
    if (std::adjacent_find(said.begin(), said.end(), std::not_equal_to<>()) == said.end())
      said.resize(std::min<std::size_t>(said.size(), 1)), names.assign(1, "");
    for (std::size_t i = 0; i < said.size(); ++i)
      if (!said[i].empty()) add(names[i].empty() ? said[i] : names[i] + ": " + said[i]);
  };
  add_of_parts(number_fact);

  std::vector<Judged> judged;
  for (Index i = 0; i < std::ssize(answers); ++i) {
    if (answers[i].kind == Ended::unasked) continue;
    std::optional<Difference> difference;
    const bool right = fault(key.task, answers[i], key.right[i], difference) == Verdict::Kind::passed;
    judged.push_back({&key.inputs[i].arguments, right});
  }
  add(input_fact(judged));
  add_of_parts(position_fact);
  if (found.empty()) add_of_parts(direction_fact);
  return found;
}

}  // namespace coach
