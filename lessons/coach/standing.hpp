// How far a function is, as the grader tells the coach and as my/.progress keeps it. These words are for
// programs; what a learner reads are the headlines of verdict.hpp.
#pragma once

#include <string>  // string

namespace coach {

enum class Standing { not_started, wrong, passed };

inline const char* word_for(Standing standing) {
  return standing == Standing::passed ? "passed" : standing == Standing::wrong ? "wrong" : "not-started";
}
inline Standing standing_from(const std::string& word) {
  return word == "passed" ? Standing::passed : word == "wrong" ? Standing::wrong : Standing::not_started;
}

}  // namespace coach
