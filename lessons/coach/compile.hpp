// From the learner's file to a program that answers, under limits: a compiler can be kept busy for ever, too.
#pragma once

#include <filesystem>  // path
#include <string>      // string

#include "lessons/coach/course.hpp"

namespace coach {

// A folder for what one check makes, gone with it: two checks at once do not meet.
class Workshop {
 public:
  explicit Workshop(const Lesson& lesson);
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

struct Compiled {
  bool good = false;
  bool interrupted = false;
  std::string program;  // the learner's answer, ready to be asked
  std::string said;     // why it did not compile, in words; or the compiler's first warning, if any
};

// Compiles and links `answer` for the lesson. Builds the lesson's grader first if that was never done.
Compiled compile(const Lesson& lesson, const std::string& answer, const Workshop& workshop);

// The program that judges what the compiled one answers.
std::string grader_of(const Lesson& lesson);

struct Run {
  int code;
  std::string output;  // stdout and stderr, when they were captured
};
Run run(const std::string& command, bool capture);  // of our own programs, without limits

}  // namespace coach
