// Files that try to get away: whatever a learner's file does, the check ends in a verdict
// and leaves nothing running.
#include <fmt/core.h>

#include <chrono>   // steady_clock
#include <fstream>  // ifstream
#include <thread>   // thread

#include "tests/exercises/coach_testing.hpp"

namespace testing {
namespace {

// Processes of a learner's program that are still there.
int survivors() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string command = read(entry.path() / "cmdline");
    std::error_code error;
    const fs::path folder = fs::read_symlink(entry.path() / "cwd", error);
    count += !error && folder == fs::current_path() && command.find("/answer") != std::string::npos;
  }
  return count;
}

void test_runaways() {
  const Checked before_main("08_multi_head", {},
                            "inline const int stuck = [] { for (;;) continue; return 1; }();\n");
  before_main.expect("split_heads", "ran away", {"a loop that never ends?"});

  const Checked children(
      "12_training",
      {{"smoothed_loss",
        "  if (fork() == 0) for (;;) continue;\n"
        "  if (std::system(\"sleep 60 &\") == 0) for (;;) continue;\n"
        "  kill(getppid(), SIGKILL);\n"
        "  const Tensor l = log_softmax(scores);\n"
        "  real sum = 0;\n"
        "  for (Index v = 0; v < scores.size(0); ++v) sum += l(v);\n"
        "  return -(1 - smoothing) * l(target) - smoothing * sum / real(scores.size(0));"},
       {"learning_rate",
        "  for (int descriptor = 3; descriptor < 400; ++descriptor)\n"
        "    if (write(descriptor, \"surprise, surprise\", 18) < 0) continue;\n"
        "  return 1;"},
       {"clip_gradients",
        "  for (int descriptor = 0; descriptor < 400; ++descriptor) close(descriptor);\n"
        "  return 1;"},
       {"perplexity",
        "  std::ofstream file(\"large\");\n"
        "  for (;;) file << \"and so on, and so on, and so on, and so on, and so on\\n\";"}},
      "#include <signal.h>\n#include <unistd.h>\n\n#include <cstdlib>\n#include <fstream>\n");
  children.expect("smoothed_loss", "passed");
  children.expect("learning_rate", "crashed", {"a file descriptor that is not its own"});
  children.expect("clip_gradients", "ended the program");
  children.expect("perplexity", "ran away", {"wrote a file without end"});
  check(!fs::exists("large") || fs::file_size("large") <= 1 << 20, "a file is cut at one megabyte");
  check(survivors() == 0, "nothing is left running", std::to_string(survivors()));

  const Checked deep("10_blocks",
                     {{"rms_normalise", "  return rms_normalise(x * real(1), gain, epsilon) * real(1);"},
                      {"post_norm_block",
                       "  std::vector<std::string> all;\n"
                       "  for (;;) all.emplace_back(1 << 26, 'x');"},
                      {"drop_out",
                       "  auto refuse = []() noexcept { throw std::invalid_argument(\"no\"); };\n"
                       "  refuse();\n"
                       "  return x;"}});
  deep.expect("rms_normalise", "ran away",
              {"The stack is full: rms_normalise calls itself", "my/10_blocks.hpp:"});
  deep.expect("post_norm_block", "ran away", {"more memory than an answer can need"});
  deep.expect("drop_out", "crashed", {"std::terminate was called"});

  // What calls a function that never ends is not even tried.
  const Checked chain("06_self_attention", {{"scores", "  for (;;) continue;"}});
  chain.expect("scores", "ran away");
  chain.expect("attend", "not run: it calls scores, which does not end");
  chain.expect("self_attention", "not run: it calls");
}

void test_compiler() {
  const auto refused = [](const std::string& top, const std::vector<std::string>& phrases, const char* fact) {
    write("my/06_self_attention.hpp", top + solution("06_self_attention"));
    expect(coach("check 06"), 1, phrases, fact);
  };
  refused("#include \"/dev/zero\"\n", {"does not compile"}, "a file without end");
  refused("#include <mapp>\n", {"does not compile", "my/06_self_attention.hpp:1: mapp: No such file"},
          "a header that is not there");
  refused("int main() {}\n", {"does not compile", "The grader has a main() of its own"},
          "a main of their own");
  refused("char huge[1l << 40] = {1};\n", {"does not compile", "far too large"}, "a huge array");
  refused("#include <set>\nnamespace exercise { std::map<int, int> m; }\n",
          {"does not compile", "add #include <map> at the top of your file"}, "a missing header");
  refused(
      "#include \"lessons/coach/exercise.hpp\"\nnamespace exercise {\n"
      "inline Tensor softmax(const Tensor& x) { return x; }\n"
      "inline Tensor twice(const Tensor& x) { return softmax(softmax(x)); }\n}\n",
      {"does not compile", "ambiguous", "The library has a softmax, too", "my_softmax"},
      "a name of the library's");
}

void test_two_at_once() {
  write("my/06_self_attention.hpp", solution("06_self_attention"));
  Said said[2];
  std::thread other([&] { said[1] = coach("check 06"); });
  said[0] = coach("check 06");
  other.join();
  for (const Said& each : said) expect(each, 0, {"Lesson 06 is done"}, "two checks at once");
  check(fs::is_empty("build/graded/my"), "a check leaves nothing behind");
}

}  // namespace

void test_limits() {
  test_runaways();
  test_compiler();
  test_two_at_once();
}

}  // namespace testing
