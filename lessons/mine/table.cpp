#include "lessons/mine/table.hpp"

namespace attn::mine {

const std::vector<AskedFor>& functions() {
  static const std::vector<AskedFor> all = {
      {"product", "01_tensors", "product", "12345"},
      {"matmul_backward", "02_autograd", "product", "1345"},
      {"broadcast_add", "01_tensors", "bias", "1234"},
      {"broadcast_backward", "02_autograd", "bias", "1345"},
      {"relu_backward", "04_learning", "relu", "1345"},
      {"batch_loss", "04_learning", "loss", "15"},
      {"batch_loss_backward", "04_learning", "loss", "15"},
      {"adam_step", "04_learning", "adam", "1345"},
      {"frequent_pair", "05_tokens", "bpe", "5"},
      {"merge_once", "05_tokens", "bpe", "5"},
      {"bpe_encode", "05_tokens", "bpe", "5"},
      {"bpe_decode", "05_tokens", "bpe", "5"},
      {"pad_rows", "05_tokens", "padding", "4"},
      {"lookup_backward", "05_tokens", "embedding", "345"},
      {"scores", "06_self_attention", "scores", "2345"},
      {"scores_backward", "06_self_attention", "scores", "345"},
      {"row_softmax", "06_self_attention", "softmax", "45"},
      {"masked_softmax", "07_masking", "softmax", "2345"},
      {"softmax_backward", "02_autograd", "softmax", "345"},
      {"causal_mask", "07_masking", "masks", "5"},
      {"padding_mask", "07_masking", "masks", "2"},
      {"decoder_mask", "07_masking", "masks", "2"},
      {"split_heads", "08_multi_head", "heads", "234"},
      {"merge_heads", "08_multi_head", "heads", "234"},
      {"sinusoids", "09_positions", "positions", "3"},
      {"rotate_pairs", "09_positions", "rope", "24"},
      {"rotate_back", "09_positions", "rope", "4"},
      {"normalise", "10_blocks", "norm", "2345"},
      {"normalise_backward", "10_blocks", "norm", "345"},
      {"mul_backward", "02_autograd", "norm", "45"},
      {"pre_norm_block", "10_blocks", "blocks", "245"},
      {"encoder_layer", "11_transformer", "layers", "3"},
      {"decoder_layer", "11_transformer", "layers", "3"},
      {"shift_targets", "11_transformer", "shift", "3"},
      {"sentence_loss", "12_training", "smoothing", "34"},
      {"sentence_loss_backward", "12_training", "smoothing", "34"},
      {"learning_rate", "12_training", "schedule", "345"},
      {"clip_gradients", "12_training", "clipping", "345"},
      {"perplexity", "12_training", "perplexity", "5"},
      {"dictate", "13_translator", "batches", "4"},
      {"three_masks", "13_translator", "masks", "4"},
      {"write_greedily", "13_translator", "greedy", "34"},
      {"corpus_bleu", "13_translator", "bleu", "4"},
      {"search_beam", "14_decoding", "beam", "4"},
      {"keep_top_k", "14_decoding", "sampling", "5"},
      {"keep_top_p", "14_decoding", "sampling", "5"},
      {"cached_step", "14_decoding", "cache", "5"},
      {"next_token_windows", "15_gpt", "windows", "5"},
      {"gpt_logits", "15_gpt", "gpt", "5"},
      {"generate", "15_gpt", "gpt", "5"},
  };
  return all;
}

const AskedFor* find_function(const std::string& name) {
  for (const AskedFor& function : functions())
    if (function.name == name) return &function;
  return nullptr;
}

const std::vector<Milestone>& milestones() {
  static const std::vector<Milestone> all = {
      {1, "mine_1_gradients", "Your gradients learn", "04"},
      {2, "mine_2_attention", "Your attention looks", "08"},
      {3, "mine_3_transformer", "Your transformer learns", "12"},
      {4, "mine_4_translator", "Your translator translates", "14"},
      {5, "mine_5_gpt", "Your GPT writes", "15"},
  };
  return all;
}

std::string how_to_see(const std::string& function, const std::string& mistake) {
  if (const AskedFor* asked = find_function(function))
    for (const int milestone : {3, 1, 5, 4, 2})  // the quickest that trains
      if (asked->used_by(milestone))
        return "make mine-" + std::to_string(milestone) + " MISTAKE=\"" + function + ": " + mistake + "\"";
  return "";
}

}  // namespace attn::mine
