// Output that arrives, or is an error: a full disk must not end a program with exit code 0.
//
//   write_out(fmt::format("{}\n", translation));
//
// run_program flushes at the end of every program, so what fmt::print left in the buffer is checked as well.
#pragma once

#include <string_view>  // string_view

namespace attn {

void write_out(std::string_view text);  // to standard output, at once; throws Error if it cannot be written
void flush_out();                       // the same for what was printed before

// A program can be started without the descriptors 0, 1 or 2, and the next file it opened would take their
// place and be written into by every message. This fills the gaps with what cannot be read or written.
void guard_standard_streams();

}  // namespace attn
