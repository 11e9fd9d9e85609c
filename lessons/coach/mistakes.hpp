// The file of a lesson's mistakes: lessons/NN_name/mistakes.diff. A mistake is what a learner does to a right
// answer, so it is written as a change of the solution:
//
//   ## scores
//   See: Six words, five steps
//
//   @@ no scaling @@ Why ÷ √d_k?
//   The products are not divided by √D. Their variance grows with D, so …
//   -      out(i, j) = dot / std::sqrt(real(D));
//   +      out(i, j) = dot;
//
// `##` begins a function, and `See:` names the heading of lesson.cpp that explains its mistakes. `@@` begins
// a mistake: its name, then a heading of its own if it has one; its text says why it is wrong. The change is
// written as in any diff: `-` a line to take out, `+` one to put in, a space one that stays. Each run of `-`
// and space lines is looked for in the solution, where it must stand exactly once (indentation and comments
// do not count), first in the function itself, then in the others; the `+` lines after it take the place of
// what was taken out. Several such runs change several places. `+` lines alone are the whole body of the
// function. A mistake that never ends has `(runs away)` after its heading. In a mistake v[i] is checked:
// where a learner's answer would leave a vector, it throws (checked.hpp).
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

namespace coach {

struct DiffLine {
  char sign;  // '-', '+' or ' '
  std::string text;
  int number;  // of the line in its file
};

struct WrittenMistake {
  std::string function, name, why, where;
  bool runs_away = false;
  std::vector<DiffLine> change;
  int number = 0;  // of the line with its name
};

// In the order of the file. Throws attn::Error, "FILE:LINE: what is wrong".
std::vector<WrittenMistake> read_mistakes(const std::filesystem::path& file);

}  // namespace coach
