// Facts: what can be said of wrong answers without knowing the mistake.
//
// Each sentence has been checked: it is true of every input that was answered wrongly, and it says something
// that is not true of any answer. "It behaves as if epsilon were 0"; "Every element of yours is ours times
// k.size(0)"; "It is wrong exactly where b.size(1) % width != 0".
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

#include "lessons/coach/judge.hpp"

namespace coach {

// At most `most` sentences, the most telling first.
std::vector<std::string> facts(const AnswerKey& key, const std::vector<Outcome>& answers, std::size_t most);

// One part of an answer that is wrong, beside ours, and what the function was given.
struct WrongPart {
  const Part *theirs, *ours;
  const Value* arguments;
};
// What is true of the numbers in all of them, or "" (part_facts.cpp).
std::string number_fact(const std::vector<WrongPart>& wrong, double tolerance);
// What is missing or too much, where the sizes differ, or "" (length_facts.cpp).
std::string length_fact(const std::vector<WrongPart>& wrong, double tolerance);
// Where in the result the wrong elements lie, or "" (position_facts.cpp).
std::string position_fact(const std::vector<WrongPart>& wrong, double tolerance);
// Whether all wrong elements are too large, or too small, or "" (position_facts.cpp).
std::string direction_fact(const std::vector<WrongPart>& wrong, double tolerance);

// Numbers that an input has: integers among the arguments, and sizes. "T", "q.size(0)", "ids.size()".
struct Quantity {
  std::string name;
  double value;
  bool whole = true;  // of an integer type
};
std::vector<Quantity> quantities(const Value& arguments);

// Of which inputs the answers are wrong, or "" (input_facts.cpp).
struct Judged {
  const Value* arguments;
  bool right;
};
std::string input_fact(const std::vector<Judged>& inputs);

}  // namespace coach
