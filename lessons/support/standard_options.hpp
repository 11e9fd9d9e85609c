// The options that lessons, notebooks and the translator share.
//
//   StandardOptions standard;
//   Options options("06_self_attention [options]", "How does a token find what matters to it?");
//   standard.parse(options, {argv + 1, argv + argc});
#pragma once

#include <cstdint>     // uint64_t
#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

#include "core/parallel.hpp"  // thread_count
#include "lessons/support/options.hpp"

namespace attn {

struct StandardOptions {
  std::uint64_t seed = 1;             // --seed
  int threads = thread_count();       // --threads
  std::filesystem::path out = "out";  // --out
  bool fast = false;                  // --fast: small sizes, a few seconds

  // Adds these to `options`, reads the command line and sets the number of threads. `--version` says which
  // kernels compute, on how many threads, and ends the program. Returns the words that are not options.
  std::vector<std::string> parse(Options& options, const std::vector<std::string>& arguments,
                                 Index most_words = 0);
};

std::string version_text();  // "attention.cpp, kernels v3 (8 numbers per vector), 2 threads"

}  // namespace attn
