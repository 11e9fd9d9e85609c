// Turns a notebook's source and its program into a notebook to read: .ipynb (nbformat 4.5) and .html, each
// with all that the cells printed and drew.
//
//   ProgramRun run = run_program("build/notebooks/01_attention_by_hand", {"--fast"});
//   Notebook notebook{"01_attention_by_hand", cells, split_output(run, std::ssize(cells))};
//   to_ipynb(notebook); to_html(notebook);
//
// notebooks_cpp/notebook.hpp tells how the program says which cell it is in. Under a cell come its standard
// output and pictures in order, then its standard error.
#pragma once

#include <filesystem>  // path
#include <stdexcept>   // runtime_error
#include <string>      // string
#include <vector>      // vector

#include "notebooks_cpp/press/percent.hpp"  // Cell

namespace attn::press {

struct Output {
  enum Kind { standard_output, standard_error, picture } kind = standard_output;
  std::string text;  // printed, or the caption of the picture
  std::filesystem::path picture_path;
};
using Outputs = std::vector<Output>;

struct ProgramRun {
  std::string standard_output, standard_error;
  int exit_code = 0;  // 128 + signal if a signal ended it, as in a shell
};

// Runs with ATTN_NOTEBOOK=1, without input. Throws if the program cannot be started.
ProgramRun run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments);

// What each of `cells` cells printed and drew. `last_cell`, if wanted: the one that ran last, -1 if none did.
std::vector<Outputs> split_output(const ProgramRun& run, Index cells, Index* last_cell = nullptr);

struct Notebook {
  std::string name;
  std::vector<Cell> cells;
  std::vector<Outputs> outputs;  // one for each cell, or none at all
  std::string title() const;     // its first heading
};

std::string to_ipynb(const Notebook& notebook);
// The cells of an .ipynb, also of one that Jupyter wrote, without their outputs.
std::vector<Cell> cells_of_ipynb(const std::string& json);

// `source_folder`: pictures and links of the text are relative to it.
std::string to_html(const Notebook& notebook, const std::filesystem::path& source_folder = ".");

// A cell that failed: which one, and what the program said.
struct CellError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `program` and writes OUT/NAME.ipynb and OUT/NAME.html, or throws CellError and writes nothing.
void make_notebook(const std::filesystem::path& source, const std::filesystem::path& program,
                   const std::filesystem::path& out, const std::vector<std::string>& arguments);

}  // namespace attn::press
