// The percent format: one C++ file that is a notebook and a program at once (jupytext reads it, too).
//
//   // %% [markdown]                 text, each line after "// "
//   // %%                            code
//   // %% tags=["active-cpp"]        code of the program but not of the notebook: main and its end
//   // %% [raw]                      left alone by everybody, each line after "// "
//
// A cell ends where the next begins; blank lines at its end and carriage returns at the ends of lines are no
// part of it. The cells between the one that has `main(` and the next active-cpp cell are statements inside
// of main: the tangled program announces each.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/shape.hpp"  // Index

namespace attn::press {

enum class CellKind { markdown, code, raw };

struct Cell {
  CellKind kind = CellKind::code;
  std::string text;               // without comment marks, without a line end at the end
  Index line = 0;                 // of its first line in the file, counted from 1
  std::vector<std::string> tags;  // active-cpp: a raw cell for Jupyter, code for the compiler
  bool active() const;            // has that tag
};

// `name` is the file's, for errors.
std::vector<Cell> parse_percent(std::string_view text, const std::string& name);
// And back: of normalized cells, parse_percent gives the same again. Throws if a line would begin a cell.
std::string to_percent(const std::vector<Cell>& cells);

// A cell as the percent format can hold it: no carriage returns at the ends of lines, no blank end; an active
// cell is raw. parse_percent gives such cells, and so does whoever reads another format.
void normalize(Cell& cell);

// Which cells run in main.
std::vector<bool> cells_in_main(const std::vector<Cell>& cells);

// The program to compile: the same lines, where `// %%` of code cell i in main is notebook::cell(i), after a
// #line, so that the compiler speaks of the notebook's own lines.
std::string tangle(std::string_view text, const std::string& name);

}  // namespace attn::press
