// 15_gpt --weights DIR "Once upon a time": a published GPT-2 or Llama goes on with a text.
#pragma once

namespace attn {

int continue_text(int argc, char** argv);  // the program's exit code

}  // namespace attn
