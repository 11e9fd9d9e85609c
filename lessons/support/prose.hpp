// Prose: the text of a lesson, written where it is told.
//
//   /// ## A lookup that is never quite sure         a block of lines that start with ///, in Markdown
//   ///
//   /// A `std::map` wants exactly its key. …
//   void soft_lookup(Lesson& lesson) {               before a function, it is said as the function begins;
//     …
//     /// Every number of this look, to check:        among statements, it is said when control gets there
//     lesson.table(…);
//   }
//
// So a lesson's source reads from top to bottom as its output does, and each sentence stands once: in the
// editor as a comment, in the terminal because the program says it, on the page because the press reads
// both. `//` stays what it was, a comment on code. The build compiles a copy of the source in which each
// block is also a call of Lesson::prose, on one of its own lines, so that compiler and debugger speak of the
// lines of lesson.cpp.
#pragma once

#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/index.hpp"

namespace attn {

struct Prose {
  Index line;        // of its first line in the source, counted from 1
  Index lines;       // how many there are
  Index said_on;     // the line whose program says it: its own first, or that of the function it introduces
  std::string text;  // Markdown, without the comment marks
};

// The blocks of a source, in order. Throws if one is never said; `name` is the source's, for the error.
std::vector<Prose> prose_of(std::string_view source, const std::string& name);

// The program to compile.
std::string program_of(std::string_view source, const std::string& name);

}  // namespace attn
