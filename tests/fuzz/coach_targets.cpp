// What the coach reads: the learner's progress, the mistakes of a lesson, and what an answer wrote into
// its pipe.
#include <cmath>       // sqrt
#include <filesystem>  // create_directories, current_path

#include "core/text.hpp"  // read_file
#include "lessons/coach/course.hpp"
#include "lessons/coach/mistakes.hpp"
#include "lessons/coach/wire.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace fuzz {
namespace {

// my/.progress lies in the current folder: for this target, one of its own.
void read_progress(const std::string& text) {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "attn-fuzz-XXXXXX").string();
    promise(mkdtemp(name.data()) != nullptr, "there is a folder for temporary files");
    std::filesystem::create_directories(name + "/my");
    std::filesystem::current_path(name);
    return std::filesystem::path(name);
  }();
  std::filesystem::remove(folder / "my/.progress");
  std::filesystem::create_symlink(file_with(text), folder / "my/.progress");
  coach::Lesson lesson;
  lesson.name = "06_self_attention";
  coach::Progress progress;
  progress.of(lesson, "scores");
  progress.passed(lesson);
  progress.forget(lesson);
}

void read_mistakes(const std::string& text) { coach::read_mistakes(file_with(text)); }

void read_wire(const std::string& bytes) {
  coach::Reader reader(bytes);
  while (!reader.done()) reader.value();
}

std::string wire_seed() {
  coach::Writer writer;
  coach::Value value;
  coach::flatten(value, "x", std::vector<double>{1, 2, 3});
  coach::flatten(value, "name", std::string("text"));
  writer.value(value);
  return writer.bytes;
}

}  // namespace

std::vector<Target> coach_targets() {
  return {{"progress",
           {"06_self_attention\tscores\t2\tpassed\n07_masking\tmask\t0\twrong\n"},
           {"\t", "\n", "passed", "99999999999999999999", "-1", "06_self_attention", "scores"},
           read_progress},
          {"mistakes",
           {"## scores\nSee: Six words, five steps\n\n@@ no scaling @@ Why?\nThe products are not divided.\n"
            "-      out(i, j) = dot / std::sqrt(real(D));\n+      out(i, j) = dot;\n"},
           {"## ", "@@ ", " @@ ", "@@", "\n-", "\n+", "\n ", "\n", "See: ", "(runs away)", "-", "+"},
           read_mistakes},
          {"wire",
           {wire_seed(), wire_seed() + wire_seed()},
           {std::string(8, '\0'), std::string("\1\0\0\0\0\0\0\0", 8), std::string(8, '\xff'),
            std::string("\0\0\0\0\0\0\0\x7f", 8), std::string("\0\0\0\0\1\0\0\0", 8)},
           read_wire}};
}

}  // namespace fuzz
