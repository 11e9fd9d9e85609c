// The commands of build/coach as a learner meets them.
#include <fmt/core.h>
#include <signal.h>    // kill
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, execl

#include <algorithm>  // count
#include <chrono>     // milliseconds
#include <cstdio>     // freopen
#include <thread>     // sleep_for

#include "tests/exercises/coach_testing.hpp"

namespace testing {
namespace {

const fs::path answer06 = "my/06_self_attention.hpp", answer02 = "my/02_autograd.hpp";
std::string solution06() { return solution("06_self_attention"); }
std::string solution02() { return solution("02_autograd"); }

void test_words() {
  expect(coach("--help"), 0,
         {"start", "check [NN]", "watch", "hint NN", "progress", "solution NN", "reset NN"}, "help");
  for (const char* nonsense :
       {"dance", "check 99", "check six", "hint", "hint 06 nothing", "reset", "list 3 4"}) {
    const Said said = coach(nonsense);
    expect(said, 2, {"coach: "}, fmt::format("nonsense ({})", nonsense));
    check(said.text.find('\n') == said.text.size() - 1, "nonsense gets one line", said.text);
  }
  expect(coach("list"), 0, {"06 self attention", "scores, row_softmax, attend, self_attention"}, "list");
}

void test_start() {
  expect(coach("start"), 0, {"copied to my/"}, "start");
  check(read(answer06) == read("lessons/06_self_attention/exercise.hpp"), "start copies the stub");
  write(answer06, "mine");
  coach("start");
  check(read(answer06) == "mine", "start never overwrites");
}

void test_hints() {
  for (const char* number : {"1 of 3", "2 of 3", "3 of 3"})
    expect(coach("hint 06"), 0, {fmt::format("scores, hint {}", number)}, "hints come one after another");
  expect(coach("hint 06"), 0, {"hint 1 of 3", "hint 3 of 3", "solution"}, "when all were shown, all again");
  expect(coach("hint 06 attend"), 0, {"attend, hint 1 of"}, "a hint for a function by name");
  const fs::path project = fs::read_symlink("Makefile").parent_path();
  FILE* pipe = popen(fmt::format("make -C {} -n hint-06 F=attend 2>&1", project.string()).c_str(), "r");
  std::string text;
  char block[4096];
  for (std::size_t count; (count = std::fread(block, 1, sizeof block, pipe)) > 0;) text.append(block, count);
  pclose(pipe);
  check(text.find("build/coach hint 06 attend") != std::string::npos, "the same through make", text);
}

void test_not_compiling() {
  write(answer06, with_body(solution06(), "attend",
                            "  const Tensor weights = row_softmaxx(scores(q, k));\n  return v;"));
  expect(coach("check 06"), 1,
         {"does not compile", "my/06_self_attention.hpp:", "row_softmaxx",
          "const Tensor weights = row_softmaxx"},
         "a compile error");
  std::string renamed = solution06();
  renamed.replace(renamed.find(" self_attention("), 16, " selfattention(");
  write(answer06, renamed);
  expect(coach("check 06"), 1,
         {"self_attention is missing", "Tensor self_attention(const Tensor& x, const Tensor& w_q"},
         "a missing function");
  std::string changed = solution06();
  changed.replace(changed.find(" self_attention(const Tensor& x, "), 33, " self_attention(");
  write(answer06, with_body(changed, "self_attention", "  return w_q;"));
  expect(coach("check 06"), 1, {"self_attention has other arguments", "It must read:"}, "a changed function");
}

void test_faults() {
  std::string text = solution06();
  text = with_body(text, "scores",
                   "  Tensor out = empty({q.size(0), k.size(0)});\n"
                   "  for (Index i = 0; i <= out.numel(); ++i)\n"
                   "    out.data()[i] = 0;  // past the end\n"
                   "  return out;");
  text = with_body(text, "row_softmax",
                   "  std::puts(\"I was here\");\n"
                   "  for (Index i = 0; i < 1;)\n"
                   "    i *= 1;  // for ever\n"
                   "  return s;");
  text = with_body(text, "attend", "  return matmul(softmax(matmul(q, k, Transpose::second)), v);");
  text = with_body(text, "self_attention", "  return transpose(matmul(x, w_v));");
  text.replace(text.find("#pragma once"), 12, "#pragma once\n#include <cstdio>");
  write(answer06, text);
  const auto line = [&](const char* words) {
    const std::string before = text.substr(0, text.find(words));
    return fmt::format("my/06_self_attention.hpp:{}", 1 + std::count(before.begin(), before.end(), '\n'));
  };
  expect(coach("check 06 --all"), 1,
         {"writing past the end of an array (" + line("past the end"), "ran away", "a loop that never ends",
          line("for ever").substr(0, 25), "I was here", "known mistake: no scaling", "Why ÷ √d_k?",
          "lessons/06_self_attention/lesson.cpp:", "wrong shape", "your shape is (1,2), ours (2,1)"},
         "crash, endless loop, known mistake, wrong shape");
  expect(coach("progress"), 0, {"06 self attention", "0 of 4"}, "progress");
  write(answer06, with_body(solution06(), "scores", "  return zeros({q.size(0), k.size(0)});"));
  expect(coach("check 06"), 1,
         {"attend                wrong values: it calls scores, which is not right yet"},
         "a function that suffers from another");
  text = read(answer06);
  const std::size_t softmax = text.find("Tensor row_softmax(");
  text.replace(softmax, text.find("\n}", softmax) + 2 - softmax,
               "Tensor row_softmax(const Tensor& s) { return zeros(s.shape()); }");
  write(answer06, text);
  const Said one_line = coach("check 06");
  check(one_line.text.find("row_softmax           wrong values: it calls") == std::string::npos,
        "a function on one line does not suffer from the one below it", one_line.text);

  text = solution02();
  text = with_body(text, "backward_order",
                   "  std::vector<std::string> all;\n  while (true) all.emplace_back(1 << 26, 'x');");
  text = with_body(text, "backward_pass",
                   "  std::vector<real> g(graph.size());\n  g[graph.size()] = 1;\n  return g;");
  text = with_body(text, "mul_backward",
                   "  for (Index i = 0; i < a.numel(); ++i) {\n"
                   "    grad_b.data()[i] += gradient.data()[i] * a.data()[i];\n"
                   "    gradient.data()[i] *= b.data()[i];\n"
                   "    grad_a.data()[i] += gradient.data()[i];\n  }");
  text = with_body(text, "matmul_backward", "  return {gradient(7, 7) * a, b};");
  text = with_body(text, "broadcast_backward", "  return empty(shape);");
  text = with_body(text, "softmax_backward", "  return p * gradient * real(2);");
  write(answer02, text);
  expect(coach("check 02 --all"), 1,
         {"more memory than an answer can need", "at or past the end of a std::vector", "changed its input",
          "It changes gradient, which is not what it was", "threw an exception",
          "index 7 is outside axis 0 of (1,1)", "my/02_autograd.hpp:", "Yours has NaN", "worst element"},
         "memory, vector index, changed input, exception, unwritten values");
}

void test_passing() {
  expect(coach("check"), 1, {"Lesson 01", "offset", "not started yet", "make hint-01"},
         "check takes the next unfinished one");
  write(answer06, solution06());
  expect(coach("solution 06", "n\\n"), 1, {"Show our solution all the same?"},
         "the solution is not given away");
  expect(coach("check 06"), 0, {"passed", "Row i says", "Lesson 06 is done", "make solution-06"},
         "a right answer");
  expect(coach("progress"), 0, {"■ ■ ■ ■", "done"}, "progress after a pass");
  expect(coach("solution 06"), 0, {"Tensor attend("}, "the solution once it is passed");
  expect(coach("check 06"), 0, {"Next: lesson 07, masking"}, "after a lesson comes the next one");
  expect(coach("hint 06"), 0, {"Lesson 06 is done"}, "no hint is needed any more");
}

void test_reset() {
  expect(coach("reset 06", "n\\n"), 1, {"Begin lesson 06 again?"}, "reset asks");
  expect(coach("reset 06"), 1, {"Begin lesson 06 again?"}, "no answer is no");
  check(read(answer06) == solution06(), "without a yes nothing changes");
  expect(coach("reset 06", "y\\n"), 0, {"my/06_self_attention.1.old"}, "reset");
  check(read(answer06) == read("lessons/06_self_attention/exercise.hpp"), "reset gives the stub back");
  check(read("my/06_self_attention.1.old") == solution06(), "reset keeps a copy");
  expect(coach("progress"), 0, {"0 of 4"}, "reset forgets what was done");
}

// Starts `coach watch`, saves a right answer the way editors do, and looks whether it was graded.
void test_watch(const char* option) {
  write(answer06, read("lessons/06_self_attention/exercise.hpp"));
  std::fflush(stdout);
  fs::remove("watched");
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen("watched", "w", stdout)) _exit(1);
    execl("build/coach", "coach", "watch", "06", option, nullptr);
    _exit(1);
  }
  const auto wait_for = [](const std::string& words) {
    for (int tenth = 0; tenth < 600; ++tenth) {
      if (read("watched").find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  };
  check(wait_for("q quit"), "watch grades at once", read("watched"));
  write("my/saved.tmp", solution06());
  fs::rename("my/saved.tmp", answer06);
  check(wait_for("Lesson 06 is done"), "watch grades on save", read("watched"));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        fmt::format("Ctrl-C ends watch in order ({:#x})", status), read("watched"));
}

// How many functions the course asks for: each has a heading in the hints of its lesson.
int functions_in_the_course() {
  int count = 0;
  for (const fs::directory_entry& lesson : fs::directory_iterator("lessons"))
    if (fs::exists(lesson.path() / "hints.md")) {
      const std::string hints = read(lesson.path() / "hints.md");
      for (std::size_t at = 0; (at = hints.find("\n## ", at)) != std::string::npos; ++at) ++count;
    }
  return count;
}

// Single keys, as a terminal would send them.
void test_keys() {
  write("my/04_learning.hpp", read("lessons/04_learning/exercise.hpp"));
  const Said said = coach("watch 04", "hlnq");
  check(said.code == 0, "q quits", said.text);
  const std::vector<std::string> phrases = {
      "Lesson 04, learning", "n next lesson, h hint, l list, q quit", "batch_loss, hint 1 of",
      fmt::format("of {} functions", functions_in_the_course()), "Lesson 05, tokens"};
  for (const std::string& phrase : phrases)
    check(said.text.find(phrase) != std::string::npos, fmt::format("keys of watch: {}", phrase), said.text);
}

}  // namespace

void test_commands() {
  test_words();
  test_start();
  test_hints();
  test_not_compiling();
  test_faults();
  test_passing();
  test_reset();
  test_watch(nullptr);
  test_watch("--poll");
  test_keys();
}

}  // namespace testing
