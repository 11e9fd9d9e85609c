// Asking a function in a process of its own, so that a crash or an endless loop ends that process only. After
// a crash the inputs that are left are asked about in a new one.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "lessons/coach/answering.hpp"
#include "lessons/coach/sandbox.hpp"

namespace coach {

struct Answers {
  std::vector<Outcome> outcomes;  // one for each input; those it never came to are `unasked`
  std::string printed;            // what the function wrote to stdout and stderr
};

constexpr Limits answer_limits = {.processor_seconds = 1, .wall_seconds = 10, .file_mb = 1};

// `program` holds the answer, and `count` inputs are in the selection.
Answers run_answers(const std::string& program, Request request, Index count);

}  // namespace coach
