#include "notebooks_cpp/press/notebook.hpp"

#include <fmt/core.h>  // format
#include <spawn.h>     // posix_spawn
#include <sys/wait.h>  // waitpid

#include <algorithm>  // count, find, min
#include <cerrno>     // errno
#include <charconv>   // from_chars
#include <cstdio>     // tmpfile
#include <cstring>    // strerror
#include <iterator>   // ssize
#include <memory>     // unique_ptr

#include "core/atomic_file.hpp"
#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "lessons/support/picture.hpp"
#include "notebooks_cpp/press/highlight.hpp"
#include "notebooks_cpp/press/html.hpp"
#include "notebooks_cpp/press/lines.hpp"  // lines_of
#include "notebooks_cpp/press/markdown.hpp"

extern char** environ;

namespace attn::press {

namespace fs = std::filesystem;

namespace {

// Running

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// A file rather than a pipe: nothing can fill up, however much is printed on either.
File temporary_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file) fail("no temporary file can be made: {}", std::strerror(errno));
  return file;
}

std::string content_of(const File& file) {
  std::string text;
  std::rewind(file.get());
  char buffer[1 << 14];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;)
    text.append(buffer, count);
  return text;
}

// What the program said

constexpr char announcement = '\x1e';

// "cell 7" -> 7; anything else, or a cell that does not exist: -1.
Index announced_cell(std::string_view line, Index cells) {
  Index cell = -1;
  if (!line.starts_with("cell ")) return -1;
  const auto [end, error] = std::from_chars(line.data() + 5, line.data() + line.size(), cell);
  return error == std::errc() && end == line.data() + line.size() && cell < cells ? cell : -1;
}

void add_text(Outputs& outputs, Output::Kind kind, std::string_view text) {
  if (text.empty()) return;
  if (outputs.empty() || outputs.back().kind != kind) outputs.push_back({kind, "", {}});
  outputs.back().text += text;
}

std::string indented(std::string_view text) {
  std::string result;
  for (const std::string& line : lines_of(text)) result += "    " + line + "\n";
  return result;
}

// The .ipynb

constexpr const char* notebook_metadata = R"json({
  "kernelspec": {"display_name": "C++20 (attention.cpp)", "language": "c++", "name": "attention-cpp"},
  "language_info": {"name": "c++", "file_extension": ".cpp", "mimetype": "text/x-c++src",
                    "codemirror_mode": "text/x-c++src", "pygments_lexer": "cpp"}})json";

// Values on a line each, so that differences are small.
Json on_lines(const std::vector<Json>& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "\n" : ",\n") + value.text;
  return Json::written("[" + text + "]");
}

// Jupyter keeps text as a list of lines.
Json text_lines(std::string_view text) {
  std::vector<Json> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(std::string(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return on_lines(lines);
}

Json display_data(const char* type, const Json& data, const std::string& caption) {
  return json_object({{"output_type", "display_data"},
                      {"data", json_object({{type, data}, {"text/plain", text_lines(caption)}})},
                      {"metadata", json_object({})}});
}

Json output_list(const Outputs& outputs) {
  std::vector<Json> list;
  for (const Output& output : outputs) {
    if (output.kind != Output::picture) {
      list.push_back(json_object({{"output_type", "stream"},
                                  {"name", output.kind == Output::standard_output ? "stdout" : "stderr"},
                                  {"text", text_lines(output.text)}}));
      continue;
    }
    list.push_back(display_data("image/png", base64(read_file(output.picture_path)), output.text));
    // Of several forms of one output Jupyter shows one, so the caption is an output of its own.
    if (!output.text.empty())
      list.push_back(display_data("text/markdown", text_lines("*" + output.text + "*"), output.text));
  }
  return on_lines(list);
}

const char* kind_name(CellKind kind) {
  return kind == CellKind::markdown ? "markdown" : kind == CellKind::code ? "code" : "raw";
}

// The .html

std::string figure(const Output& output) {
  return "<figure>" + picture_html(output.picture_path, output.text, data_uri) +
         (output.text.empty() ? "" : "\n<figcaption>" + escape_html(output.text) + "</figcaption>") +
         "</figure>\n";
}

std::string without_end(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

std::string code_cell(const Cell& cell, bool in_main, const Outputs& outputs) {
  std::string html = fmt::format("<pre><code>{}</code></pre>\n", highlight_cpp(cell.text));
  // Helpers before main that would fill a screen are folded: the story comes first.
  if (const auto lines = 1 + std::count(cell.text.begin(), cell.text.end(), '\n'); !in_main && lines > 20)
    html = fmt::format("<details>\n<summary>Helpers, {} lines</summary>\n{}</details>\n", lines, html);
  html = "<div class=\"cell\">\n" + html;
  for (const Output& output : outputs)
    html += output.kind == Output::picture
                ? figure(output)
                : fmt::format("<pre class=\"output{}\">{}</pre>\n",
                              output.kind == Output::standard_error ? " error" : "",
                              escape_html(without_end(output.text)));
  return html + "</div>\n";
}

}  // namespace

ProgramRun run_program(const fs::path& program, const std::vector<std::string>& arguments) {
  const File output = temporary_file(), error = temporary_file();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
  posix_spawn_file_actions_adddup2(&files, fileno(output.get()), 1);
  posix_spawn_file_actions_adddup2(&files, fileno(error.get()), 2);

  std::vector<std::string> words = {program.string()}, settings;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** setting = environ; *setting; ++setting)
    if (!std::string_view(*setting).starts_with("ATTN_NOTEBOOK=")) settings.emplace_back(*setting);
  settings.emplace_back("ATTN_NOTEBOOK=1");
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (std::string& string : strings) list.push_back(string.data());
    list.push_back(nullptr);
    return list;
  };
  pid_t child = 0;
  const int problem = posix_spawn(&child, program.c_str(), &files, nullptr, pointers(words).data(),
                                  pointers(settings).data());
  posix_spawn_file_actions_destroy(&files);
  if (problem) fail("cannot run {}: {}", program.string(), std::strerror(problem));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {content_of(output), content_of(error), code};
}

std::vector<Outputs> split_output(const ProgramRun& run, Index cells, Index* last_cell) {
  std::vector<Outputs> outputs(cells);
  Index last = -1;
  for (const Output::Kind kind : {Output::standard_output, Output::standard_error}) {
    std::string_view left = kind == Output::standard_output ? run.standard_output : run.standard_error;
    Outputs early;  // said before the first cell: goes to it
    Outputs* here = &early;
    while (!left.empty()) {
      const std::size_t mark = std::min(left.find(announcement), left.size());
      const std::size_t end = std::min(left.find('\n', mark), left.size());
      add_text(*here, kind, left.substr(0, mark));
      const std::string_view line = left.substr(std::min(mark + 1, end), end - std::min(mark + 1, end));
      left.remove_prefix(std::min(end + 1, left.size()));
      if (const Index cell = announced_cell(line, cells); cell >= 0) {
        last = cell;
        here = &outputs[cell];
        here->insert(here->end(), early.begin(), early.end());
        early.clear();
      } else if (line.starts_with("picture ")) {
        const std::size_t tab = std::min(line.find('\t'), line.size());
        here->push_back({Output::picture, std::string(line.substr(std::min(tab + 1, line.size()))),
                         fs::path(line.substr(8, tab - 8))});
      }
    }
    if (early.empty() || cells == 0) continue;
    Outputs& end = last < 0 ? outputs.back() : outputs[last];
    end.insert(end.end(), early.begin(), early.end());
  }
  if (last_cell) *last_cell = last;
  return outputs;
}

std::string Notebook::title() const {
  for (const Cell& cell : cells)
    if (cell.kind == CellKind::markdown && cell.text.starts_with("# "))
      return plain_text(cell.text.substr(0, cell.text.find('\n')));
  return name;
}

std::string to_ipynb(const Notebook& notebook) {
  std::vector<Json> cells;
  int count = 0;
  for (Index i = 0; i < std::ssize(notebook.cells); ++i) {
    const Cell& cell = notebook.cells[i];
    JsonMembers metadata;
    if (!cell.tags.empty()) metadata.emplace_back("tags", cell.tags);
    JsonMembers entry = {{"cell_type", kind_name(cell.kind)}, {"id", fmt::format("cell-{}", i)}};
    if (cell.kind == CellKind::code) entry.emplace_back("execution_count", ++count);
    entry.emplace_back("metadata", json_object(metadata));
    if (cell.kind == CellKind::code)
      entry.emplace_back("outputs",
                         output_list(i < std::ssize(notebook.outputs) ? notebook.outputs[i] : Outputs{}));
    entry.emplace_back("source", text_lines(cell.text));
    cells.push_back(json_object(entry));
  }
  return json_object({{"cells", on_lines(cells)},
                      {"metadata", Json::written(notebook_metadata)},
                      {"nbformat", 4},
                      {"nbformat_minor", 5}})
             .text +
         "\n";
}

std::vector<Cell> cells_of_ipynb(const std::string& text) {
  const JsonValue entries = parse_json(text)["cells"];
  if (!entries.is_array()) fail("not a notebook: it is no JSON, or has no list of cells");
  std::vector<Cell> cells;
  for (const JsonValue& entry : entries.elements()) {
    Cell cell;
    std::string kind;
    entry["cell_type"].to(kind);
    for (const CellKind known : {CellKind::markdown, CellKind::code, CellKind::raw})
      if (kind == kind_name(known)) cell.kind = known;
    if (kind != kind_name(cell.kind)) fail("not a notebook: a cell of kind '{:.60}'", kind);
    const JsonValue source = entry["source"];
    if (!source.to(cell.text) && !source.is_array()) fail("not a notebook: a cell without a text");
    const auto word = [](const JsonValue& value) {
      std::string word;
      if (!value.to(word)) fail("not a notebook: {:.60} where a text should be", value.text());
      return word;
    };
    for (const JsonValue& line : source.elements()) cell.text += word(line);
    for (const JsonValue& tag : entry["metadata"]["tags"].elements()) cell.tags.push_back(word(tag));
    normalize(cell);
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string to_html(const Notebook& notebook, const fs::path& source_folder) {
  Ids ids;
  MarkdownOptions options;
  options.ids = &ids;
  options.image = [&](std::string_view address) { return data_uri(source_folder / address); };
  // Another notebook has its page beside this one.
  options.link = [&](std::string_view address) -> std::string {
    const std::size_t end = std::min(address.find('#'), address.size());
    const fs::path target = source_folder / address.substr(0, end);
    if (end == 0 || target.extension() != ".cpp" || !fs::exists(target)) return "";
    return target.stem().string() + ".html" + std::string(address.substr(end));
  };
  const std::vector<bool> in_main = cells_in_main(notebook.cells);
  std::string body = "<main class=\"sheet\">\n";
  for (Index i = 0; i < std::ssize(notebook.cells); ++i) {
    const Cell& cell = notebook.cells[i];
    if (cell.kind == CellKind::markdown)
      body += markdown_to_html(cell.text, options);
    else if (cell.kind == CellKind::code)  // what the compiler alone needs, main and its end, is not shown
      body += code_cell(cell, in_main[i], i < std::ssize(notebook.outputs) ? notebook.outputs[i] : Outputs{});
  }
  body += fmt::format(
      "</main>\n<footer>Made by <code>make notebooks</code> from notebooks_cpp/{}.cpp, "
      "attention.cpp</footer>",
      escape_html(notebook.name));
  return html_page({.title = notebook.title(), .body = body});
}

void make_notebook(const fs::path& source, const fs::path& program, const fs::path& out,
                   const std::vector<std::string>& arguments) {
  Notebook notebook{source.stem().string(), parse_percent(read_file(source), source.string()), {}};
  const ProgramRun run = run_program(program, arguments);
  Index last = -1;
  notebook.outputs = split_output(run, std::ssize(notebook.cells), &last);
  if (run.exit_code != 0) {
    const std::string ended = run.exit_code > 128 ? fmt::format("signal {}", run.exit_code - 128)
                                                  : fmt::format("exit code {}", run.exit_code);
    std::string said;
    if (last < 0 && run.exit_code == 2) fail("{}", without_end(run.standard_error));  // a wrong option
    if (last < 0)
      throw CellError(fmt::format("{}: failed before its first cell ({})\n{}", source.string(), ended,
                                  indented(run.standard_output + run.standard_error)));
    const Cell& cell = notebook.cells[last];
    for (const Output& output : notebook.outputs[last])
      if (output.kind != Output::picture) said += output.text;
    throw CellError(fmt::format("{}:{}: this cell failed ({}):\n{}  and the program said:\n{}",
                                source.string(), cell.line, ended, indented(cell.text), indented(said)));
  }
  const std::vector<bool> in_main = cells_in_main(notebook.cells);
  if (last < 0 && std::find(in_main.begin(), in_main.end(), true) != in_main.end())
    throw CellError(fmt::format("{}: no cell said that it ran; was {} made by `press tangle`?\n",
                                source.string(), program.string()));
  const std::string ipynb = to_ipynb(notebook), html = to_html(notebook, source.parent_path());
  write_file_atomically(out / (notebook.name + ".ipynb"), {ipynb});
  write_file_atomically(out / (notebook.name + ".html"), {html});
}

}  // namespace attn::press
