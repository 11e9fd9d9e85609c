#include EXERCISE

#include "lessons/mine/exports.hpp"

void export_functions(attn::mine::Exports& exports) {
  exports.add("normalise", exercise::normalise);
  exports.add("normalise_backward", exercise::normalise_backward);
  exports.add("pre_norm_block", exercise::pre_norm_block);
}
