// The mistakes of an exercise, from mistakes.diff to the header that a grader includes.
#include "lessons/coach/mutants.hpp"

#include <doctest/doctest.h>

#include <fstream>  // ofstream
#include <map>      // map
#include <sstream>  // istringstream
#include <vector>   // vector

#include "core/error.hpp"
#include "lessons/coach/checked.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

namespace {

const char* const solution =
    "#pragma once\n"
    "#include \"types.hpp\"\n"
    "namespace exercise {\n"
    "// Twice.\n"
    "inline int twice(int x) { return 2 * x; }\n"
    "int four(int x) {\n"
    "  int y = twice(x);  // 2 x\n"
    "  y = twice(y);\n"
    "  y += 0;\n"
    "  y += 0;\n"
    "  return y;\n"
    "}\n"
    "int eight(int x,\n"
    "          bool sure) {\n"
    "  return twice(four(x));\n"
    "}\n"
    "int sixteen(int x) {\n"
    "  const int y = twice(eight(x, true));\n"
    "  return y;\n"
    "}\n"
    "}  // namespace exercise\n";

struct Lesson {
  TemporaryFolder folder;
  Lesson(const std::string& mistakes) {
    std::ofstream(folder / "solution.hpp") << solution;
    std::ofstream(folder / "mistakes.diff") << mistakes;
  }
  std::string header() const { return coach::mutants_header(folder.path.string()); }
  // The complaint, without the folder.
  std::string complaint() const {
    try {
      header();
    } catch (const Error& error) {
      const std::string path = folder.path.string() + "/", text = error.what();
      CHECK(text.starts_with(path));
      return text.substr(path.size());
    }
    return "none";
  }
};

// What stands in mutant `number`, without #line directives.
std::string mutant(const std::string& header, int number) {
  const std::string head = "namespace mutant_" + std::to_string(number) + " {\n";
  std::istringstream lines(header.substr(header.find(head) + head.size()));
  std::string text;
  int depth = 1;
  for (std::string line; std::getline(lines, line);) {
    for (const char c : line) depth += (c == '{') - (c == '}');
    if (depth == 0) break;
    if (!line.starts_with("#line")) text += line + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a change of the solution makes a wrong function with its name, reason and heading") {
  const Lesson lesson(
      "Mistakes.\n\n## four\nSee: Doubling\n\n@@ once @@\nOnly\nonce.\n-  int y = twice(x);\n+  int y = x;\n"
      "@@ \"thrice\" @@ Elsewhere (runs away)\nToo often.\n   y = twice(y);\n+  y = twice(y);\n");
  const std::string header = lesson.header();
  CHECK(mutant(header, 1) ==
        "int four(int x) {\n   int y = x;\n  y = twice(y);\n  y += 0;\n  y += 0;\n"
        "  return y;\n}\n");
  CHECK(mutant(header, 2).find("  y = twice(y);\n   y = twice(y);\n") != std::string::npos);
  CHECK(header.find("{\"once\", \"Only once.\", \"Doubling\", exercise::solution::mutant_1::four, false},") !=
        std::string::npos);
  CHECK(
      header.find(
          "{\"\\\"thrice\\\"\", \"Too often.\", \"Elsewhere\", exercise::solution::mutant_2::four, true},") !=
      std::string::npos);
}

TEST_CASE("several places change at once, in the function itself first; + lines alone are the whole body") {
  const std::string header = Lesson(
                                 "## four\nSee: X\n\n@@ a @@\nWhy.\n-  int y = twice(x);\n+  int y = 1;\n"
                                 "-  return y;\n+  return -y;\n@@ b @@\nWhy.\n+  return 3;\n"
                                 "## eight\nSee: X\n@@ c @@\nWhy.\n+  return 7;\n")
                                 .header();
  CHECK(mutant(header, 1) ==
        "int four(int x) {\n   int y = 1;\n  y = twice(y);\n  y += 0;\n  y += 0;\n"
        "   return -y;\n}\n");
  CHECK(mutant(header, 2) == "int four(int x) {\n   return 3;\n}\n");
  CHECK(mutant(header, 3) == "int eight(int x, bool sure) {\n   return 7;\n}\n");
}

TEST_CASE("a change of a helper comes with everything between it and the function asked for") {
  const std::string header =
      Lesson("## eight\nSee: X\n\n@@ a @@\nWhy.\n-  int y = twice(x);\n+  int y = 1;\n").header();
  CHECK(mutant(header, 1).find("int four(int x) {\n   int y = 1;") == 0);
  CHECK(mutant(header, 1).find("return twice(four(x));") != std::string::npos);
  CHECK(mutant(header, 1).find("int twice") == std::string::npos);
}

TEST_CASE("a mistake that leaves a vector throws: its subscripts are checked") {
  const std::string header =
      Lesson(
          "## four\nSee: X\n\n@@ a @@\nWhy.\n"
          "+  const auto f = [&](int i) { return graph[v[i]].in->at[0] + g(x)[i + 1][2]; };\n"
          "+  return f(1) * ++(v)[2];\n")
          .header();
  CHECK(mutant(header, 1) ==
        "int four(int x) {\n"
        "   const auto f = [&](int i) { return "
        "coach::checked(coach::checked(graph, coach::checked(v, i)).in->at, 0) + "
        "coach::checked(coach::checked(g(x), i + 1), 2); };\n"
        "   return f(1) * ++coach::checked((v), 2);\n"
        "}\n");
  const std::vector<int> v{1, 2};
  CHECK(coach::checked(v, 1) == 2);
  CHECK_THROWS(coach::checked(v, 2));
  CHECK_THROWS(coach::checked(v, -1));
  std::map<std::pair<int, int>, int> counts;
  CHECK(++coach::checked(counts, {1, 2}) == 1);
}

TEST_CASE("the compiler is told of every line which file it comes from") {
  const Lesson lesson(
      "## four\nSee: X\n\n@@ a @@\nWhy.\n-  int y = twice(x);\n+  int y = 1;\n+  ++y;\n"
      "@@ b @@\nWhy.\n+  return 3;\n@@ c @@\nWhy.\n-  y = twice(y);\n");
  std::istringstream header(lesson.header());
  std::string path;
  std::size_t number = 0, compared = 0;
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with("#line ")) {
      number = std::stoul(line.substr(6));
      path = line.substr(line.find('"') + 1);
      path.pop_back();
    } else if (line.starts_with(" ")) {  // inside of a function
      std::ifstream file(path);
      std::string original;
      for (std::size_t i = 0; i < number; ++i) std::getline(file, original);
      CHECK(line.substr(1) == original.substr(1));  // for the sign a space
      ++compared;
      ++number;
    } else {
      ++number;
    }
  }
  CHECK(compared == 9 + 6 + 1 + 4);  // the solution, then a, b and c
}

TEST_CASE("a change that does not fit the solution is one line with its place") {
  CHECK(Lesson("## four\nSee: X\n\n@@ a @@\nWhy.\n-  int z = twice(x);\n+  int z;\n").complaint() ==
        "mistakes.diff:6: four, \"a\": the solution has no such line: int z = twice(x);");
  CHECK(Lesson("## four\nSee: X\n\n@@ a @@\nWhy.\n-  y += 0;\n").complaint() ==
        "mistakes.diff:6: four, \"a\": the solution has more than one such place: y += 0;");
  CHECK(Lesson("## four\nSee: X\n@@ a @@\nWhy.\n-  return twice(four(x));\n+  return 1;\n").complaint() ==
        "mistakes.diff:3: four, \"a\": changes what the function does not use");
  CHECK(Lesson("## five\nSee: X\n\n@@ a @@\nWhy.\n+  return 5;\n").complaint() ==
        "mistakes.diff:4: five is no function of the solution");
  // What a change puts in is not taken for a place to change.
  CHECK(Lesson("## four\nSee: X\n\n@@ a @@\nWhy.\n-  int y = twice(x);\n+  int y = 0;\n-  int y = 0;\n")
            .complaint() == "mistakes.diff:8: four, \"a\": the solution has no such line: int y = 0;");
}

TEST_CASE("a mistake that lacks something is one line with its place") {
  const std::string change = "+  return 1;\n";
  CHECK(Lesson("## four\nSee: X\n\n@@ a @@\n" + change).complaint() ==
        "mistakes.diff:4: four, \"a\": no text says why it is wrong");
  CHECK(Lesson("## four\nSee: X\n\n@@ a @@\nWhy.\n\n@@ b @@\nWhy.\n" + change).complaint() ==
        "mistakes.diff:4: four, \"a\": nothing is changed: no line with - or +");
  CHECK(Lesson("## four\n\n@@ a @@\nWhy.\n" + change).complaint() ==
        "mistakes.diff:3: four, \"a\": no heading of the lesson, here or after See:");
  CHECK(Lesson("## four\nSee: X\n@@ a @@\nWhy.\n" + change + "@@ a @@\nWhy.\n" + change).complaint() ==
        "mistakes.diff:6: four, \"a\": a second one of that name");
  CHECK(Lesson("## four\nSee: X\n@@ a @@\nWhy.\n" + change + "more\n").complaint() ==
        "mistakes.diff:6: four, \"a\": a line of a change begins with -, + or a space");
  CHECK(Lesson("## four\nSee: X\n@@ a\n" + change).complaint() ==
        "mistakes.diff:3: a mistake begins with `@@ its name @@`");
  CHECK(Lesson("## four\nSee: X\n@@ @@\nWhy.\n" + change).complaint() ==
        "mistakes.diff:3: a mistake begins with `@@ its name @@`");
  CHECK(Lesson("@@ a @@\n" + change).complaint() ==
        "mistakes.diff:1: a mistake before the first ## function");
  CHECK(Lesson("## four\nSee: X\n\nJust text.\n").complaint() ==
        "mistakes.diff:4: text that belongs to no mistake");
}

TEST_CASE("a whole solution can be had with one mistake in it") {
  const Lesson lesson(
      "## four\nSee: Four\n@@ once @@\nIt is doubled only once.\n-  y = twice(y);\n"
      "@@ never @@\nIt is not doubled.\n+  return x;\n");
  const std::string file = coach::mistaken_solution(lesson.folder.path.string(), "four", "once");
  CHECK(file.find("namespace exercise {") != std::string::npos);
  CHECK(file.find("y = twice(y);") == std::string::npos);
  CHECK(file.find("int y = twice(x);") != std::string::npos);
  CHECK(file.find("int sixteen(int x) {") != std::string::npos);
  CHECK(file.find("return x;") == std::string::npos);
  CHECK_THROWS_AS(coach::mistaken_solution(lesson.folder.path.string(), "four", "twice"), Error);
}
