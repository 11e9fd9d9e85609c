// build/mine/list: what `make mine` says. It compiles nothing, so it answers at once.
#include <fmt/core.h>  // print

#include <map>  // map

#include "core/text.hpp"  // colored
#include "lessons/coach/course.hpp"
#include "lessons/mine/table.hpp"
#include "lessons/support/options.hpp"

namespace attn::mine {
namespace {

bool passed(const coach::Progress& progress, const AskedFor& function) {
  coach::Lesson lesson;
  lesson.name = function.lesson;
  return progress.passed(lesson, function.name);
}

int list() {
  const coach::Progress progress;
  fmt::print("Your own transformer: what you wrote, put together.\n\n");
  for (const Milestone& milestone : milestones()) {
    int yours = 0, all = 0;
    std::map<std::string, int> missing;  // functions by lesson
    for (const AskedFor& function : functions()) {
      if (!function.used_by(milestone.number) || function.number() > milestone.after) continue;
      ++all;
      if (passed(progress, function))
        ++yours;
      else
        ++missing[function.number()];
    }
    fmt::print("  make mine-{}   {:<28} after lesson {}   {:>2} of {:>2} functions yours\n", milestone.number,
               milestone.title, milestone.after, yours, all);
    std::string left;
    for (const auto& [number, count] : missing)
      left += fmt::format("{}{} of {}{}", left.empty() ? "" : ", ", count, left.empty() ? "exercise " : "",
                          number);
    if (!left.empty())
      fmt::print("{}", wrapped(fmt::format("missing: {}; next: make check-{}", left, missing.begin()->first),
                               {.first = "                ", .rest = "                "}));
  }
  fmt::print("\nparts and their functions ({} yours, {} not yet: ours stands in)\n\n", "■", "□");
  std::map<std::string, std::string> parts;
  std::vector<std::string> order;
  for (const AskedFor& function : functions()) {
    if (!parts.contains(function.part)) order.push_back(function.part);
    parts[function.part] +=
        fmt::format("{} {} {}  ", passed(progress, function) ? "■" : "□", function.number(), function.name);
  }
  for (const std::string& part : order)
    fmt::print("{}",
               wrapped(parts[part], {.first = fmt::format("  {:<12}", part), .rest = std::string(14, ' ')}));
  fmt::print(
      "\nPARTS=\"softmax=ours\" (or mine) flips a part; PARTS=\"product=multiply_ikj\" takes lesson 03's "
      "product;\n"
      "MISTAKE=\"scores: no scaling\" puts a known mistake in, trains both and shows what it did;\n"
      "ARGS=--solutions runs a milestone as if our solutions were yours.\n");
  return 0;
}

}  // namespace
}  // namespace attn::mine

int main(int argc, char** argv) {
  return attn::run_program("mine", [&] {
    attn::Options options("build/mine/list", "The milestones of your own transformer, and what is missing.");
    options.parse({argv + 1, argv + argc});
    return attn::mine::list();
  });
}
