#include EXERCISE

#include "lessons/mine/exports.hpp"

using namespace attn;

void export_functions(mine::Exports& exports) {
  exports.add("next_token_windows",
              [](const std::vector<int>& text, const std::vector<int>& starts, int T) -> mine::TwoTables {
                const exercise::Windows windows = exercise::next_token_windows(text, starts, T);
                return {windows.reads, windows.writes};
              });
  exports.add("gpt_logits", [](const mine::GptWeights& w, const std::vector<int>& tokens) {
    return exercise::gpt_logits(
        {w.embedding, w.positions, {w.blocks.begin(), w.blocks.end()}, w.gain, w.bias}, tokens);
  });
  exports.add("generate", exercise::generate);
}
