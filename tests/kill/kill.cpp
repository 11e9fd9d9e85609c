// Kills a training with SIGKILL at random moments: kill [KILLS]. The training saves after every step, so many
// kills hit a save. After each, the checkpoint on the disk must have the bytes that the uninterrupted run had
// at that step; the run that goes on from there must end with the same bytes as the uninterrupted one, and
// nothing else may be left in its folder. The last line is `N passed, N failed`.
#include <fcntl.h>     // open
#include <signal.h>    // kill
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // dup2, fork, usleep

#include <chrono>   // steady_clock
#include <cstdio>   // printf
#include <cstdlib>  // strtol
#include <map>      // map
#include <random>   // mt19937_64
#include <set>      // set

#include "core/parallel.hpp"
#include "core/text.hpp"  // read_file
#include "lessons/13_translator/training.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

Settings settings_in(const fs::path& folder) {
  return read_settings({"--fast",
                        "--pairs",
                        "300",
                        "--test",
                        "1",
                        "--steps",
                        "40",
                        "--validations",
                        "40",
                        "--batch",
                        "200",
                        "--dropout",
                        "0.1",
                        "--d-model",
                        "8",
                        "--heads",
                        "1",
                        "--ff",
                        "8",
                        "--checkpoint",
                        (folder / "model.safetensors").string()});
}

TrainEnd train(const Settings& settings) {
  Lesson lesson({.name = "13_translator", .question = ""});
  return Run::begin(settings)->train(lesson, [] {});
}

pid_t start(const Settings& settings) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  try {
    train(settings);
    _exit(0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    _exit(1);
  }
}

bool ended_well(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// A killed training also leaves its lock, which then counts for nothing.
std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() != ".lock") names.insert(entry.path().filename());
  return names;
}

int passed = 0, failed = 0;
void check(bool holds, const std::string& fact) {
  (holds ? passed : failed) += 1;
  if (!holds) fmt::print("FAILED: {}\n", fact);
}

}  // namespace

int main(int count, char** words) {
  const long kills = count > 1 ? std::strtol(words[1], nullptr, 10) : 5;
  set_thread_count(1);  // threads do not survive a fork
  const TemporaryFolder whole_folder, parts_folder, folder;
  const Settings settings = settings_in(folder.path);
  const std::set<std::string> done = {"model.safetensors", "model.losses.tsv"};

  // The uninterrupted run, and the same one stopped after every step, to have its state there.
  const auto begin = std::chrono::steady_clock::now();
  check(ended_well(start(settings_in(whole_folder.path))), "a training ends");
  const auto length =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  const std::string weights = read_file(whole_folder / "model.safetensors"),
                    losses = read_file(whole_folder / "model.losses.tsv");
  std::map<std::string, std::string> state_at;  // step -> the bytes of the run's file
  Settings step_by_step = settings_in(parts_folder.path);
  step_by_step.time_limit = 1e-9;
  while (ended_well(start(step_by_step)) && fs::exists(step_by_step.run_path()))
    state_at[Checkpoint(step_by_step.run_path()).entry("step")] = read_file(step_by_step.run_path());
  check(read_file(parts_folder / "model.safetensors") == weights,
        "a run stopped at every step ends the same");
  check(state_at.size() == 39, "there is a state for every step but the last");

  std::mt19937_64 random(2017);
  long ends = 0, half_written = 0;
  for (long i = 0; i < kills || !fs::exists(folder / "model.safetensors"); ++i) {
    const pid_t child = start(settings);
    if (i < kills) {
      ::usleep(useconds_t(random() % std::uint64_t(length.count())));
      ::kill(child, SIGKILL);
      ended_well(child);
    } else {
      check(ended_well(child), "the last training ends");
    }
    const std::set<std::string> files = files_in(folder.path);
    for (const std::string& file : files) half_written += file.ends_with(".tmp");
    if (fs::exists(settings.run_path())) {
      const std::string step = Checkpoint(settings.run_path()).entry("step");
      check(step == "40" || read_file(settings.run_path()) == state_at[step],
            fmt::format("after kill {}, the state of step {} is that of the uninterrupted run", i, step));
    } else if (files == done) {
      ++ends;
      check(read_file(folder / "model.safetensors") == weights &&
                read_file(folder / "model.losses.tsv") == losses,
            fmt::format("after kill {}, the training ended as the uninterrupted one", i));
      if (i < kills) {
        for (const std::string& file : done) fs::remove(folder / file);
        if (i + 1 == kills) break;
      }
    }
  }
  check(files_in(folder.path).empty() || files_in(folder.path) == done, "nothing is left behind");
  fmt::print("{} kills, {} trainings to their end, {} times a half-written file was left and used up\n",
             kills, ends, half_written);
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
