// The percent format: one C++ file that is a notebook and a program at once (jupytext reads it, too).
//
//   // %% [markdown]                 text, each line behind "// "
//   // %%                            code
//   // %% tags=["active-cpp"]        code of the program that is not the notebook's: main and its end
//   // %% [raw]                      left alone by everybody, each line behind "// "
//
// A cell ends where the next begins; blank lines at its end are not part of it. The cells between the one
// that has `main(` and the next active-cpp cell are statements inside of main: the tangled program announces
// each.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn::press {

enum class CellKind { markdown, code, raw };

struct Cell {
  CellKind kind = CellKind::code;
  std::string text;               // without comment marks, without a line end at the end
  int line = 0;                   // of its first line in the file, counted from 1
  std::vector<std::string> tags;  // active-cpp: a raw cell for Jupyter, code for the compiler
  bool active() const;            // has that tag
};

// `name` is the file's, for errors.
std::vector<Cell> parse_percent(std::string_view text, const std::string& name);
// And back: parse_percent(to_percent(cells)) gives the same cells. A line that would begin a cell is refused.
std::string to_percent(const std::vector<Cell>& cells);

// Which cells run inside of main.
std::vector<bool> cells_in_main(const std::vector<Cell>& cells);

// The program to compile: the same lines, where `// %%` of code cell i in main is notebook::cell(i), and a
// #line in front, so that the compiler speaks of the notebook's own lines.
std::string tangle(std::string_view text, const std::string& name);

}  // namespace attn::press
