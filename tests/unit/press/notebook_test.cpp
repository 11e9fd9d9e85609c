// Notebooks: the percent format, the program made of it, what the program says, and the files made of that.
#include <doctest/doctest.h>
#include <unistd.h>  // dup, dup2, close

#include <algorithm>   // all_of
#include <array>       // array
#include <cstdio>      // tmpfile, fgetc
#include <cstdlib>     // setenv
#include <fstream>     // ofstream
#include <functional>  // function
#include <set>         // set
#include <string>      // string

#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/rng.hpp"
#include "core/viz/image.hpp"
#include "notebooks_cpp/notebook.hpp"
#include "notebooks_cpp/press/html.hpp"
#include "notebooks_cpp/press/notebook.hpp"
#include "notebooks_cpp/press/percent.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;
using namespace attn::press;

namespace {

const std::string sample = R"(// %% [markdown]
// # A small *notebook*
//
// with $x^2$

// %%
#include "notebooks_cpp/notebook.hpp"
int twice(int x) { return 2 * x; }

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return attn::notebook::run(argc, argv, "sample", [] {

// %%
const int x = twice(3);

fmt::print("{}\n", x);

// %% [markdown] tags=["later", "more"]
// Text.

// %%
fmt::print("{}\n", x + 1);

// %% tags=["active-cpp"]
}); }

// %% [raw]
// left alone
)";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

// A program that needs no compiler.
std::filesystem::path script(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path path = folder / "program";
  write(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// What a notebook's program with this body prints, and its exit code: run here, with the streams turned away.
ProgramRun captured(std::vector<std::string> words, const std::function<void()>& body) {
  words.insert(words.begin(), "sample");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  std::fflush(nullptr);
  std::FILE* files[2] = {std::tmpfile(), std::tmpfile()};
  const int saved[2] = {dup(1), dup(2)};
  for (const int i : {0, 1}) dup2(fileno(files[i]), i + 1);
  ProgramRun run;
  run.exit_code = notebook::run(int(arguments.size()), arguments.data(), "sample", body);
  std::fflush(nullptr);
  for (const int i : {0, 1}) {
    dup2(saved[i], i + 1);
    close(saved[i]);
    std::rewind(files[i]);
    for (int c; (c = std::fgetc(files[i])) != EOF;)
      (i == 0 ? run.standard_output : run.standard_error) += static_cast<char>(c);
    std::fclose(files[i]);
  }
  return run;
}

// The rules of nbformat 4.5 that concern what we write.
void check_by_the_rules(const JsonValue& notebook) {
  std::string text;
  Index number;
  CHECK(notebook["nbformat"].text() == "4");
  CHECK(notebook["nbformat_minor"].text() == "5");
  CHECK(notebook["metadata"]["kernelspec"]["name"].to(text));
  CHECK(notebook["metadata"]["kernelspec"]["display_name"].to(text));
  CHECK(notebook["metadata"]["language_info"]["name"].to(text));
  CHECK(notebook.members().size() == 4);
  const auto is_text = [&](const JsonValue& value) {
    if (value.to(text)) return true;
    return value.is_array() &&
           std::ranges::all_of(value.elements(), [&](const JsonValue& line) { return line.to(text); });
  };
  std::set<std::string> ids;
  CHECK(notebook["cells"].is_array());
  for (const JsonValue& cell : notebook["cells"].elements()) {
    std::string kind, id;
    cell["cell_type"].to(kind), cell["id"].to(id);
    CHECK((id.size() >= 1 && id.size() <= 64));
    CHECK(id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
          std::string::npos);
    CHECK(ids.insert(id).second);
    CHECK(is_text(cell["source"]));
    CHECK(cell["metadata"].is_object());
    if (kind != "code") {
      CHECK((kind == "markdown" || kind == "raw"));
      CHECK(cell.members().size() == 4);
      continue;
    }
    CHECK(cell.members().size() == 6);
    CHECK(cell["execution_count"].to(number));
    CHECK(cell["outputs"].is_array());
    for (const JsonValue& output : cell["outputs"].elements()) {
      CHECK(output.members().size() == 3);
      if (output["output_type"].text() == R"("stream")") {
        const std::string name = output["name"].text();
        CHECK((name == R"("stdout")" || name == R"("stderr")"));
        CHECK(is_text(output["text"]));
      } else {
        CHECK(output["output_type"].text() == R"("display_data")");
        CHECK(output["data"].is_object());
        for (const auto& [type, value] : output["data"].members()) CHECK(is_text(value));
        CHECK(output["metadata"].is_object());
      }
    }
  }
}

}  // namespace

TEST_CASE("a percent file is read as cells with kind, text, line and tags") {
  const std::vector<Cell> cells = parse_percent(sample, "sample.cpp");
  REQUIRE(cells.size() == 8);
  CHECK(cells[0].kind == CellKind::markdown);
  CHECK(cells[0].text == "# A small *notebook*\n\nwith $x^2$");
  CHECK(cells[0].line == 2);
  CHECK(cells[1].kind == CellKind::code);
  CHECK(cells[2].kind == CellKind::raw);
  CHECK(cells[2].active());
  CHECK(cells[3].text == "const int x = twice(3);\n\nfmt::print(\"{}\\n\", x);");
  CHECK(cells[3].line == 14);
  CHECK(cells[4].tags == std::vector<std::string>{"later", "more"});
  CHECK(cells[7].kind == CellKind::raw);
  CHECK_FALSE(cells[7].active());
  CHECK(cells[7].text == "left alone");
}

TEST_CASE("cells become the same file again") {
  CHECK(to_percent(parse_percent(sample, "sample.cpp")) == sample);
  const std::string by_jupyter = to_ipynb({"sample", parse_percent(sample, "sample.cpp"), {}});
  CHECK(to_percent(cells_of_ipynb(by_jupyter)) == sample);
  CHECK_THROWS_WITH_AS(to_percent({{.kind = CellKind::markdown, .text = "TeX:\n%% a comment", .tags = {}}}),
                       "a cell has the line `// %% a comment`, which would begin a new cell", Error);
}

TEST_CASE("cells become the same cells again, whatever ends their lines") {
  const auto shape = [](const std::vector<Cell>& cells) {
    std::string all;
    for (const Cell& cell : cells) all += fmt::format("{}:{}|", int(cell.kind), cell.text);
    return all;
  };
  CHECK(shape(parse_percent("// %%\r\r\na\r\r\nb\r \r\n", "x.cpp")) == "1:a\nb|");
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text = "// %%\n";
    for (int i = 0; i < 20; ++i)
      text += std::array{
          "\r", "\n", " ", "\t", "x", "// ", "//", "// %% [markdown]\n//", "// %%\n"}[rng.below(9)];
    std::vector<Cell> cells;
    try {
      cells = parse_percent(text, "x.cpp");
    } catch (const Error&) {
      continue;
    }
    CAPTURE(text);
    CHECK(shape(parse_percent(to_percent(cells), "x.cpp")) == shape(cells));
  }
}

TEST_CASE("what is not a notebook is said in one line") {
  for (const char* broken : {"", "[]", "{}", "{\"cells\": 1}", "{\"cells\": [1]}", "{\"cells\": [{}]}",
                             "{\"cells\": [{\"cell_type\": \"code\"}]}",
                             "{\"cells\": [{\"cell_type\": \"code\", \"source\": [1]}]}",
                             "{\"cells\": [{\"cell_type\": \"table\", \"source\": []}]}"}) {
    CAPTURE(broken);
    CHECK_THROWS_WITH_AS(cells_of_ipynb(broken), doctest::Contains("not a notebook: "), Error);
  }
}

TEST_CASE("what is not the percent format is said with its line") {
  CHECK_THROWS_WITH_AS(
      parse_percent("// %%\n// %% [tables]\n", "x.cpp"),
      "x.cpp:2: a cell of kind [tables]; there are [markdown], [raw] and, without a word, code", Error);
  CHECK_THROWS_WITH_AS(parse_percent("// %% [markdown]\nint x;\n", "x.cpp"),
                       "x.cpp:2: a line of text that does not start with //: int x;", Error);
  for (const char* broken :
       {"", "int x;\n// %%\n", "// %% tags=[\"a\"\n", "// %% tags=[1]\n", "// %% title\n", "// %% [raw\n"})
    CHECK_THROWS_AS(parse_percent(broken, "x.cpp"), Error);
}

TEST_CASE("the tangled program has every line in its place, and announces the code cells in main") {
  const std::string program = tangle(sample, "dir/sample.cpp");
  CHECK(program.substr(0, program.find('\n')) == "#line 1 \"dir/sample.cpp\"");
  CHECK(count(program, "\n") == count(sample, "\n") + 1);
  CHECK(contains(program, "[] {\n\n::attn::notebook::cell(3);\nconst int x"));
  CHECK(contains(program, "\n::attn::notebook::cell(5);\nfmt::print"));
  CHECK(count(program, "notebook::cell(") == 2);
  CHECK(contains(program, "// %%\n#include"));  // a cell before main has nothing to announce
}

TEST_CASE("what is said before the first cell goes to it, beside what it says itself") {
  ProgramRun run;
  run.standard_output =
      "\x1e"
      "cell 1\none\n";
  run.standard_error =
      "warning\n\x1e"
      "cell 1\n";
  const std::vector<Outputs> outputs = split_output(run, 2);
  REQUIRE(outputs[1].size() == 2);
  CHECK(outputs[1][0].text == "one\n");
  CHECK(outputs[1][1].text == "warning\n");
}

TEST_CASE("output is split by cell, pictures in their place, errors behind") {
  ProgramRun run;
  run.standard_output =
      "early\n\x1e"
      "cell 1\none\n\x1epicture /a b.png\tA caption\ntwo\n\x1e"
      "cell 3\n\x1e"
      "cell 4\nlast, without end";
  run.standard_error =
      "\x1e"
      "cell 1\nwarning\n\x1e"
      "cell 3\n\x1e"
      "cell 4\n";
  Index last = 0;
  const std::vector<Outputs> outputs = split_output(run, 6, &last);
  CHECK(last == 4);
  REQUIRE(outputs[1].size() == 4);
  CHECK(outputs[1][0].text == "early\none\n");
  CHECK(outputs[1][1].kind == Output::picture);
  CHECK(outputs[1][1].picture_path == "/a b.png");
  CHECK(outputs[1][1].text == "A caption");
  CHECK(outputs[1][2].text == "two\n");
  CHECK(outputs[1][3].kind == Output::standard_error);
  CHECK(outputs[1][3].text == "warning\n");
  CHECK(outputs[3].empty());
  REQUIRE(outputs[4].size() == 1);
  CHECK(outputs[4][0].text == "last, without end");
  split_output({"nothing announced", "", 0}, 2, &last);
  CHECK(last == -1);
}

TEST_CASE("announcements that make no sense are dropped, not believed") {
  const std::vector<Outputs> outputs = split_output({"\x1e"
                                                     "cell 99\n\x1e"
                                                     "cell -1\n\x1e"
                                                     "cell x\n\x1e"
                                                     "cell 0\na\x1e",
                                                     "", 0},
                                                    1);
  REQUIRE(outputs[0].size() == 1);
  CHECK(outputs[0][0].text == "a");
}

TEST_CASE("a program is run with its arguments, without input, and knows that it is read") {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_program(script(folder, "echo $ATTN_NOTEBOOK \"$2\"; cat; echo bad >&2; exit 3\n"), {"a", "b c"});
  CHECK(run.standard_output == "1 b c\n");
  CHECK(run.standard_error == "bad\n");
  CHECK(run.exit_code == 3);
  CHECK(run_program(script(folder, "kill -SEGV $$\n"), {}).exit_code == 128 + 11);
  CHECK_THROWS_AS(run_program(folder / "missing", {}), Error);
}

TEST_CASE("the .ipynb follows nbformat 4.5, with outputs and pictures inside") {
  const TemporaryFolder folder;
  viz::write_png(folder / "p.png", viz::Image(3, 2));
  Notebook notebook{"sample", parse_percent(sample, "sample.cpp"), {}};
  notebook.outputs.resize(notebook.cells.size());
  notebook.outputs[3] = {{Output::standard_output, "6\nno end", {}},
                         {Output::picture, "Look: *here*", folder / "p.png"},
                         {Output::standard_error, "not UTF-8: \xff\n", {}}};
  const JsonValue json = parse_json(to_ipynb(notebook));
  check_by_the_rules(json);
  const std::vector<JsonValue> cells = json["cells"].elements();
  REQUIRE(cells.size() == 8);
  CHECK(cells[0]["source"].text() == R"(["# A small *notebook*\n","\n","with $x^2$"])");
  CHECK(cells[2]["cell_type"].text() == R"("raw")");
  CHECK(cells[2]["metadata"].text() == R"({"tags":["active-cpp"]})");
  CHECK(cells[1]["execution_count"].text() == "1");
  CHECK(cells[3]["execution_count"].text() == "2");
  const std::vector<JsonValue> outputs = cells[3]["outputs"].elements();
  REQUIRE(outputs.size() == 4);
  CHECK(outputs[0]["text"].text() == R"(["6\n","no end"])");
  CHECK(outputs[1]["data"]["image/png"].text() == Json(base64(read_file(folder / "p.png"))).text);
  CHECK(outputs[2]["data"].has("text/markdown"));
}

TEST_CASE("the page shows text, code and what it printed, and holds its pictures itself") {
  const TemporaryFolder folder;
  viz::write_png(folder / "p.png", viz::Image(3, 2));
  write(folder / "02_next.cpp", "");
  Notebook notebook{"sample", parse_percent(sample, "sample.cpp"), {}};
  notebook.cells[4].text = "![a](p.png) [next](02_next.cpp#part) [far](https://example.org)";
  notebook.outputs.resize(notebook.cells.size());
  notebook.outputs[3] = {{Output::standard_output, "6 < 7\n", {}},
                         {Output::picture, "Look & see", folder / "p.png"},
                         {Output::standard_error, "oh\n", {}}};
  const std::string html = to_html(notebook, folder.path);
  CHECK(contains(html, "<title>A small notebook</title>"));
  CHECK(contains(html, "<h1 id=\"a-small-notebook\">A small <em>notebook</em></h1>"));
  CHECK(contains(html, "<pre class=\"output\">6 &lt; 7</pre>"));
  CHECK(contains(html, "<pre class=\"output error\">oh</pre>"));
  CHECK(contains(html,
                 "width=\"3\" height=\"2\" loading=\"lazy\" alt=\"Look &amp; see\"></div>\n<figcaption>Look "
                 "&amp; see</figcaption>"));
  CHECK(count(html, data_uri(folder / "p.png")) == 2);
  CHECK(contains(html, "<a href=\"02_next.html#part\">"));
  CHECK(contains(html, "<a href=\"https://example.org\">"));
  CHECK_FALSE(contains(html, "main("));  // what the compiler alone needs
  CHECK_FALSE(contains(html, "left alone"));

  std::string twenty_one = "int one;";
  for (int line = 0; line < 20; ++line) twenty_one += "\nint more;";
  CHECK_FALSE(contains(html, "<details>"));
  notebook.cells[3].text = twenty_one;  // in main: part of the story
  CHECK_FALSE(contains(to_html(notebook, folder.path), "<details>"));
  notebook.cells[1].text = twenty_one;  // before it: helpers
  CHECK(contains(to_html(notebook, folder.path), "<details>\n<summary>Helpers, 21 lines</summary>\n<pre>"));
}

TEST_CASE("a notebook is run and written; a failing cell is named and leaves the old files alone") {
  const TemporaryFolder folder;
  const std::filesystem::path source = folder / "sample.cpp", page = folder / "out/sample.html";
  write(source, sample);
  make_notebook(source, script(folder, "printf '\\036cell 3\\n6\\n\\036cell 5\\n'; echo $1\n"),
                folder / "out", {"--fast"});
  check_by_the_rules(parse_json(read_file(folder / "out/sample.ipynb")));
  const std::string before = read_file(page);
  CHECK(contains(before, "<pre class=\"output\">6</pre>"));
  CHECK(contains(before, "<pre class=\"output\">--fast</pre>"));
  try {
    make_notebook(
        source,
        script(folder, "printf '\\036cell 3\\n\\036cell 5\\nseven\\n'; echo 'sample: no' >&2; exit 2\n"),
        folder / "out", {});
    FAIL("the cell should have failed");
  } catch (const CellError& error) {
    const std::string message = error.what();
    CHECK(contains(message, source.string() +
                                ":22: this cell failed (exit code 2):\n    fmt::print(\"{}\\n\", x + 1);\n"));
    CHECK(contains(message, "seven"));
    CHECK(contains(message, "sample: no"));
  }
  CHECK(read_file(page) == before);
  CHECK_THROWS_AS(make_notebook(source, script(folder, "exit 1\n"), folder / "out", {}), CellError);
}

TEST_CASE("a notebook tells its reader where cells begin and pictures are, as the press reads it") {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  bool fast = false;
  std::uint64_t seed = 0;
  setenv("ATTN_NOTEBOOK", "1", 1);
  const ProgramRun run = captured({"--fast", "--seed", "7", "--out", out}, [&] {
    fast = notebook::fast();
    seed = notebook::seed();
    notebook::cell(1);
    fmt::print("one\n");
    notebook::show(viz::Image(4, 4), "a\tb");
    notebook::cell(2);
    fmt::print(stderr, "two\n");
  });
  unsetenv("ATTN_NOTEBOOK");
  CHECK(run.exit_code == 0);
  CHECK(fast);
  CHECK(seed == 7);
  CHECK(notebook::out() == out);
  CHECK(notebook::folder() == folder / "out/notebooks/sample");
  const std::vector<Outputs> outputs = split_output(run, 3);
  REQUIRE(outputs[1].size() == 2);
  CHECK(outputs[1][0].text == "one\n");
  CHECK(outputs[1][1].text == "a b");
  CHECK(outputs[1][1].picture_path.is_absolute());
  CHECK(png_size(outputs[1][1].picture_path).width == 4);
  REQUIRE(outputs[2].size() == 1);
  CHECK(outputs[2][0].text == "two\n");
}

TEST_CASE("without a reader a notebook says where its pictures are, and errors are one line and a code") {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  const ProgramRun shown = captured({"--out", out}, [] {
    notebook::cell(1);
    notebook::show(viz::Image(1, 1), "Look.");
  });
  CHECK(shown.standard_output.find("[picture] " + out + "/notebooks/sample/") == 0);
  CHECK(contains(shown.standard_output, ".png\nLook.\n"));
  CHECK_FALSE(contains(shown.standard_output, "\x1e"));
  const ProgramRun failed = captured({}, [] { fail("it cannot be"); });
  CHECK(failed.exit_code == 2);
  CHECK(failed.standard_error == "sample: it cannot be\n");
  CHECK(captured({"--no-such-option"}, [] {}).exit_code == 2);
}
