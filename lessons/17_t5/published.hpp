// 17_t5 --weights DIR "translate English to German: The house is wonderful.": a published T5 does a task.
#pragma once

namespace attn {

int do_task(int argc, char** argv);  // the program's exit code

}  // namespace attn
