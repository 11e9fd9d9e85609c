#include "lessons/support/prose.hpp"

#include <doctest/doctest.h>

#include "core/error.hpp"
#include "lessons/support/markdown.hpp"

using namespace attn;

namespace {

constexpr const char* source =
    "/// # Title\n"
    "///\n"
    "/// An introduction.\n"
    "#include <map>\n"
    "//// no prose\n"
    "/// Before \"it\" \\ begins.\n"
    "int helper(const Lesson& lesson) {\n"
    "  return x;  /// no prose either\n"
    "}\n"
    "void first(Lesson& lesson) {\n"
    "  helper(1);\n"
    "  /// In between.\n"
    "  ///    indented\n"
    "  helper(2);\n"
    "}\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

}  // namespace

TEST_CASE("prose is what follows /// at the beginning of a line, block by block") {
  const std::vector<Prose> blocks = prose_of(source, "lesson.cpp");
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[0].text == "# Title\n\nAn introduction.");
  CHECK(blocks[1].text == "Before \"it\" \\ begins.");
  CHECK(blocks[2].text == "In between.\n   indented");
  CHECK(blocks[0].line == 1);
  CHECK(blocks[0].lines == 3);
  CHECK(blocks[2].line == 12);
}

TEST_CASE("a block before a function is said on its first line, one among statements on its own") {
  const std::vector<Prose> blocks = prose_of(source, "lesson.cpp");
  CHECK(blocks[0].said_on == 10);
  CHECK(blocks[1].said_on == 10);
  CHECK(blocks[2].said_on == 12);
}

TEST_CASE("the program has the lines of its source, under the source's name") {
  const std::vector<std::string> program = lines_of(program_of(source, "lessons/06/lesson.cpp"));
  const std::vector<std::string> before = lines_of(source);
  REQUIRE(program.size() == before.size() + 1);
  CHECK(program[0] == "#line 1 \"lessons/06/lesson.cpp\"");
  CHECK(program[10] == before[9] +
                           " lesson.prose(1, \"# Title\\n\\nAn introduction.\");"
                           " lesson.prose(6, \"Before \\\"it\\\" \\\\ begins.\");");
  CHECK(program[12] == " lesson.prose(12, \"In between.\\n   indented\");  /// In between.");
  for (const Index line : {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14})
    CHECK(program[line + 1] == before[line]);
}

TEST_CASE("text that no function says is an error that names its line") {
  CHECK_THROWS_WITH_AS(prose_of("int x;\n/// Never said.\nint y;\n", "lesson.cpp"),
                       "lesson.cpp:2: nobody says this text: no function with a `Lesson& lesson` follows it",
                       Error);
}

TEST_CASE("Markdown for a terminal: its blocks") {
  using Kind = MarkdownBlock::Kind;
  const auto blocks = markdown_blocks(
      "## A title\nA paragraph\nof two lines.\n\n> A quote.\n\n- one\n  goes on\n- two\n12. twelve\n\n"
      "$$ y = x W $$\n\n| a | b |\n|---|---|\n| 1 | 2 x |\n\n    code\n      more\n\n```\n# fenced\n```\nThe "
      "end.");
  const std::vector<Kind> kinds = {Kind::heading, Kind::paragraph, Kind::quote,    Kind::item,
                                   Kind::item,    Kind::item,      Kind::equation, Kind::table,
                                   Kind::code,    Kind::code,      Kind::paragraph};
  REQUIRE(blocks.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(blocks[i].kind == kinds[i]);
  CHECK(blocks[0].text == "A title");
  CHECK(blocks[1].text == "A paragraph of two lines.");
  CHECK(blocks[2].text == "A quote.");
  CHECK(blocks[3].text == "one goes on");
  CHECK(blocks[5].mark == "12.");
  CHECK(blocks[6].text == "y = x W");
  CHECK(blocks[7].rows == std::vector<std::vector<std::string>>{{"a", "b"}, {"1", "2 x"}});
  CHECK(blocks[8].text == "code\n  more");
  CHECK(blocks[9].text == "# fenced");
}

TEST_CASE("Markdown for a terminal: stars and dollars go, products and code stay") {
  CHECK(markdown_line("a **strong** and an *easy* word", false) == "a strong and an easy word");
  CHECK(markdown_line("2 * 3 and `a*b*c`, d_k", false) == "2 * 3 and `a*b*c`, d_k");
  CHECK(markdown_line("$q·k$", false) == "q·k");
  CHECK(markdown_line("**now**", true) == "\x1b[1mnow\x1b[22m");
}
