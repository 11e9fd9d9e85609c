// The learner's side of the pipe: the program that holds an answer is asked about inputs and writes down what
// becomes of each.
//
//   program --answer FUNCTION CANDIDATE CHOSEN_SEED DRAW_SEED DRAWS SCALE DIRECTION FROM UNTIL FILE
//
// It runs under limits and may end at any moment. Outcomes go to the first channel (sandbox.hpp), each with
// the number of its input; a last frame says that all went well. What the sanitizers report goes to the
// second channel, so that it never mixes with what the answer itself prints.
#pragma once

#include "lessons/coach/grading.hpp"
#include "lessons/coach/wire.hpp"

namespace coach {

// What a program with an answer in it is asked.
struct Request {
  std::string function;
  int candidate = learner;
  Selection selection = {};
  bool backward = false;      // the last input first
  Index from = 0, until = 0;  // positions in that order
  std::string file;           // the learner's, as it was given to the compiler: crashes are located in it

  std::vector<std::string> words() const;  // for the command line
  static Request parse(const std::vector<std::string>& words);
  Index input(Index position, Index count) const { return backward ? count - 1 - position : position; }
};

// The process that was started so answers, and ends.
[[noreturn]] void answer(const Exercise& exercise, const Request& request);

void write(Writer& writer, const Outcome& outcome);
Outcome read_outcome(Reader& reader);

std::string base_name(const std::string& path);

}  // namespace coach
