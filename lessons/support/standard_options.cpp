#include "lessons/support/standard_options.hpp"

#include <fmt/core.h>   // format
#include <sys/ioctl.h>  // ioctl, winsize
#include <unistd.h>     // STDOUT_FILENO

#include <algorithm>  // clamp
#include <cstdlib>    // exit

#include "core/kernels.hpp"
#include "core/text.hpp"  // on_terminal
#include "lessons/support/output.hpp"

namespace attn {

int terminal_width() {
  winsize size{};
  if (!on_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<int>(size.ws_col, 40, 120);
}

std::vector<std::string> StandardOptions::parse(Options& options, const std::vector<std::string>& arguments,
                                                Index most_words) {
  bool version = false;
  options.add("--seed", &seed, {.value = "N", .help = "seed of the random numbers"});
  options.add("--threads", &threads,
              {.value = "N", .help = "threads to compute with", .at_least = 1, .at_most = most_threads});
  options.add("--out", &out, {.value = "DIR", .help = "where pictures and results go"});
  options.add("--fast", &fast, {.help = "small sizes: a few seconds instead of a minute"});
  options.add("--width", &width, {.value = "N", .help = "columns of text", .at_least = 40, .at_most = 120});
  options.add("--version", &version, {.help = "the kernels and the number of threads in use"});
  const std::vector<std::string> words = options.parse(arguments, most_words);
  set_thread_count(threads);
  kernels();  // says now, and not in the middle of a lesson, that ATTN_KERNELS names no set
  if (version) {
    write_out(version_text() + "\n");
    std::exit(0);
  }
  return words;
}

std::string version_text() {
  return fmt::format("attention.cpp, kernels {} ({} numbers per vector), {} threads", kernels().name,
                     kernels().width, thread_count());
}

}  // namespace attn
