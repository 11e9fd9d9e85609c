#include "notebooks_cpp/press/percent.hpp"

#include <fmt/core.h>  // format

#include <algorithm>  // find, min
#include <iterator>   // ssize
#include <utility>    // move

#include "core/error.hpp"
#include "core/json.hpp"
#include "notebooks_cpp/press/lines.hpp"

namespace attn::press {
namespace {

constexpr std::string_view marker = "// %%";

bool is_marker(std::string_view line) {
  return line.starts_with(marker) &&
         (line.size() == marker.size() || is_blank(line.substr(marker.size(), 1)));
}

// `// %% [markdown] tags=["a", "b"]`, without its first five characters.
Cell cell_of_marker(std::string_view rest, const std::string& place) {
  Cell cell;
  rest = trimmed(rest);
  if (!rest.empty() && rest[0] == '[') {
    const std::size_t close = rest.find(']');
    const std::string_view kind = rest.substr(0, std::min(close, rest.size() - 1) + 1);
    if (kind == "[markdown]" || kind == "[md]")
      cell.kind = CellKind::markdown;
    else if (kind == "[raw]")
      cell.kind = CellKind::raw;
    else
      fail("{}: a cell of kind {:.60}; there are [markdown], [raw] and, without a word, code", place, kind);
    rest = trimmed(rest.substr(kind.size()));
  }
  if (rest.starts_with("tags=")) {
    const JsonValue list = parse_json(rest.substr(5));
    if (!list.is_array()) fail("{}: tags are a list of words: tags=[\"active-cpp\"]", place);
    for (const JsonValue& tag : list.elements()) {
      std::string word;
      if (!tag.to(word)) fail("{}: a tag that is not a word: {:.60}", place, tag.text());
      cell.tags.push_back(word);
    }
    rest = {};
  }
  if (!rest.empty())
    fail("{}: '{:.60}' cannot follow // %%; there are [markdown], [raw] and tags=[...]", place, rest);
  return cell;
}

bool is_commented(const Cell& cell) { return cell.kind != CellKind::code && !cell.active(); }

std::string_view without_comment(std::string_view line, const std::string& name, Index number) {
  if (is_blank(line)) return {};
  if (!line.starts_with("//"))
    fail("{}:{}: a line of text that does not start with //: {:.60}", name, number, line);
  return line.substr(line.size() > 2 && line[2] == ' ' ? 3 : 2);
}

}  // namespace

bool Cell::active() const { return std::find(tags.begin(), tags.end(), "active-cpp") != tags.end(); }

std::vector<Cell> parse_percent(std::string_view text, const std::string& name) {
  std::vector<Cell> cells;
  const std::vector<std::string> lines = lines_of(text);
  for (Index i = 0; i < std::ssize(lines); ++i) {
    if (is_marker(lines[i])) {
      const std::string place = fmt::format("{}:{}", name, i + 1);
      cells.push_back(cell_of_marker(std::string_view(lines[i]).substr(marker.size()), place));
      cells.back().line = i + 2;
    } else if (!cells.empty()) {
      Cell& cell = cells.back();
      cell.text += is_commented(cell) ? without_comment(lines[i], name, i + 1) : lines[i];
      cell.text += '\n';
    } else if (!is_blank(lines[i])) {
      fail("{}:{}: a notebook begins with // %%, not with: {:.60}", name, i + 1, lines[i]);
    }
  }
  if (cells.empty()) fail("{}: no cells: a cell begins with // %%", name);
  for (Cell& cell : cells) normalize(cell);
  return cells;
}

void normalize(Cell& cell) {
  if (cell.active()) cell.kind = CellKind::raw;
  std::string text;
  for (const char c : cell.text) {
    while (c == '\n' && text.ends_with('\r')) text.pop_back();
    text += c;
  }
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  cell.text = std::move(text);
}

std::string to_percent(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells) {
    if (!text.empty()) text += '\n';
    text += marker;
    if (cell.kind == CellKind::markdown) text += " [markdown]";
    if (cell.kind == CellKind::raw && !cell.active()) text += " [raw]";
    for (Index i = 0; i < std::ssize(cell.tags); ++i)
      text += (i == 0 ? " tags=[" : ", ") + Json(cell.tags[i]).text;
    text += cell.tags.empty() ? "\n" : "]\n";
    for (const std::string& line : lines_of(cell.text)) {
      const std::string written = (!is_commented(cell) ? "" : line.empty() ? "//" : "// ") + line;
      if (is_marker(written)) fail("a cell has the line `{:.60}`, which would begin a new cell", written);
      text += written + '\n';
    }
  }
  return text;
}

std::vector<bool> cells_in_main(const std::vector<Cell>& cells) {
  std::vector<bool> inside(cells.size());
  bool in_main = false;
  for (Index i = 0; i < std::ssize(cells); ++i) {
    if (cells[i].active()) in_main = !in_main && cells[i].text.find("main(") != std::string::npos;
    inside[i] = in_main && cells[i].kind == CellKind::code;
  }
  return inside;
}

std::string tangle(std::string_view text, const std::string& name) {
  const std::vector<bool> inside = cells_in_main(parse_percent(text, name));
  std::string program = fmt::format("#line 1 \"{}\"\n", name);
  Index cell = 0;
  for (const std::string& line : lines_of(text)) {
    const bool begins = is_marker(line);
    program += (begins && inside[cell] ? fmt::format("::attn::notebook::cell({});", cell) : line) + "\n";
    cell += begins;
  }
  return program;
}

}  // namespace attn::press
