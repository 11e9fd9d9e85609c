// Asking a function in a process of its own, so that a crash or an endless loop ends that process only.
//
// The grader starts itself again with `--answer function candidate seed`; that process writes one Outcome
// after the other to a pipe. It may use one second of processor time and, by AddressSanitizer's own limits,
// 512 MB of memory.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "lessons/coach/grading.hpp"

namespace coach {

struct Answers {
  std::vector<Outcome> outcomes;  // at least one; fewer than the inputs after a crash
  std::string printed;            // what the function wrote to stdout and stderr
};

constexpr int learner = -1;  // or the number of a mistake

// `file` is the learner's, as it was given to the compiler: crashes are located in it.
Answers run_answers(const Graded& function, int candidate, std::uint64_t seed, const std::string& file);

// The other side: what the process started above does.
void write_answers(const Graded& function, int candidate, std::uint64_t seed, const std::string& file);

}  // namespace coach
