// The examination of one function: it is asked about all inputs, and when something is wrong, asked again
// until as much as possible is known about it.
#pragma once

#include "lessons/coach/verdict.hpp"

namespace coach {

struct Subject {
  std::string program;  // holds the learner's answer
  std::string file;     // as the compiler knows it
  std::uint64_t seed;   // of the drawn inputs
};

Finding examine(const Task& task, const Subject& subject);

}  // namespace coach
