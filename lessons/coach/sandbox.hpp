// Running a program that is not to be trusted: a learner's answer, or the compiler on a learner's file.
//
// Its limits are set before it is loaded, so that not even a static initialiser escapes them: processor time,
// time on the clock, memory, the size of a file. It has a session of its own, which ends with it. An answer
// also may not start processes nor send signals to others (by seccomp, see Note [No children]).
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/index.hpp"

namespace coach {

struct Limits {
  int processor_seconds = 1;
  int wall_seconds = 10;
  attn::Index memory_mb =
      0;  // of address space; 0 for a program that AddressSanitizer watches, which needs plenty
  attn::Index file_mb = 1;
  bool may_start_processes = false;
};

struct FinishedRun {
  int status = 0;            // as waitpid tells it
  bool late = false;         // it was stopped because its time on the clock was over
  bool interrupted = false;  // by a signal to us
  std::string printed;       // to stdout and stderr
  std::vector<std::string> channels;

  bool good() const { return status == 0 && !late && !interrupted; }
};

// Descriptors that the program finds open, beside 0 (empty), 1 and 2: what it writes there comes back in
// `FinishedRun::channels`. They are far from 3, 4, …, which programs take for their own.
constexpr int first_channel = 200;

FinishedRun run_limited(const std::vector<std::string>& command, const Limits& limits, int channels = 0);

}  // namespace coach
