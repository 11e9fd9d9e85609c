// The wrong answers to exercise 15 that the grader knows by name. More of them: mistakes_loss.hpp
#pragma once

#include "lessons/15_gpt/mistakes_loss.hpp"

namespace exercise {
Tensor gpt_logits(const TinyGpt& gpt, const std::vector<int>& tokens);
std::vector<int> generate(const Model& model, const std::vector<int>& prompt, int count, int limit);
}  // namespace exercise

namespace mistakes {

// Embeddings with the positions from `first` on; as many as there is room for.
inline Tensor embedded(const TinyGpt& gpt, const Ids& tokens, Index first = 0) {
  const Index T = Index(tokens.size()), C = gpt.embedding.size(1);
  if (T > gpt.positions.size(0)) throw std::invalid_argument("too long");
  Tensor h = empty({T, C});
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < C; ++c)
      h(t, c) = gpt.embedding(tokens.at(std::size_t(t)), c) + gpt.positions(first + t, c);
  return h;
}
inline Tensor through(const TinyGpt& gpt, Tensor h) {
  for (const Block& block : gpt.blocks) h = block(h);
  return h;
}
inline Tensor scored(const TinyGpt& gpt, const Tensor& h) {
  return matmul(h, gpt.embedding, Transpose::second);
}
inline Tensor normed(const TinyGpt& gpt, const Tensor& h) { return layer_norm(h, gpt.gain, gpt.bias); }

inline const coach::Mistakes<decltype(exercise::gpt_logits)> gpt_logits = {
    {.name = "missing final norm",
     .why =
         "Pre-norm blocks add to a sum that nobody normalises on the way. Without the last norm the logits "
         "grow with every layer.",
     .where = "Half a Transformer",
     .answer = [](const TinyGpt& gpt,
                  const Ids& tokens) { return scored(gpt, through(gpt, embedded(gpt, tokens))); }},
    {.name = "the norm in front of the blocks",
     .why = "The final norm is there for what the blocks have added up: it stands behind them.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           return scored(gpt, through(gpt, normed(gpt, embedded(gpt, tokens))));
         }},
    {.name = "a norm without gain and bias",
     .why = "The final norm has learned a gain and a bias for each channel: hand them over.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           return scored(gpt, layer_norm(through(gpt, embedded(gpt, tokens)), {}, {}));
         }},
    {.name = "no positions",
     .why = "Without them the embedding of a token is the same at every place, and order can only be guessed "
            "from the mask.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           for (Index t = 0; t < h.size(0); ++t)
             for (Index c = 0; c < h.size(1); ++c) h(t, c) = gpt.embedding(tokens.at(std::size_t(t)), c);
           return scored(gpt, normed(gpt, through(gpt, h)));
         }},
    {.name = "positions looked up by token",
     .why = "The row of P is the place t of a token in the text, not its number in the vocabulary.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           for (Index t = 0; t < h.size(0); ++t)
             for (Index c = 0; c < h.size(1); ++c)
               h(t, c) =
                   gpt.embedding(tokens.at(std::size_t(t)), c) + gpt.positions(tokens.at(std::size_t(t)), c);
           return scored(gpt, normed(gpt, through(gpt, h)));
         }},
    {.name = "the first block only",
     .why = "Only the first block was run: each of the others reads what the one before it gave.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           if (!gpt.blocks.empty()) h = gpt.blocks[0](h);
           return scored(gpt, normed(gpt, h));
         }},
    {.name = "every block reads the embedding",
     .why =
         "Each block was given the embedded tokens again, so only the last one counted. A block reads what "
         "the one before it gave.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           const Tensor x = embedded(gpt, tokens);
           return scored(gpt, normed(gpt, gpt.blocks.empty() ? x : gpt.blocks.back()(x)));
         }},
    {.name = "blocks from the last to the first",
     .why =
         "The order of the blocks is part of what was learned: the first one stands next to the embedding.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           for (std::size_t i = gpt.blocks.size(); i > 0; --i) h = gpt.blocks[i - 1](h);
           return scored(gpt, normed(gpt, h));
         }},
    {.name = "softmax applied",
     .why =
         "Logits are asked for. The loss and the sampling do the softmax themselves; a second one flattens "
         "everything.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           return softmax(scored(gpt, normed(gpt, through(gpt, embedded(gpt, tokens)))));
         }},
    {.name = "context longer than the position table",
     .why =
         "Positions beyond the table were taken from its beginning again: two places look alike then, which "
         "no training has ever shown. Refuse, or cut the text before.",
     .where = "Longer than its table of positions",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           const Index T = Index(tokens.size()), C = gpt.embedding.size(1);
           Tensor h = empty({T, C});
           for (Index t = 0; t < T; ++t)
             for (Index c = 0; c < C; ++c)
               h(t, c) =
                   gpt.embedding(tokens.at(std::size_t(t)), c) + gpt.positions(t % gpt.positions.size(0), c);
           return scored(gpt, normed(gpt, through(gpt, h)));
         }},
    {.name = "a full table refused",
     .why = "L tokens use the positions 0 to L − 1, all of which exist. Only more than L are too many.",
     .where = "Longer than its table of positions",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           if (Index(tokens.size()) >= gpt.positions.size(0)) throw std::invalid_argument("too long");
           return scored(gpt, normed(gpt, through(gpt, embedded(gpt, tokens))));
         }},
    {.name = "a norm behind every block",
     .why = "The blocks have their norms inside. The final norm stands once, behind the last of them.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           for (const Block& block : gpt.blocks) h = normed(gpt, block(h));
           return scored(gpt, normed(gpt, h));
         }},
    {.name = "a residual around the blocks",
     .why = "h + block(h) adds the input twice: a block already returns its input with what it has added.",
     .where = "Half a Transformer",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           Tensor h = embedded(gpt, tokens);
           for (const Block& block : gpt.blocks) h = h + block(h);
           return scored(gpt, normed(gpt, h));
         }},
    {.name = "the last place only",
     .why = "Logits of all T places are asked for: in training every one of them is a question.",
     .where = "A text is its own teacher",
     .answer =
         [](const TinyGpt& gpt, const Ids& tokens) {
           const Tensor all = scored(gpt, normed(gpt, through(gpt, embedded(gpt, tokens))));
           return slice(all, 0, all.size(0) - 1, all.size(0));
         }},
};

inline int likeliest(const Tensor& logits, Index row) {
  int best = 0;
  for (int v = 1; v < int(logits.size(1)); ++v)
    if (logits(row, v) > logits(row, best)) best = v;
  return best;
}
inline Ids newest(const Ids& text, int limit) {
  return {text.end() - std::min<std::ptrdiff_t>(limit, std::ptrdiff_t(text.size())), text.end()};
}

inline const coach::Mistakes<decltype(exercise::generate)> generate = {
    {.name = "context longer than the position table",
     .why = "As soon as the text is longer than `limit`, the model is given more tokens than it has "
            "positions for, or a row is asked for that it does not return. Hand it the newest `limit` "
            "tokens, and count rows in what comes back.",
     .where = "Longer than its table of positions",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) text.push_back(likeliest(model(text), Index(text.size()) - 1));
           return text;
         }},
    {.name = "the oldest tokens kept",
     .why = "The first `limit` tokens were kept, and so the model never sees what it has just written: it "
            "says the same token for ever.",
     .where = "Longer than its table of positions",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(
                 {text.begin(), text.begin() + std::min<std::ptrdiff_t>(limit, std::ptrdiff_t(text.size()))});
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return text;
         }},
    {.name = "the first row of the logits",
     .why =
         "Row 0 is about what follows the first token of the context, and that is known. The next token is "
         "in the last row.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) text.push_back(likeliest(model(newest(text, limit)), 0));
           return text;
         }},
    {.name = "only the newest token read",
     .why =
         "The model got one token and no past. It has nothing else to remember with: it must read the text "
         "so far.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) text.push_back(likeliest(model({text.back()}), 0));
           return text;
         }},
    {.name = "what was written is not read back",
     .why =
         "Each token was chosen from the prompt alone, so all are the same. A token that was written is part "
         "of the text from then on.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(newest(prompt, limit));
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return text;
         }},
    {.name = "the prompt left out",
     .why = "Only the new tokens were returned; the result begins with the prompt.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(newest(text, limit));
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return Ids(text.begin() + std::ptrdiff_t(prompt.size()), text.end());
         }},
    {.name = "count taken for the whole length",
     .why = "It stopped when prompt and new tokens together were `count`. That many are to be written in "
            "addition.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           while (int(text.size()) < count) {
             const Tensor logits = model(newest(text, limit));
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return text;
         }},
    {.name = "the text itself cut",
     .why = "What the model reads has to be cut, not what was written: the beginning of the result is gone.",
     .where = "Longer than its table of positions",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             text = newest(text, limit);
             const Tensor logits = model(text);
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return text;
         }},
    {.name = "the best score begins at 0",
     .why = "The search for the highest logit starts from 0, but all may be negative: then none is higher, "
            "and token 0 is taken. Start from the first one.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(newest(text, limit));
             real highest = 0;
             int best = 0;
             for (int v = 0; v < int(logits.size(1)); ++v)
               if (logits(logits.size(0) - 1, v) > highest) highest = logits(logits.size(0) - 1, v), best = v;
             text.push_back(best);
           }
           return text;
         }},
    {.name = "one token too few read",
     .why =
         "The model can read `limit` tokens and got one less: the oldest of them was thrown away too early.",
     .where = "Longer than its table of positions",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(newest(text, limit - 1));
             text.push_back(likeliest(logits, logits.size(0) - 1));
           }
           return text;
         }},
    {.name = "the highest of all rows",
     .why = "The highest logit of the whole table was taken. The rows before the last speak about tokens "
            "that are there already.",
     .where = "Sampled while it trains",
     .answer =
         [](const Model& model, const Ids& prompt, int count, int limit) {
           Ids text = prompt;
           for (int i = 0; i < count; ++i) {
             const Tensor logits = model(newest(text, limit));
             text.push_back(likeliest(reshape(logits, {1, logits.numel()}), 0) % int(logits.size(1)));
           }
           return text;
         }},
};

}  // namespace mistakes
