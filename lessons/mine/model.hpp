// The models of the library, computed by parts. The weights are the library's own layers (nn/), so that the
// same model can be computed both ways and compared; only what is done with them is put together from parts.
#pragma once

#include "lessons/mine/ops.hpp"
#include "nn/transformer.hpp"

namespace attn::mine {

// Attention of one layer: asking (B,T,C), answering (B,S,C), visible (B,T,S) or (T,S) -> (B,T,C). If
// `weights` is given, the map (B,H,T,S) is left there.
Tensor look(const Parts& parts, const MultiHeadAttention& layer, const Tensor& asking,
            const Tensor& answering, const Tensor& visible, Tensor* weights = nullptr);

// max(0, x W1 + b1) W2 + b2
Tensor feed(const Parts& parts, const FeedForward& layer, const Tensor& x);

// An encoder-decoder in pre-norm: its encoder layers are pre_norm_block; a decoder layer, which has three
// sublayers, is one block of the first two and half a block for the third.
struct Maps {
  std::vector<Tensor> encoder, decoder, cross;  // (B, H, T, S), a layer each
};
Tensor encode(const Parts& parts, const Transformer& model, const IntTensor& source, const Tensor& visible,
              Maps* maps = nullptr);  // (B, S) -> (B, S, C)
Tensor decode(const Parts& parts, const Transformer& model, const IntTensor& reads, const Tensor& memory,
              const Tensor& visible, const Tensor& visible_source, Maps* maps = nullptr);  // -> (B, T, V)

// The same in post-norm without gain and bias, as exercise 11 has it: encoder_layer and decoder_layer take
// one sentence at a time. `lengths` are those of the source; the targets are all of one length.
Tensor encode_by_layers(const Parts& parts, const Transformer& model, const IntTensor& source,
                        const IntTensor& lengths);
Tensor decode_by_layers(const Parts& parts, const Transformer& model, const IntTensor& reads,
                        const Tensor& memory, const IntTensor& lengths, Maps* maps = nullptr);

// One block of a GPT: x (B,T,C), visible (T,T).
Tensor gpt_block(const Parts& parts, const Block& block, const Tensor& x, const Tensor& visible,
                 Tensor* weights = nullptr);

// The norms of such a model have gain 1 and bias 0, and keep them.
void freeze_norms(const Transformer& model);

}  // namespace attn::mine
