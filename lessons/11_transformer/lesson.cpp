/// `The cat sleeps` is `le chat dort`, word for word. But `the black cat` is `le chat noir`, in another
/// order, and `I am hungry` is `j'ai faim`, two words for three. A translator has to read a whole sentence,
/// then write another one of another length, word by word, with an eye on what it has read and on what it
/// has written. You have all the parts for that: attention (lesson 06), masks (07), heads (08), positions
/// (09), residuals, norms and feed-forward networks (10). The Transformer (Vaswani et al., 2017) puts them
/// together as a reader and a writer:
///
/// - the **encoder** reads the source: every word looks at every word. Out comes the **memory**, a vector for
///   each source word that knows its context;
/// - the **decoder** writes the target: each word looks at the words before it, then at the memory, and
///   guesses the next word.
///
/// Letters for sizes: S words in the source, T in the target, C = d_model channels, H heads of D = C / H
/// channels, V words in the vocabulary; B sentences in a batch, which is 1 here. Tokens are rows: x W.
#include "lessons/11_transformer/pictures.hpp"

#include <algorithm>  // max, sort
#include <cmath>      // exp, log, sqrt
#include <iterator>   // ssize
#include <numeric>    // accumulate, inner_product

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

/// ## The architecture
///
/// Here is the whole machine. Read it upwards. On the left the source words become vectors (lesson 05), get
/// their positions (09) and pass N encoder layers. (*Layer* is the paper's word for a block of lesson 10; an
/// attention or a feed-forward network inside it is a *sublayer*.) On the right the target words, shifted, do
/// the same through N decoder layers. The three arrows into each attention are its queries, keys and values:
/// in self-attention all three come from below, and in cross-attention K and V come from the memory. All
/// layers of the decoder look at the same memory, that of the last encoder layer. At the end each vector is
/// compared with the embeddings of all words, and softmax turns these scores into a guess.
void architecture(Lesson& lesson, const TransformerConfig& config, Index S, Index T) {
  lesson.picture("architecture.png", draw_architecture(config, S, T), "The whole Transformer",
                 "Below each name is the shape of what comes out. Only one line crosses from the encoder to "
                 "the decoder: the memory, which gives cross-attention its keys and values.");
}

const std::vector<std::string> english = {"the", "cat", "sleeps"};
const std::vector<std::string> french = {"<bos>", "le", "chat", "dort"};

using Word = std::vector<double>;  // C numbers

std::vector<Word> words_of(const Tensor& x) {  // (T, C)
  std::vector<Word> words;
  for (Index t = 0; t < x.size(0); ++t) {
    const std::vector<real> row = x[t].values();
    words.emplace_back(row.begin(), row.end());
  }
  return words;
}

Word project(const Linear& layer, const Word& x) {  // x W + b; the library keeps W transposed
  Word y;
  for (Index i = 0; i < layer.weight.size(0); ++i) {
    y.push_back(layer.bias(i));
    for (Index j = 0; j < std::ssize(x); ++j) y.back() += layer.weight(i, j) * x[j];
  }
  return y;
}

// One word asks, and those that it may see answer: a word that is hidden from it is not on the list.
Word ask(const MultiHeadAttention& layer, const Word& asking, const std::vector<Word>& answering) {
  const Word q = project(layer.query, asking);
  Word mixture(q.size(), 0.0);
  double sum = 0;
  for (const Word& word : answering) {
    const Word k = project(layer.key, word), v = project(layer.value, word);
    const double score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / std::sqrt(double(q.size()));
    sum += std::exp(score);
    for (Index d = 0; d < std::ssize(v); ++d) mixture[d] += std::exp(score) * v[d];
  }
  for (double& value : mixture) value /= sum;
  return project(layer.output, mixture);
}

Word feed_forward(const FeedForward& layer, const Word& x) {
  Word hidden = project(layer.first, x);  // (d_ff)
  for (double& value : hidden) value = std::max(value, 0.0);
  return project(layer.second, hidden);
}

// LN(x + change). Fresh norms have gain 1 and bias 0: they only centre and scale.
Word add_and_norm(Word x, const Word& change) {
  double mean = 0, variance = 0;
  for (Index c = 0; c < std::ssize(x); ++c) mean += (x[c] += change[c]) / double(x.size());
  for (const double value : x) variance += (value - mean) * (value - mean) / double(x.size());
  for (double& value : x) value = (value - mean) / std::sqrt(variance + 1e-5);
  return x;
}

// What the decoder makes of the last word written, step by step.
struct Newest {
  Word looked_back, looked_at_source, output;
};

Newest newest_word(const Block& block, const std::vector<Word>& written, const std::vector<Word>& memory) {
  Newest word;
  word.looked_back = add_and_norm(written.back(), ask(block.self, written.back(), written));
  // The queries are its own, keys and values come from the encoder.
  word.looked_at_source = add_and_norm(word.looked_back, ask(block.cross, word.looked_back, memory));
  word.output = add_and_norm(word.looked_at_source, feed_forward(block.feed_forward, word.looked_at_source));
  return word;
}

/// ## Two kinds of layer
///
/// Three English words are read, and `<bos> le chat dort` has been written (`<bos>`, *beginning of sentence*,
/// is what the decoder starts from). To see every number, each word has three channels, there is one layer on
/// each side with one head, and the weights are random.
///
/// $$ encoder:  x = LN(x + Self(x)),  x = LN(x + FFN(x)) $$
///
/// $$ decoder:  y = LN(y + Masked(y)),  y = LN(y + Cross(y, memory)), $$
///
/// $$ y = LN(y + FFN(y)) $$
///
/// Self and Masked are self-attention, Masked with the future hidden; in Cross the queries come from y, the
/// keys and values from the memory; FFN is the feed-forward network.
void two_layers(Lesson& lesson) {
  const Tensor source = tensor({{0.0, 0.1, 0.0}, {1.0, 0.1, 0.1}, {0.1, 0.0, 1.0}});             // (S, C)
  const Tensor target = tensor({{0, 0, 0}, {0.1, 0.1, 0.0}, {0.9, 0.0, 0.1}, {0.1, 0.1, 0.9}});  // (T, C)
  const TransformerConfig config{.d_model = 3, .heads = 1, .d_ff = 5, .dropout = 0};
  Rng rng(lesson.seed);
  const Block encoder(config, BlockKind::encoder, rng), decoder(config, BlockKind::decoder, rng);
  const Tensor memory = encoder(reshape(source, {1, 3, 3}));  // (1, S, C) -> (1, S, C)
  const Tensor output =
      decoder(reshape(target, {1, 4, 3}),
              {.mask = {.causal = true}, .memory = {memory}});  // (1, T, C), (1, S, C) -> (1, T, C)
  lesson.say("The source as it goes in, and the memory, what the encoder makes of it:");
  lesson.numbers(concat({source, memory[0]}, 1), english, {"in", "", "", "memory", "", ""});

  /// The decoder's last word, `dort`, on its way through the layer. From the last line the word after `dort`
  /// will be guessed:
  std::vector<Word> written;
  double worst = 0;
  Newest newest;
  for (const Word& word : words_of(target)) {
    written.push_back(word);
    newest = newest_word(decoder, written, words_of(memory[0]));
    for (Index c = 0; c < 3; ++c)
      worst = std::max(worst, std::fabs(newest.output[c] - output(0, std::ssize(written) - 1, c)));
  }
  const auto row = [](const std::string& step, const Word& x) {
    return std::vector<std::string>{step, fmt::format("{:.2f}", x[0]), fmt::format("{:.2f}", x[1]),
                                    fmt::format("{:.2f}", x[2])};
  };
  lesson.table({"dort", "[0]", "[1]", "[2]"},
               {row("goes in", written.back()), row("has looked at <bos> le chat dort", newest.looked_back),
                row("has looked at the memory", newest.looked_at_source),
                row("after the feed-forward network", newest.output)});

  /// These numbers come from loops that write one word at a time: each word asks the words written so far,
  /// and there is no future to hide. The library computes all words at once, with a mask.
  lesson.claim(worst < 1e-5,
               "word by word and all at once give the same four rows: largest difference {:.1e}", worst);
  lesson.claim(memory.shape() == Shape{1, 3, 3} && output.shape() == Shape{1, 4, 3},
               "the source {} stays {}, the target {} stays {}: no layer changes the shape, so layers can be "
               "stacked",
               memory.shape().str(), memory.shape().str(), output.shape().str(), output.shape().str());
}

// The loss on targets of random words, which nobody can guess: an honest model can do no better than log 8.
double loss_on_noise(bool shifted, Index steps, std::uint64_t seed) {
  const Index B = 16, T = 6, first = 3, V = first + 8;
  Rng rng(seed);
  const Transformer model({.source_vocabulary = V,
                           .vocabulary = V,
                           .d_model = 16,
                           .heads = 2,
                           .encoder_layers = 1,
                           .decoder_layers = 1,
                           .d_ff = 32,
                           .dropout = 0},
                          rng);
  Adam adam(parameters_of(model), paper_adam());
  Rng noise(seed + 1);
  const History history =
      train(adam, {.steps = steps, .schedule = {.peak = 5e-3, .warmup = 10}, .progress = false},
            {.loss = [&](Index) {
              IntTensor source({B, T}), target({B, T});
              for (Index i = 0; i < B * T; ++i) {
                source[i] = int(first + noise.below(8));
                target[i] = int(first + noise.below(8));
              }
              const Tensor logits = model(source, shifted ? shift_right(target, 1) : target);  // (B, T, V)
              return StepLoss{cross_entropy(logits, target), B * T};
            }});
  double last = 0;
  for (Index i = std::ssize(history.steps) - 10; i < std::ssize(history.steps); ++i)
    last += history.steps[i].loss / 10;
  return last;
}

/// ## Shifted targets
///
/// In training the whole target is known, and the decoder guesses all its words in one pass. At each position
/// it may read the words before the one that it has to write. That is what its input is: the target shifted
/// right by one, with <bos> in front:
void shifted_targets(Lesson& lesson) {
  const std::vector<std::string> words = {"<pad>", "<bos>", "<eos>", "le", "chat", "dort"};
  const IntTensor target({1, 4}, {3, 4, 5, 2});
  const IntTensor reads = shift_right(target, 1);  // (1, T)
  std::vector<std::vector<std::string>> rows;
  for (Index t = 0; t < 4; ++t) rows.push_back({fmt::format("{}", t), words[reads[t]], words[target[t]]});
  lesson.table({"position", "it reads", "it must write"}, rows);

  /// The causal mask lets a position see itself. If you forget the shift, it sees the very word that it has
  /// to write. Small models show what happens. Their targets are words drawn at random from 8, so nobody can
  /// do better than guess. Median of five models, and in brackets the smallest and the largest:
  const Index steps = lesson.fast ? 100 : 250;
  const auto losses = [&](bool shifted) {
    std::vector<double> ends;
    for (std::uint64_t i = 0; i < 5; ++i) ends.push_back(loss_on_noise(shifted, steps, 5 * lesson.seed + i));
    std::sort(ends.begin(), ends.end());
    return ends;
  };
  const std::vector<double> honest = losses(true), cheating = losses(false);
  const auto row = [](const std::string& name, const std::vector<double>& ends) {
    return std::vector<std::string>{name,
                                    fmt::format("{:.2f} [{:.2f} {:.2f}]", ends[2], ends.front(), ends.back()),
                                    fmt::format("{:.2f}", std::exp(-ends[2]))};
  };
  lesson.table({"decoder reads", "loss", "probability of the right word, e^−loss"},
               {row("the shifted target", honest), row("the target", cheating)});
  lesson.claim(honest.front() > 0.95 * std::log(8.0),
               "shifted, no model gets more than 5% below guessing, log 8 = {:.2f}", std::log(8.0));
  lesson.claim(cheating.back() < 0.25 * honest.front(),
               "without the shift the loss is too good to be true: they copy their input, and when "
               "they write there will be nothing to copy");
}

/// ## Three attentions, three views
///
/// | attention | queries from | keys and values from | hidden |
/// |---|---|---|---|
/// | encoder, self | source | source | padding |
/// | decoder, masked self | target | target | later words, padding |
/// | decoder, cross | target | memory | padding of the source |
///
/// Does it hold for a whole model? We take one of 2 + 2 layers, with a source of four words and one position
/// of padding and a target of six. We exchange one word for another, and see which of the decoder's six
/// outputs change:
void who_sees_what(Lesson& lesson) {
  Rng rng(lesson.seed);
  const Transformer model({.source_vocabulary = 20,
                           .vocabulary = 20,
                           .d_model = 16,
                           .heads = 2,
                           .encoder_layers = 2,
                           .decoder_layers = 2,
                           .d_ff = 32,
                           .dropout = 0},
                          rng);
  const NoGrad no_grad;
  const std::vector<int> source{5, 6, 7, 8, 0}, target{1, 9, 10, 11, 12, 13};
  const auto logits = [&](const std::vector<int>& read, const std::vector<int>& written) {
    const Tokens padded(IntTensor({1, 5}, read), IntTensor({1}, {4}));  // the last word is padding
    return model(padded, written);                                      // (1, T, V)
  };
  const Tensor before = logits(source, target);
  const auto moved = [&](const std::vector<int>& other_source, const std::vector<int>& other_target) {
    const Tensor after = logits(other_source, other_target);
    std::vector<bool> moves;
    for (Index t = 0; t < 6; ++t)
      moves.push_back(max_difference(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1)) > 1e-6);
    return moves;
  };
  const std::vector<bool> by_target = moved(source, {1, 9, 10, 14, 12, 13});
  const std::vector<bool> by_source = moved({5, 6, 15, 8, 0}, target);
  const std::vector<bool> by_padding = moved({5, 6, 7, 8, 16}, target);
  const auto marks = [](const std::string& name, const std::vector<bool>& moves) {
    std::vector<std::string> row{name};
    for (const bool move : moves) row.push_back(move ? "changes" : "·");
    return row;
  };
  lesson.table({"exchanged", "0", "1", "2", "3", "4", "5"},
               {marks("target word 3", by_target), marks("source word 2", by_source),
                marks("source padding", by_padding)});
  lesson.claim(by_target == std::vector<bool>{false, false, false, true, true, true},
               "a target word reaches its own position and the later ones, never an earlier one");
  lesson.claim(by_source == std::vector<bool>(6, true), "a source word reaches every position of the target");
  lesson.claim(by_padding == std::vector<bool>(6, false), "padding reaches nothing");
}

/// ## Shapes, from words to a guess
void shapes(Lesson& lesson, const Transformer& model, const IntTensor& source, const IntTensor& target) {
  const TransformerConfig& config = model.config;
  const Index V = config.vocabulary;
  lesson.say(
      "{}: N = {} layers each, d_model = {}, h = {} heads, d_ff = {}, {} words. {} words are read, <bos> and "
      "{} words are written already:",
      lesson.fast ? "A small model (without --fast it is the paper's)" : "The paper's base model",
      config.encoder_layers, config.d_model, config.heads, grouped(config.d_ff), grouped(V),
      source.shape()[1], target.shape()[1] - 1);
  const NoGrad no_grad;
  AttentionMaps maps;
  const Context showing{.maps = &maps};
  const Tensor embedded = model.source_embedding(source);                  // (1, S, C)
  const Tensor placed = model.encoder.positions.add_to(embedded);          // (1, S, C)
  const Memory memory = model.encode(source, showing);                     // (1, S, C)
  const Tensor read = model.target_embedding(target);                      // (1, T, C)
  const Tensor states = model.decoder(read, {.memory = memory}, showing);  // (1, T, C)
  const Tensor logits = model.logits(states);                              // (1, T, V)
  const Tensor guess = softmax(select(logits, 1, -1));                     // (1, V)
  const auto weights = [&](const std::string& name) {
    for (const AttentionMap& map : maps)
      if (map.name == name) return map.weights.shape().str();
    return std::string("?");
  };
  const Block &reader = model.encoder.blocks[0], &writer = model.decoder.blocks[0];
  const auto heads = [&](const Linear& projection, const Tensor& x) {
    return split_heads(projection(x), config.heads).shape().str();
  };
  const Tensor inside = reader.feed_forward.first(placed);  // (1, S, d_ff)
  lesson.table({"step", "shape", "letters"},
               {{"source words", source.shape().str(), "(B, S)"},
                {"embeddings · √C, + positions", placed.shape().str(), "(B, S, C)"},
                {"encoder: q, k, v, each", heads(reader.self.query, placed), "(B, H, S, D)"},
                {"  weights", weights("encoder"), "(B, H, S, S)"},
                {"  inside the feed-forward", inside.shape().str(), "(B, S, d_ff)"},
                {"memory", memory.states.shape().str(), "(B, S, C)"},
                {"target words, shifted", target.shape().str(), "(B, T)"},
                {"decoder: q, k, v, each", heads(writer.self.query, read), "(B, H, T, D)"},
                {"  weights, causal", weights("decoder"), "(B, H, T, T)"},
                {"cross-attention: q", heads(writer.cross.query, read), "(B, H, T, D)"},
                {"  k and v, from the memory", heads(writer.cross.key, memory.states), "(B, H, S, D)"},
                {"  weights", weights("cross"), "(B, H, T, S)"},
                {"decoder's output", states.shape().str(), "(B, T, C)"},
                {"scores of all words (logits)", logits.shape().str(), "(B, T, V)"},
                {"softmax of the last row", guess.shape().str(), "(B, V)"}});

  /// The last row is the guess for the next word. When the model writes, that row is all it needs; in
  /// training every row is a guess that can be compared with the target, T guesses in one pass.
  lesson.claim(guess.shape() == Shape{1, V} && std::fabs(sum(guess).item() - 1) < 1e-3,
               "the guess is one probability for each of {} words, and they sum to 1", grouped(V));
  lesson.claim(max_difference(model(source, target), logits) < 1e-3,
               "model(source, target) is all these steps in one call");
}

// How many numbers each part of a model learns, of all its layers together.
std::vector<Index> counts_of(const TransformerConfig& config) {
  Rng rng(1);
  const Index N = config.encoder_layers, embedding = config.vocabulary * config.d_model,
              attention = parameters_of(MultiHeadAttention(config, rng)).count(),
              feed_forward = parameters_of(FeedForward(config, rng)).count(),
              norm = parameters_of(Norm(NormKind::layer, config.d_model)).count();
  return {embedding,     N * attention, N * feed_forward, 2 * N * norm,
          N * attention, N * attention, N * feed_forward, 3 * N * norm};
}

TransformerConfig base_config() {
  return {
      .source_vocabulary = 37000, .vocabulary = 37000, .share_embeddings = true};  // the rest: the paper's
}

/// ## Tied embeddings
///
/// Words become vectors in two places, source and target, and a vector becomes scores of words in one. If
/// both languages share a vocabulary, a single table E (V, C) can do all three: the score of word w is the
/// dot product of the decoder's output with row w of E. That is called *tying* (Press and Wolf, 2017).
void tied_embeddings(Lesson& lesson, const Transformer& model) {
  const Tensor& table = model.target_embedding.table;
  lesson.claim(model.source_embedding.table.is(table),
               "source and target share one table of shape {}, which is learned once", table.shape().str());
  Rng rng(lesson.seed);
  const NoGrad no_grad;
  const Tensor state = normal({1, 1, model.config.d_model}, rng);
  const Tensor scores = model.logits(state), by_hand = matmul(state[0], table, Transpose::second);
  lesson.claim(max_difference(scores[0], by_hand) < 1e-3, "and the scores are x Eᵀ, with the same table");
}

/// ## 63,082,496 numbers
///
/// How large is the paper's base model? N = 6 layers on each side, C = 512, d_ff = 2,048, V = 37,000:
///
/// $$ V C + N · (3 attentions + 2 feed-forwards + 5 norms) $$
///
/// An attention is four matrices (C, C) with biases, a feed-forward network two matrices with biases, a norm
/// a gain and a bias. An encoder layer has one attention, a decoder layer two. There is no norm after the
/// last layer: under post-norm the layer ends with one.
void count_parameters(Lesson& lesson, const Transformer& model) {
  const TransformerConfig base = base_config();
  const std::vector<Index> counts = counts_of(base), ours = counts_of(model.config);
  const std::vector<std::string> names = {
      "embedding, used three times", "encoder: self-attention",  "encoder: feed-forward", "encoder: norms",
      "decoder: self-attention",     "decoder: cross-attention", "decoder: feed-forward", "decoder: norms"};
  const Index total = std::accumulate(counts.begin(), counts.end(), Index(0));
  std::vector<std::vector<std::string>> rows;
  std::vector<double> millions;
  for (Index i = 0; i < std::ssize(names); ++i) {
    millions.push_back(1e-6 * double(counts[i]));
    rows.push_back(
        {names[i], grouped(counts[i]), fmt::format("{:.1f}%", 100 * double(counts[i]) / double(total))});
  }
  rows.push_back({"all", grouped(total), "100.0%"});
  lesson.table({"part", "numbers", "share"}, rows);
  lesson.claim(total == 63082496,
               "the base model with one shared embedding of 37,000 has exactly {} parameters",
               grouped(total));
  lesson.claim(parameters_of(model).count() == std::accumulate(ours.begin(), ours.end(), Index(0)),
               "the model {} holds as many as its parts, counted one by one: {}",
               lesson.fast ? "of --fast" : "that was just traced, of that size,",
               grouped(parameters_of(model).count()));
  lesson.say(
      "The paper says 65 million and does not say how it counted. Its vocabulary is `about 37,000`, and 65 "
      "million is rounded: a table of {} entries would explain the difference. Two more tables, untied, "
      "would be {} numbers more.",
      grouped(37000 + (65000000 - total) / base.d_model), grouped(2 * counts[0]));
  lesson.picture("parameters.png",
                 viz::bar_chart(names, millions,
                                {.title = "Where 63 million parameters are",
                                 .value_title = "millions of parameters",
                                 .colors = {3, 0, 1, 2, 0, 0, 1, 2}}),
                 "Parameters by part",
                 "Red: the embedding. Orange: feed-forward networks. Blue: attentions. Green, the norms, are "
                 "too few to be seen.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "11_transformer", .question = "How do all the parts make one machine?"},
      [](Lesson& lesson) {
        Rng rng(lesson.seed);
        TransformerConfig config = base_config();
        if (lesson.fast)
          config = {.source_vocabulary = 1000,
                    .vocabulary = 1000,
                    .d_model = 64,
                    .heads = 4,
                    .encoder_layers = 2,
                    .decoder_layers = 2,
                    .d_ff = 256,
                    .share_embeddings = true};
        const Transformer model(config, rng);
        const IntTensor source({1, 5}, {11, 12, 13, 14, 2}), target({1, 4}, {1, 21, 22, 23});
        architecture(lesson, config, source.shape()[1], target.shape()[1]);
        two_layers(lesson);
        shifted_targets(lesson);
        who_sees_what(lesson);
        shapes(lesson, model, source, target);
        tied_embeddings(lesson, model);
        count_parameters(lesson, model);
        /// ## Check yourself
        ///
        /// - **What are encoder and decoder for?** The encoder turns the source into a memory, a vector per
        ///   word that knows its context. The decoder writes the target one word after the other and looks at
        ///   that memory through cross-attention.
        /// - **What goes in, what comes out?** Source words (B, S) and target words shifted right (B, T).
        ///   The memory is (B, S, C), the weights of cross-attention (B, H, T, S), and the result (B, T, V):
        ///   at each position a score for every word that might come next.
        /// - **What goes wrong without the shift or the causal mask?** The decoder sees the word that it has
        ///   to write. The loss becomes very small in training, and the model cannot write.
        ///
        /// ## Read on
        ///
        /// - Vaswani et al., 2017: *Attention is all you need*, section 3 and figure 1.
        /// - Sasha Rush, 2018: *The annotated transformer*. The paper, line by line in PyTorch.
        /// - Press and Wolf, 2017: *Using the output embedding to improve language models*. Tying.
        /// - Phuong and Hutter, 2022: *Formal algorithms for transformers*. The family in pseudocode, with
        ///   every shape.
        lesson.try_next(
            {{"In newest_word, hand `written` instead of `memory` to the second ask.",
              "The first claim fails: this decoder asks its own words twice and never the source."},
             {"In who_sees_what, build `padded` without its length: Tokens padded(IntTensor({1, 5}, read)).",
              "The claim about padding fails: a word that is not there changes every output."},
             {"In base_config, set .share_embeddings = false, and run without --fast.",
              "Two claims fail: there are two tables instead of one, and the model has 82,026,496 "
              "parameters, 18,944,000 more."}});
      });
}
