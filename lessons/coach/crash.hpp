// What ended a program, in the words of somebody who sits beside the learner. No line of a sanitizer's own
// report reaches the screen.
#pragma once

#include "lessons/coach/grading.hpp"
#include "lessons/coach/sandbox.hpp"

namespace coach {

// Why the program ended before it had answered. `report` is what the sanitizers wrote, `file` the learner's.
Outcome crash(const FinishedRun& ended, const std::string& report, const Limits& limits,
              const std::string& file);

// What the function itself printed: all but the lines of a sanitizer or of the standard library.
std::string own_output(const std::string& printed);

}  // namespace coach
