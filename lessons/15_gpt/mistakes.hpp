// The wrong answers to exercise 15 that the grader knows by name.
#pragma once

#include "lessons/15_gpt/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Windows next_token_windows(const std::vector<int>& text, const std::vector<int>& starts, int T);
double next_token_loss(const Tensor& logits, const std::vector<int>& writes);
Tensor gpt_logits(const TinyGpt& gpt, const std::vector<int>& tokens);
std::vector<int> generate(const Model& model, const std::vector<int>& prompt, int count, int limit);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::Block, exercise::Model, exercise::TinyGpt, exercise::Windows;
using Ids = std::vector<int>;

// Windows whose reads and writes begin so many tokens after each start; `room`: tokens a window must have.
inline Windows cut(const Ids& text, const Ids& starts, int T, int reads_from, int writes_from, int room) {
  Windows windows{IntTensor({Index(starts.size()), T}), IntTensor({Index(starts.size()), T})};
  for (std::size_t b = 0; b < starts.size(); ++b) {
    if (starts[b] < 0 || starts[b] + room > int(text.size())) throw std::invalid_argument("outside");
    for (int t = 0; t < T; ++t) {
      windows.reads(b, t) = text.at(std::size_t(starts[b] + t + reads_from));
      windows.writes(b, t) = text.at(std::size_t(starts[b] + t + writes_from));
    }
  }
  return windows;
}

inline const coach::Mistakes<decltype(exercise::next_token_windows)> next_token_windows = {
    {.name = "target not shifted",
     .why = "The model writes the very token it reads. Copying is easy, the loss falls to nearly 0, and what "
            "was learned says nothing about what comes next.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 0, T + 1); }},
    {.name = "target not shifted, and no room asked for it",
     .why = "The model writes the very token it reads, and so a window of T tokens seemed enough. The target "
            "of the last one is the token behind it: T + 1 tokens of the text.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 0, T); }},
    {.name = "shifted the wrong way",
     .why = "Reads and writes are exchanged: the model learns to say the token before, which it has just "
            "seen.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 1, 0, T + 1); }},
    {.name = "shifted by two",
     .why =
         "Beside each token stands the one after the next: written text would leave out every other token.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 2, T + 1); }},
    {.name = "the window closed to a ring",
     .why = "The last target is the window's first token. In the text something else comes next: take one "
            "token more than T.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           const Windows windows = cut(text, starts, T, 0, 1, T + 1);
           for (Index b = 0; b < Index(starts.size()); ++b)
             if (T > 0) windows.writes(b, T - 1) = windows.reads(b, 0);
           return windows;
         }},
    {.name = "no target for the last token",
     .why = "The last target was left at 0. It exists: the token of the text right behind the window.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           const Windows windows = cut(text, starts, T, 0, 1, T + 1);
           for (Index b = 0; b < Index(starts.size()); ++b)
             if (T > 0) windows.writes(b, T - 1) = 0;
           return windows;
         }},
    {.name = "the last window refused",
     .why = "A window takes T + 1 tokens, and one that ends exactly with the text is fine.",
     .where = "A text is its own teacher",
     .answer = [](const Ids& text, const Ids& starts, int T) { return cut(text, starts, T, 0, 1, T + 2); }},
    {.name = "starts counted in windows",
     .why = "A start is a place in the text, not the number of a window: do not multiply it by T.",
     .where = "A text is its own teacher",
     .answer =
         [](const Ids& text, const Ids& starts, int T) {
           Ids scaled = starts;
           for (int& start : scaled) start *= T;
           return cut(text, scaled, T, 0, 1, T + 1);
         }},
};

inline double mean_loss(const Tensor& logits, const Ids& writes) {
  return double(cross_entropy(logits, IntTensor({Index(writes.size())}, writes)).item());
}

inline const coach::Mistakes<decltype(exercise::next_token_loss)> next_token_loss = {
    {.name = "sum instead of mean",
     .why = "A sum grows with the window: losses of different lengths could not be compared, and a longer "
            "window would mean larger steps.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) * double(writes.size()); }},
    {.name = "sign forgotten",
     .why = "Logarithms of probabilities are negative. The loss is how surprised the model is: −log P.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits, const Ids& writes) { return -mean_loss(logits, writes); }},
    {.name = "no logarithm",
     .why = "This is the mean of 1 − P. It hardly punishes a probability of nearly 0, and is no longer the "
            "surprise.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           const Tensor p = softmax(logits);
           double loss = 0;
           for (Index t = 0; t < p.size(0); ++t) loss += 1 - p(t, writes.at(std::size_t(t)));
           return loss / double(writes.size());
         }},
    {.name = "no softmax",
     .why =
         "Logits are no probabilities: the negative logit alone can be made as small as one likes by adding "
         "to all of them.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) loss -= logits(t, writes.at(std::size_t(t)));
           return loss / double(writes.size());
         }},
    {.name = "averaged over the vocabulary as well",
     .why =
         "There are T surprises to average, one for each place. The number of tokens in the vocabulary has "
         "no part in it.",
     .where = "A text is its own teacher",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) / double(logits.size(1)); }},
    {.name = "bits instead of nats",
     .why =
         "This is the logarithm to base 2. It is a fair measure of surprise, but the contract asks for the "
         "natural one.",
     .where = "Sampled while it trains",
     .answer = [](const Tensor& logits,
                  const Ids& writes) { return mean_loss(logits, writes) / std::log(2.0); }},
    {.name = "no maximum subtracted",
     .why =
         "exp(1000) is infinite, and so is the loss then. Subtract the row's largest logit first: it changes "
         "no probability.",
     .where = "A text is its own teacher",
     .answer =
         [](const Tensor& logits, const Ids& writes) {
           double loss = 0;
           for (Index t = 0; t < logits.size(0); ++t) {
             double sum = 0;
             for (Index v = 0; v < logits.size(1); ++v) sum += std::exp(logits(t, v));
             loss -= std::log(std::exp(logits(t, writes.at(std::size_t(t)))) / sum);
           }
           return loss / double(writes.size());
         }},
};

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
     .why =
         "The whole text was given to the model, which has no positions beyond `limit`. Hand it the newest "
         "part.",
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
};

}  // namespace mistakes
