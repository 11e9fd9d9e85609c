// Runs the fuzz targets: fuzz SECONDS [FIRST [TARGET]]. Each target is a process of its own and gets that
// many seconds (0: no end), and its runs are numbered from FIRST (0). A failure is printed with the number of
// its run, and `fuzz run TARGET NUMBER` repeats it alone and keeps the input as TARGET-NUMBER.input. The last
// line is `N passed, N failed`.
//
// Built with -DATTN_LIBFUZZER and clang's -fsanitize=fuzzer, libFuzzer chooses the inputs of one target,
// which the environment names: ATTN_FUZZ=markdown.
#include <fcntl.h>     // O_CLOEXEC
#include <malloc.h>    // malloc_usable_size
#include <signal.h>    // kill
#include <sys/mman.h>  // memfd_create, mmap
#include <sys/wait.h>  // waitpid
#include <time.h>      // clock_gettime
#include <unistd.h>    // fork, ftruncate, pwrite, usleep

#include <algorithm>  // max, min
#include <atomic>     // atomic
#include <cstdint>    // uint64_t
#include <cstdio>     // printf
#include <cstdlib>    // free, malloc, strtod, strtoull
#include <fstream>    // ofstream
#include <iterator>   // ssize
#include <new>        // bad_alloc
#include <random>     // mt19937_64
#include <stdexcept>  // logic_error

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "core/pool.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using attn::Index;
std::int64_t in_use = 0, peak = 0;  // bytes

}  // namespace

// Counts memory, in order to hold a parser to the size of its input.
void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  in_use += std::int64_t(malloc_usable_size(memory));
  peak = std::max(peak, in_use);
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory) in_use -= std::int64_t(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace fuzz {

void promise(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

std::string file_with(const std::string& contents, bool second) {
  static const int files[] = {memfd_create("fuzz", 0), memfd_create("second", 0)};
  const int file = files[second];
  promise(
      ftruncate(file, 0) == 0 && pwrite(file, contents.data(), contents.size(), 0) == std::ssize(contents),
      "a file in memory can be written");
  return "/proc/self/fd/" + std::to_string(file);
}

namespace {

using Random = std::mt19937_64;
constexpr std::int64_t megabyte = 1 << 20;

std::vector<Target> all_targets() {
  std::vector<Target> all = model_targets();
  for (const std::vector<Target>& more : {press_targets(), coach_targets()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string piece_of(const Target& target, Random& random) {
  if (!target.tokens.empty() && random() % 2) return target.tokens[random() % target.tokens.size()];
  const std::string& seed = target.seeds[random() % target.seeds.size()];
  return seed.substr(random() % (seed.size() + 1), 1 + random() % 30);
}

void mutate(std::string& text, const Target& target, Random& random) {
  const std::size_t at = random() % (text.size() + 1), length = random() % 60;
  switch (random() % 8) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, length % 12);
      break;
    case 3:
      text.insert(at, text.substr(random() % (text.size() + 1), length));
      break;
    case 4:
      text.insert(at, piece_of(target, random));
      break;
    case 5:
      text.replace(at, length % 12, piece_of(target, random));
      break;
    case 6:
      text.resize(at);
      break;
    default:  // a digit for a digit: what stays well formed and only claims something else
      for (std::size_t i = at; i < text.size(); ++i)
        if (text[i] >= '0' && text[i] <= '9') {
          text[i] = static_cast<char>('0' + random() % 10);
          break;
        }
  }
}

// One run in thirty has up to a megabyte: a piece or two again and again, where quadratic costs show.
std::string input_of(const Target& target, std::uint64_t run) {
  Random random(attn::fnv1a(target.name) + run);
  std::string input = target.seeds[random() % target.seeds.size()];
  if (random() % 30 == 0) {
    std::string piece = piece_of(target, random), many;
    if (random() % 2) piece += piece_of(target, random);
    const std::size_t size = std::size_t(megabyte) >> random() % 6;
    while (!piece.empty() && many.size() + piece.size() <= size) many += piece;
    input.insert(random() % 3 ? random() % (input.size() + 1) : input.size(), many);
    if (random() % 3 == 0) input = many;
  }
  const std::size_t mutations = random() % (random() % 8 ? 5 : 40);
  for (std::size_t i = 0; i < mutations; ++i) mutate(input, target, random);
  return target.repair && random() % 2 ? target.repair(input) : input;
}

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}
double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }  // the machine may be busy with others

struct Cost {
  double seconds;
  std::int64_t bytes;
  bool accepted;
};

// Throws if the input breaks what every target promises.
Cost try_input(const Target& target, const std::string& input) {
  const std::int64_t size = std::ssize(input), before = in_use;
  peak = in_use;
  attn::reset_pool_peak();
  const double start = cpu_seconds();
  bool accepted = true;
  try {
    target.read(input);
  } catch (const attn::Error& error) {
    const std::string said = error.what();
    promise(said.size() < 2000, ("an error is a short sentence, not: " + said.substr(0, 200)).c_str());
    accepted = false;
  }
  const Cost cost{cpu_seconds() - start, peak - before + attn::pool_statistics().peak_bytes, accepted};
  promise(cost.seconds <= std::max(1.0, double(size) / double(megabyte)),
          "a megabyte takes at most a second");
  promise(cost.bytes <= 64 * megabyte + 20 * size, "memory is at most 64 MB and 20 times the input");
  return cost;
}

// What the process of a target tells the driver, in memory that both see.
struct Report {
  std::atomic<std::uint64_t> run, runs, accepted;
  std::atomic<double> slowest;  // seconds
  std::atomic<std::int64_t> most_bytes;
};

[[noreturn]] void fuzz(const Target& target, std::uint64_t first, double seconds, Report& report) {
  attn::set_thread_count(1);
  for (const std::string& seed : target.seeds)
    if (!try_input(target, seed).accepted) {
      std::printf("%s: a seed is refused: %.200s\n", target.name.c_str(), seed.c_str());
      std::exit(1);
    }
  const double start = seconds_of(CLOCK_MONOTONIC);
  for (std::uint64_t run = first; seconds == 0 || seconds_of(CLOCK_MONOTONIC) - start < seconds; ++run) {
    report.run = run;
    try {
      const Cost cost = try_input(target, input_of(target, run));
      report.accepted += cost.accepted;
      report.slowest = std::max<double>(report.slowest, cost.seconds);
      report.most_bytes = std::max<std::int64_t>(report.most_bytes, cost.bytes);
    } catch (const std::exception& error) {
      std::printf("%s, run %llu: %.300s\n", target.name.c_str(), static_cast<unsigned long long>(run),
                  error.what());
      std::fflush(stdout);
      std::exit(1);
    }
    ++report.runs;
  }
  std::exit(0);
}

// Waits for the process; one that stays at the same run for too long is killed.
int wait_for(pid_t process, const Report& report) {
  constexpr double patience = 20;  // seconds of its own time
  std::uint64_t last = 0;
  double since = 0;
  int status = 0;
  clockid_t clock{};
  for (; waitpid(process, &status, WNOHANG) == 0; usleep(50'000)) {
    const double now = clock_getcpuclockid(process, &clock) == 0 ? seconds_of(clock) : 0;
    if (report.runs != last) since = now;
    last = report.runs;
    if (now - since < patience) continue;
    std::printf("no end after %.0f seconds\n", patience);
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    return status;
  }
  return status;
}

int run_all(double seconds, std::uint64_t first, const std::string& only) {
  const std::vector<Target> targets = all_targets();
  Report* const reports = static_cast<Report*>(mmap(
      nullptr, targets.size() * sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> processes(targets.size(), 0);
  const auto start = [&](Index i) {
    if (i >= std::ssize(targets) || (!only.empty() && targets[i].name != only)) return;
    std::fflush(stdout);
    processes[i] = fork();
    if (processes[i] == 0) fuzz(targets[i], first, seconds, reports[i]);
  };
  const Index at_once = seconds == 0 ? std::ssize(targets) : sysconf(_SC_NPROCESSORS_ONLN);
  for (Index i = 0; i < at_once - 1; ++i) start(i);
  int passed = 0, failed = 0;
  for (Index i = 0; i < std::ssize(targets); ++i) {
    start(i + at_once - 1);
    if (processes[i] == 0) continue;
    const Report& report = reports[i];
    const bool good = wait_for(processes[i], report) == 0;
    (good ? passed : failed) += 1;
    const std::string& name = targets[i].name;
    std::printf("%-12s %8llu runs, %2.0f%% read, slowest %3.0f ms, at most %3lld MB\n", name.c_str(),
                static_cast<unsigned long long>(report.runs),
                100 * double(report.accepted) / double(std::max<std::uint64_t>(1, report.runs)),
                1000 * report.slowest, static_cast<long long>(report.most_bytes / megabyte));
    if (!good)
      std::printf("  FAILED: to repeat: fuzz run %s %llu\n", name.c_str(),
                  static_cast<unsigned long long>(report.run));
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

int repeat(const std::string& name, std::uint64_t run) {
  for (const Target& target : all_targets()) {
    if (target.name != name) continue;
    const std::string input = input_of(target, run), file = name + "-" + std::to_string(run) + ".input";
    std::ofstream(file, std::ios::binary) << input;
    std::printf("%s has the input, %lld bytes\n", file.c_str(), static_cast<long long>(input.size()));
    std::fflush(stdout);
    const Cost cost = try_input(target, input);
    std::printf("%s, %.0f ms, %lld MB\n", cost.accepted ? "read" : "refused", 1000 * cost.seconds,
                static_cast<long long>(cost.bytes / megabyte));
    return 0;
  }
  std::printf("there is no target %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace fuzz

#ifdef ATTN_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<fuzz::Target> targets = fuzz::all_targets();
  const char* name = std::getenv("ATTN_FUZZ");
  for (const fuzz::Target& target : targets)
    if (name && target.name == name) fuzz::try_input(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
#else
int main(int count, char** words) {
  const std::vector<std::string> given(words + 1, words + count);
  if (given.size() == 3 && given[0] == "run")
    return fuzz::repeat(given[1], std::strtoull(given[2].c_str(), nullptr, 10));
  return fuzz::run_all(given.empty() ? 0.3 : std::strtod(given[0].c_str(), nullptr),
                       given.size() > 1 ? std::strtoull(given[1].c_str(), nullptr, 10) : 0,
                       given.size() > 2 ? given[2] : "");
}
#endif
