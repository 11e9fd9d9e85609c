// Progress: one line that tells how a long loop is doing.
//
// On a terminal the line is drawn over itself a few times a second; elsewhere (a pipe, a file) plain lines
// are printed, about ten in all.
#pragma once

#include <chrono>  // steady_clock
#include <string>  // string

#include "core/index.hpp"

namespace attn {

class Progress {
 public:
  Progress(std::string label, Index total, bool enabled = true);
  ~Progress();
  // `done` of the total; `details` are shown after the bar.
  void update(Index done, const std::string& details);
  void note(const std::string& line);  // a line of its own, above the bar
  void clear();                        // takes the bar away
  double seconds() const;

 private:
  std::string label_;
  Index total_, first_ = -1, last_printed_ = 0;
  bool enabled_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_draw_;
};

std::string format_seconds(double seconds);  // "1:05", "0.8 s"

}  // namespace attn
