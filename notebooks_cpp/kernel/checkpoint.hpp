// What the live kernel (kernel.py) calls inside clang-repl: checkpoints, and messages to the kernel.
//
// A cell that fails halfway must not take the variables of all other cells with it. So before each cell the
// process forks: the copy runs the cell and, if all goes well, goes on to the next one, while the original
// waits. When the copy ends for whatever reason (an exception, a wild pointer, the interrupt button), the
// original wakes up in the state before the cell. The waiting originals also serve when a cell runs again:
// C++ allows no second `const Tensor x`, so the kernel returns to the moment before the first one. A waiting
// process costs only the memory that has changed since.
//
// A message is a line that begins with the character 0x1E, on both standard output and standard error:
//   started      ready PID      running, passed      threw TYPE (the message follows)      back REASON
#pragma once

namespace attn::kernel {

void start();       // once: reads the options of notebooks (--fast, --seed N, ...) from ATTN_NOTEBOOK_ARGS
void checkpoint();  // before a cell
bool running();     // before the first statement of a cell: so it has been compiled
void passed();      // its last statement

}  // namespace attn::kernel
