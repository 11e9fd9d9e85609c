// How a verdict is told.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "lessons/coach/judge.hpp"

namespace coach {

// All that is known about the answers to one task.
struct Finding {
  Verdict verdict;
  Value arguments;        // the smallest input that shows it
  Outcome answer, right;  // and what became of it
  std::vector<Recognised> mistakes = {};
  std::vector<std::string> facts = {};
  std::string changed = {};  // an argument that it changes and must not
  std::string broken = {};   // a promise of the contract that it breaks
  std::string printed = {};  // by the function itself
  std::string cause = {};    // a function that it calls and that is not right
  bool drawn = false;        // the input was drawn, not chosen
};

std::string wrapped(const std::string& text, int indent);
const char* headline(Verdict::Kind kind);  // "wrong values"

// In a few words: the known mistake, or a fact; "" if there is none.
std::string in_short(const Task& task, const Finding& finding);

// Everything below the headline, indented. `color` marks up for a terminal.
std::string explain(const Task& task, const Finding& finding, const std::string& lesson, bool color);

}  // namespace coach
