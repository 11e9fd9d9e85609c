#include EXERCISE

#include "lessons/mine/exports.hpp"

void export_functions(attn::mine::Exports& exports) {
  exports.add("causal_mask", exercise::causal_mask);
  exports.add("padding_mask", exercise::padding_mask);
  exports.add("decoder_mask", exercise::decoder_mask);
  exports.add("masked_softmax", exercise::masked_softmax);
}
