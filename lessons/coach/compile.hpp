// From the learner's file to a program that grades it, and compiler errors in a few words.
#pragma once

#include <string>  // string

#include "lessons/coach/course.hpp"

namespace coach {

struct Compiled {
  bool good = false;
  std::string program;  // the grader with the learner's answer inside
  std::string said;     // why it did not compile, in words; or the compiler's first warning, if any
};

// Compiles and links `answer` for the lesson. Builds the lesson's grader first if that was never done.
Compiled compile(const Lesson& lesson, const std::string& answer);

struct Run {
  int code;
  std::string output;  // stdout and stderr, when they were captured
};
Run run(const std::string& command, bool capture);

}  // namespace coach
