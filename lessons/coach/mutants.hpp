// Makes the wrong functions of an exercise from its solution and its mistakes (see mistakes.hpp).
#pragma once

#include <string>  // string

namespace coach {

// The header that a grader includes, made from solution.hpp and mistakes.diff in `folder`: the solution's
// functions once; for each mistake a namespace with the functions that it changes and those between them and
// the one asked for; for each function its table, `mistakes::scores`. #line directives let the compiler name
// the line of either file that it objects to. Throws attn::Error, "FILE:LINE: what is wrong", where a change
// does not fit the solution.
std::string mutants_header(const std::string& folder);

// The whole of solution.hpp with one mistake in it, to be used like a learner's file: lessons/mine does so.
std::string mistaken_solution(const std::string& folder, const std::string& function,
                              const std::string& mistake);

}  // namespace coach
