#include EXERCISE

#include "lessons/mine/exports.hpp"

void export_functions(attn::mine::Exports& exports) {
  exports.add("sentence_loss", exercise::sentence_loss);
  exports.add("sentence_loss_backward", exercise::sentence_loss_backward);
  exports.add("learning_rate", exercise::learning_rate);
  exports.add("clip_gradients", exercise::clip_gradients);
  exports.add("perplexity", exercise::perplexity);
}
