#include "optim/progress.hpp"

#include <fmt/core.h>  // format, print

#include <algorithm>  // max
#include <cstdio>     // fflush, stderr

#include "core/text.hpp"  // on_terminal

namespace attn {

std::string format_seconds(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const int whole = int(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

Progress::Progress(std::string label, Index total, bool enabled)
    : label_(std::move(label)),
      total_(total),
      enabled_(enabled),
      terminal_(on_terminal(stderr)),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() {
  if (drawn_) {
    fmt::print(stderr, "\n");
    std::fflush(stderr);
  }
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::update(Index done, const std::string& details) {
  if (!enabled_) return;
  if (first_ < 0) first_ = done - 1;  // a resumed run starts in the middle
  const double share = total_ ? double(done) / double(total_) : 1;
  const double left = seconds() / double(done - first_) * double(total_ - done);
  if (terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (done < total_ && now - last_draw_ < std::chrono::milliseconds(100)) return;
    last_draw_ = now;
    constexpr int width = 24;
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < int(share * width) ? "█" : "░";
    fmt::print(stderr, "\r\033[K{} {} {:3.0f}%  {}  {} left", label_, bar, 100 * share, details,
               format_seconds(left));
    drawn_ = true;
  } else {
    const Index every = std::max<Index>(1, total_ / 10);
    if (done < total_ && done - last_printed_ < every) return;
    last_printed_ = done;
    fmt::print(stderr, "{} {}/{}  {}\n", label_, done, total_, details);
  }
  std::fflush(stderr);
}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

void Progress::note(const std::string& line) {
  if (!enabled_) return;
  clear();
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

}  // namespace attn
