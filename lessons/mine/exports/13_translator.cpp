#include EXERCISE

#include "lessons/mine/exports.hpp"

using namespace attn;

void export_functions(mine::Exports& exports) {
  exports.add("dictate", [](const std::vector<std::vector<int>>& targets) -> mine::TwoTables {
    const exercise::Dictation batch = exercise::dictate(targets);
    return {batch.reads, batch.writes};
  });
  exports.add("three_masks", [](const IntTensor& source, const IntTensor& reads) -> mine::ThreeMasks {
    const exercise::ThreeMasks masks = exercise::three_masks(source, reads);
    return {masks.encoder, masks.decoder, masks.cross};
  });
  exports.add("write_greedily", exercise::write_greedily);
  exports.add("corpus_bleu", exercise::corpus_bleu);
}
