// 16_bert --weights DIR "Paris is the capital of [MASK].": a published BERT fills the gaps.
#pragma once

namespace attn {

int fill_gaps(int argc, char** argv);  // the program's exit code

}  // namespace attn
