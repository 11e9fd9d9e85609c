// The boundary between a milestone and a learner's code: what goes wrong on the other side ends the milestone
// with one sentence that names the part, the line and the check to go to.
//
// An exception is caught where the part was called. A part that runs away, crashes or ends the program cannot
// be caught: signal handlers say the sentence then, and the program ends with code 2.
#pragma once

#include <chrono>  // steady_clock
#include <string>  // string

#include "core/error.hpp"
#include "core/tensor.hpp"
#include "lessons/mine/table.hpp"

namespace attn::mine {

enum class Whose { ours, mine, mistake };

// A part in use: which function, from whom, and what it has cost so far.
struct PartInUse {
  AskedFor asked;
  Whose whose = Whose::ours;
  std::string file = {};     // "my/07_masking.hpp"
  std::string mistake = {};  // its name, if it is one
  mutable Index calls = 0;
  mutable double seconds = 0;  // without the parts that it called itself

  std::string title() const;   // "softmax: your masked_softmax"
  std::string advice() const;  // "make check-07"
};

// One sentence about a part that cannot go on, with the place, or else the line where the function begins.
struct Fault : Error {
  using Error::Error;
};
[[noreturn]] void refuse(const PartInUse& part, const std::string& what, const std::string& place = "");
// The same for the exception that is being handled, with the line from which it was thrown.
[[noreturn]] void refuse_exception(const PartInUse& part);

// From here on a part that takes more than `seconds` of processor time in one call, or more than a few
// gigabytes in all, is stopped, and crashes are told as sentences.
void watch_parts(double seconds);

// While one is alive, its part is running.
class Running {
 public:
  explicit Running(const PartInUse& part);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  const PartInUse& part_;
  const PartInUse* before_;
  double inner_before_;
  int ticks_before_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace attn::mine
