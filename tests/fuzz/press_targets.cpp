// What the press reads: notebooks in the percent format and of Jupyter, Markdown, equations, C++.
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/markdown.hpp"
#include "notebooks_cpp/press/math.hpp"
#include "notebooks_cpp/press/notebook.hpp"
#include "notebooks_cpp/press/source.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace fuzz {
namespace {

using namespace attn;
using namespace attn::press;

bool same(const std::vector<Cell>& a, const std::vector<Cell>& b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i)
    equal = a[i].kind == b[i].kind && a[i].text == b[i].text && a[i].tags == b[i].tags;
  return equal;
}

void check_round_trip(const std::vector<Cell>& cells) {
  promise(same(parse_percent(to_percent(cells), "fuzz"), cells), "parse_percent(to_percent(cells)) is cells");
}

// To read back what was written costs more than reading: large inputs are for the cost of reading alone.
bool is_small(const std::string& input) { return input.size() < 100'000; }

void read_percent(const std::string& text) {
  tangle(text, "fuzz");
  if (is_small(text)) check_round_trip(parse_percent(text, "fuzz"));
}

void read_ipynb(const std::string& json) {
  const std::vector<Cell> cells = cells_of_ipynb(json);
  if (is_small(json)) check_round_trip(cells);
}

void read_markdown(const std::string& text) { markdown_to_html(text); }

void read_math(const std::string& latex) { mathml(latex, true); }

void read_source(const std::string& source) { declarations(source); }
void colour_source(const std::string& source) { highlight_cpp(source); }

void read_output(const std::string& printed) {
  ProgramRun run;
  run.standard_output = printed;
  run.standard_error = printed;
  split_output(run, 3);
}

const std::vector<std::string> cpp_seeds = {
    "// Adds.\nnamespace a {\nstruct B : C {\n  int x = 1, y;  // two\n  B(int z) : x(z) {}\n  bool "
    "operator==(const B&) const;\n};\n}\n",
    "template <class T>\nT operator_of(T x) { return x < 1 ? x : -x; }\nusing V = "
    "std::vector<int>;\nenum class E { a, b };\n#define X(a) a\n"
    "extern \"C\" { void f(); }\nvoid (*g)(int);\nauto s = R\"m(x)m\";\n"};
const std::vector<std::string> cpp_tokens = {"operator",
                                             "operator()",
                                             "(",
                                             ")",
                                             "{",
                                             "}",
                                             "<",
                                             ">",
                                             "[",
                                             "[[",
                                             "]",
                                             ";",
                                             ":",
                                             "::",
                                             "=",
                                             ",",
                                             "//",
                                             "/*",
                                             "*/",
                                             "\"",
                                             "'",
                                             "R\"(",
                                             "#",
                                             "\\\n",
                                             "\n",
                                             "template",
                                             "struct",
                                             "class",
                                             "enum",
                                             "namespace",
                                             "using",
                                             "typedef",
                                             "friend",
                                             "extern \"C\" {",
                                             "static_assert",
                                             "__attribute__",
                                             "~",
                                             "0x",
                                             ".",
                                             "\xff"};

}  // namespace

std::vector<Target> press_targets() {
  return {
      {"percent",
       {"// %% [markdown]\n// # A *notebook*\n//\n// text\n\n// %%\nint x = 1;\n\n\nint y;\n",
        "// %% tags=[\"active-cpp\"]\nint main() {\n// %%\nf();\n// %% [raw]\n// raw\n// %% "
        "tags=[\"active-cpp\", \"b\"]\n}\n"},
       {"// %%", "// %% [markdown]\n", "// %% [raw]\n", "//", "// ", "\n", "\r\n", "\r", "\r\r\n", " ", "\t",
        "tags=[\"a\"]", "\\u000d", "main(", "\""},
       read_percent},
      {"ipynb",
       {R"({"cells":[{"cell_type":"markdown","metadata":{},"source":["# A\n","text"]},)"
        R"({"cell_type":"code","metadata":{"tags":["x"]},"outputs":[],"source":"int x;\nint y;"},)"
        R"({"cell_type":"raw","metadata":{},"source":["r"]}],"metadata":{},"nbformat":4,"nbformat_minor":5})"},
       {"{", "}", "[", "]", "\"", ",", "\\r", "\\n", "\\r\\n", "// %%", "\\u0000",
        "\"source\":", "\"tags\":", "\"active-cpp\"", "null"},
       read_ipynb},
      {"markdown",
       {"# Masks\n\nWhat is *hidden* gets $-\\infty$, `code` and [a link](x.md).\n\n- a\n  - b\n\n> "
        "quote\n\n$$x_i$$\n",
        "| a | b |\n|---|:-:|\n| 1 | $x|y$ |\n\n```cpp\nint x;\n```\n![alt *x*](p.png) ~~s~~ "
        "**b**<br>&amp;\n"},
       {"*",    "_", "`", "```",  "$",    "$$",   "\\",   "[",        "]",     "](", "![",   "(",
        ")",    "<", ">", "> ",   "- ",   "1. ",  "#",    "|",        "|-",    "\n", "\n\n", "  ",
        "    ", "~", "&", "&#0;", "\xfe", "\xff", "<!--", "[a]: b\n", "---\n", "a"},
       read_markdown},
      {"math",
       {R"(\frac{QK^\top}{\sqrt{d_k}})",
        R"(\begin{cases}a & b \\ c\end{cases} \left( \mathbf{x}_i \right) \sum_{i=1}^n \hat y)",
        R"(\operatorname{softmax}(x)_{ij} \in \mathbb{R} \text{if } x \neq 0)"},
       {"{",
        "}",
        "_",
        "^",
        "\\",
        "\\frac",
        "\\sqrt",
        "\\sqrt[",
        "]",
        "\\left(",
        "\\right)",
        "\\begin{matrix}",
        "\\end{matrix}",
        "&",
        "\\\\",
        "\\hat",
        "\\mathbf",
        "\\text{",
        "\\operatorname*{",
        "'",
        "<",
        "\xff",
        "x",
        "\\sum",
        "\\quad",
        " "},
       read_math},
      {"source", cpp_seeds, cpp_tokens, read_source},
      {"highlight", cpp_seeds, cpp_tokens, colour_source},
      {"output",
       {"\x1e"
        "cell 0\nhello\n\x1e"
        "picture /tmp/a.png\tcaption\n\x1e"
        "cell 1\nx\n"},
       {"\x1e",
        "\x1e"
        "cell ",
        "\x1e"
        "picture ",
        "\t", "\n", "-1", "2", "99999999999999999999"},
       read_output},
  };
}

}  // namespace fuzz
