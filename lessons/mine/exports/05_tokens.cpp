#include EXERCISE

#include "lessons/mine/exports.hpp"

using namespace attn;

void export_functions(mine::Exports& exports) {
  exports.add("frequent_pair", exercise::frequent_pair);
  exports.add("merge_once", exercise::merge_once);
  exports.add("bpe_encode", exercise::bpe_encode);
  exports.add("bpe_decode", exercise::bpe_decode);
  exports.add("pad_rows", [](const std::vector<std::vector<int>>& sequences, int pad) -> mine::TwoTables {
    const exercise::PaddedBatch batch = exercise::pad_rows(sequences, pad);
    return {batch.ids, batch.mask};
  });
  exports.add("lookup_backward", exercise::lookup_backward);
}
