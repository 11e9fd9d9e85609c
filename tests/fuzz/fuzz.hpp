// Fuzzing: parsers are given damaged and absurd input, and must read it or refuse it with an attn::Error.
//
// A target is a parser with valid inputs to start from. driver.cpp mutates them, runs the parser, and fails
// if it crashes, throws anything else, takes more than a second for a megabyte or more memory than 64 MB and
// 20 times the input. Everything follows from the number of a run, so any run can be repeated alone.
#pragma once

#include <functional>  // function
#include <string>      // string
#include <vector>      // vector

namespace fuzz {

struct Target {
  std::string name;
  std::vector<std::string> seeds;   // valid inputs
  std::vector<std::string> tokens;  // that mean something to the parser: mutations put them anywhere
  // Reads the input, or throws attn::Error. Throws std::logic_error if what was read breaks a promise.
  std::function<void(const std::string& input)> read;
  // Half of the mutants go through this: it makes a length right again, so that more than the first
  // check runs.
  std::function<std::string(std::string input)> repair = nullptr;
};

std::vector<Target> model_targets();  // what the translator reads: weights, settings, vocabularies, corpora
std::vector<Target> press_targets();  // what the press reads: notebooks, Markdown, equations, C++
std::vector<Target> coach_targets();  // what the coach reads: progress, mistakes, answers

void promise(bool holds, const char* what);  // throws std::logic_error

// A file with these contents, for parsers that take a path. The path of the one before is then used again,
// unless this is a second one beside it.
std::string file_with(const std::string& contents, bool second = false);

}  // namespace fuzz
