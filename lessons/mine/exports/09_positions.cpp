#include EXERCISE

#include "lessons/mine/exports.hpp"

void export_functions(attn::mine::Exports& exports) {
  exports.add("sinusoids", exercise::sinusoids);
  exports.add("rotate_pairs", exercise::rotate_pairs);
  exports.add("rotate_back", exercise::rotate_back);
}
