/// All pieces are there: attention (06), masks (07), heads (08), positions (09), residuals and norms (10).
/// The Transformer puts them together as a reader and a writer:
///
/// - the **encoder** reads the source at once, every word looks at every word: (S, C) -> (S, C);
/// - the **decoder** writes the target: each word looks at the words before it, then at the encoder's
///   output, and guesses the next word: (T, C) -> (T, V).
///
/// Letters for sizes: S source time, T target time, C = d_model, H heads, D = C / H, V vocabulary; B, the
/// batch, is 1 here.
#include <algorithm>  // max
#include <cmath>      // exp, log, sqrt
#include <iterator>   // ssize
#include <map>        // map
#include <numeric>    // accumulate, inner_product

#include "core/autograd.hpp"
#include "lessons/support/lesson.hpp"
#include "nn/transformer.hpp"
#include "optim/trainer.hpp"

using namespace attn;

namespace {

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

Word project(const Linear& layer, const Word& x) {  // y = W x + b
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

// What the decoder makes of the last word written: it looks back, it looks at the source, it thinks. The
// queries are its own, keys and values of the second look come from the encoder.
Word newest_word(const Block& block, const std::vector<Word>& written, const std::vector<Word>& memory) {
  const Word informed = add_and_norm(written.back(), ask(block.self, written.back(), written));
  const Word found = add_and_norm(informed, ask(block.cross, informed, memory));
  return add_and_norm(found, feed_forward(block.feed_forward, found));
}

/// ## Two kinds of layer
///
/// Three English words are read, three French words are to be written. Each word is three numbers, each
/// layer has one head and weights that nobody has trained yet.
///
/// $$ encoder:  x = LN(x + Self(x)),    x = LN(x + FFN(x)) $$
///
/// $$ decoder:  y = LN(y + Masked(y)),  y = LN(y + Cross(y, memory)),  y = LN(y + FFN(y)) $$
///
/// Self, Masked and Cross are attentions, FFN is the feed-forward network; memory is what the encoder made
/// of the source.
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
  lesson.say("What the encoder hands over, a row for each English word, seen in the light of the others:");
  lesson.numbers(memory[0], english);
  /// What the decoder makes of that, a row for each French word that it has read; from each row the next word
  /// will be guessed:
  lesson.numbers(output[0], french);
  /// The library computes all rows at once and hides the future by a mask. With loops, one word at a time is
  /// enough: each asks itself and the words before it, for nothing else is written yet.
  double worst = 0;
  std::vector<Word> written;
  for (const Word& word : words_of(target)) {
    written.push_back(word);
    const Word by_hand = newest_word(decoder, written, words_of(memory[0]));
    for (Index c = 0; c < 3; ++c)
      worst = std::max(worst, std::fabs(by_hand[c] - output(0, std::ssize(written) - 1, c)));
  }
  lesson.claim(worst < 1e-5, "the loops, word by word, give the same four rows: largest difference {:.1e}",
               worst);
  lesson.claim(memory.shape() == Shape{1, 3, 3} && output.shape() == Shape{1, 4, 3},
               "memory is {}, output is {}: a layer never changes the shape, so layers can be stacked",
               memory.shape().str(), output.shape().str());
}

// Targets that nobody can guess (random words): an honest model can do no better than log(8). With no shift,
// the decoder reads at place t the very word that it has to write there.
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
/// The decoder guesses the next word at all places at once. So that it has something to guess, its input is
/// the target moved by one to the right, with <bos> in front:
void shifted_targets(Lesson& lesson) {
  const std::vector<std::string> words = {"<pad>", "<bos>", "<eos>", "le", "chat", "dort"};
  const IntTensor target({1, 4}, {3, 4, 5, 2});
  const IntTensor reads = shift_right(target, 1);  // (1, T)
  std::vector<std::vector<std::string>> rows;
  for (Index t = 0; t < 4; ++t) rows.push_back({fmt::format("{}", t), words[reads[t]], words[target[t]]});
  lesson.table({"place", "it reads", "it must write"}, rows);
  /// What if one forgets to? Two small models get targets of random words that nobody can know. One reads the
  /// shifted targets, the other the targets themselves:
  const Index steps = lesson.fast ? 100 : 250;
  const double honest = loss_on_noise(true, steps, lesson.seed);
  const double cheating = loss_on_noise(false, steps, lesson.seed);
  lesson.table(
      {"decoder reads", "loss", "probability of the right word, e^−loss"},
      {{"the shifted target", fmt::format("{:.2f}", honest), fmt::format("{:.2f}", std::exp(-honest))},
       {"the target", fmt::format("{:.2f}", cheating), fmt::format("{:.2f}", std::exp(-cheating))}});
  lesson.claim(honest > 0.95 * std::log(8.0),
               "shifted, it can only guess among 8 words: the loss stays at log 8 = {:.2f}", std::log(8.0));
  lesson.claim(cheating < 0.25 * honest,
               "without the shift it falls far below, a loss too good to be true: the model copies its "
               "input, and could not write a single word");
}

/// ## Three attentions, three views
///
/// The encoder's self-attention sees the whole source, the decoder's only what is written already, and
/// cross-attention lets every target word see the whole source, but no padding. Measured on a model of 2 +
/// 2 layers: one word is exchanged for another. Which of the decoder's six outputs move?
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
    for (const bool move : moves) row.push_back(move ? "moves" : "·");
    return row;
  };
  lesson.table({"exchanged", "0", "1", "2", "3", "4", "5"},
               {marks("target word 3", by_target), marks("source word 2", by_source),
                marks("source padding", by_padding)});
  lesson.claim(by_target == std::vector<bool>{false, false, false, true, true, true},
               "a target word reaches its own place and the later ones, never an earlier one");
  lesson.claim(by_source == std::vector<bool>(6, true), "a source word reaches every place of the target");
  lesson.claim(by_padding == std::vector<bool>(6, false), "padding reaches nothing");
}

struct Traced {
  Index S, T, C, V, layers;
};

Traced shapes(Lesson& lesson, const Transformer& model) {
  /// ## Shapes, from words to a guess
  const TransformerConfig& config = model.config;
  const Index V = config.vocabulary, H = config.heads;
  lesson.say(
      "{}: N = {} layers each, d_model = {}, h = {} heads, d_ff = {}, {} words. Five words are read, <bos> "
      "and three words are written already:",
      lesson.fast ? "A small model (without --fast it is the paper's)" : "The paper's base model",
      config.encoder_layers, config.d_model, H, config.d_ff, V);
  const NoGrad no_grad;
  AttentionMaps maps;
  const Context showing{.maps = &maps};
  const IntTensor source({1, 5}, {11, 12, 13, 14, 2}), target({1, 4}, {1, 21, 22, 23});
  const Tensor embedded = model.source_embedding(source);                  // (1, S, C)
  const Tensor placed = model.encoder.positions.add_to(embedded);          // (1, S, C)
  const Memory memory = model.encode(source, showing);                     // (1, S, C)
  const Tensor read = model.target_embedding(target);                      // (1, T, C)
  const Tensor states = model.decoder(read, {.memory = memory}, showing);  // (1, T, C)
  const Tensor logits = model.logits(states);                              // (1, T, V)
  const Tensor guess = softmax(select(logits, 1, -1));                     // (1, V)
  const auto map_shape = [&](const std::string& name) {
    for (const AttentionMap& map : maps)
      if (map.name == name) return map.weights.shape().str();
    return std::string("?");
  };
  lesson.table({"step", "shape", "letters"},
               {{"source words", source.shape().str(), "(B, S)"},
                {"their embeddings · √d_model", embedded.shape().str(), "(B, S, C)"},
                {"+ positions", placed.shape().str(), "(B, S, C)"},
                {"encoder: who looks at whom", map_shape("encoder"), "(B, H, S, S)"},
                {"encoder's output, the memory", memory.states.shape().str(), "(B, S, C)"},
                {"target words, shifted", target.shape().str(), "(B, T)"},
                {"decoder: self-attention, causal", map_shape("decoder"), "(B, H, T, T)"},
                {"decoder: cross-attention", map_shape("cross"), "(B, H, T, S)"},
                {"decoder's output", states.shape().str(), "(B, T, C)"},
                {"scores of all words (logits)", logits.shape().str(), "(B, T, V)"},
                {"softmax of the last row", guess.shape().str(), "(B, V)"}});
  lesson.say(
      "The source is n × d = 5 × {}, what comes out of the decoder k × d = 4 × {}, and its last row becomes "
      "1 × V: which word comes next. In training all rows are used: k guesses for the price of one pass.",
      config.d_model, config.d_model);
  lesson.claim(guess.shape() == Shape{1, V} && std::fabs(sum(guess).item() - 1) < 1e-3,
               "the guess is one probability for each of {} words; they sum to 1", V);
  const Tensor whole = model(source, target);
  lesson.claim(max_difference(whole, logits) < 1e-3, "and model(source, target) is these steps, in one call");
  return {5, 4, config.d_model, V, config.encoder_layers};
}

/// ## The architecture
void architecture(Lesson& lesson, const Traced& run, const TransformerConfig& config) {
  const auto shape = [](Index a, Index b) { return fmt::format("({}, {})", a, b); };
  const std::string s = shape(run.S, run.C), t = shape(run.T, run.C);
  enum { attention_color = 0, feed_color = 1, norm_color = 2, embedding_color = 3 };
  const std::vector<viz::GraphNode> boxes = {
      {.label = "source words", .value = shape(1, run.S)},                                            // 0
      {.label = "embedding · √d + positions", .value = s, .color = embedding_color},                  // 1
      {.label = "self-attention", .value = s, .color = attention_color},                              // 2
      {.label = "add & norm", .value = s, .color = norm_color},                                       // 3
      {.label = "feed-forward", .value = shape(run.S, config.d_ff), .color = feed_color},             // 4
      {.label = "add & norm", .value = s, .color = norm_color},                                       // 5
      {.label = "target words, shifted", .value = shape(1, run.T), .lane = 1},                        // 6
      {.label = "embedding · √d + positions", .value = t, .color = embedding_color, .lane = 1},       // 7
      {.label = "masked self-attention", .value = t, .color = attention_color, .lane = 1},            // 8
      {.label = "add & norm", .value = t, .color = norm_color, .lane = 1},                            // 9
      {.label = "cross-attention", .value = t, .color = attention_color, .lane = 1},                  // 10
      {.label = "add & norm", .value = t, .color = norm_color, .lane = 1},                            // 11
      {.label = "feed-forward", .value = shape(run.T, config.d_ff), .color = feed_color, .lane = 1},  // 12
      {.label = "add & norm", .value = t, .color = norm_color, .lane = 1},                            // 13
      {.label = "linear: embedding, transposed",
       .value = shape(run.T, run.V),
       .color = embedding_color,
       .lane = 1},                                                               // 14
      {.label = "softmax: the next word", .value = shape(1, run.V), .lane = 1},  // 15
  };
  const std::vector<viz::GraphEdge> arrows = {{.from = 0, .to = 1},
                                              {.from = 1, .to = 2},
                                              {.from = 2, .to = 3},
                                              {.from = 3, .to = 4},
                                              {.from = 4, .to = 5},
                                              {.from = 5, .to = 10},
                                              {.from = 6, .to = 7},
                                              {.from = 7, .to = 8},
                                              {.from = 8, .to = 9},
                                              {.from = 9, .to = 10},
                                              {.from = 10, .to = 11},
                                              {.from = 11, .to = 12},
                                              {.from = 12, .to = 13},
                                              {.from = 13, .to = 14},
                                              {.from = 14, .to = 15},
                                              {.from = 1, .to = 3, .dashed = true},  // the residuals
                                              {.from = 3, .to = 5, .dashed = true},
                                              {.from = 7, .to = 9, .dashed = true},
                                              {.from = 9, .to = 11, .dashed = true},
                                              {.from = 11, .to = 13, .dashed = true}};
  lesson.picture(
      "architecture.png",
      viz::graph(
          boxes, arrows,
          {.title = "The Transformer, with the shapes of this run",
           .upward = true,
           .frames = {{.label = fmt::format("encoder × {}", run.layers), .nodes = {2, 3, 4, 5}},
                      {.label = fmt::format("decoder × {}", run.layers), .nodes = {8, 9, 10, 11, 12, 13}}}}),
      "The whole Transformer",
      "Read upwards; under each name the shape of what comes out of it (of a feed-forward: its inside). "
      "Dashed arrows are residuals. One arrow alone crosses from left to right: the memory, which gives "
      "cross-attention its keys and values.");
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
/// A word is turned into a vector twice, in the source and in the target, and a vector is turned into
/// scores of words once. With one vocabulary for both languages a single table does all three: the scores
/// are the products with all its rows.
void count_parameters(Lesson& lesson, const Transformer& model) {
  const Tensor& table = model.target_embedding.table;
  const TransformerConfig base = base_config();
  const std::vector<Index> counts = counts_of(base);
  lesson.claim(model.source_embedding.table.is(table),
               "source and target share one table of shape {}, and it is in the list of parameters once",
               table.shape().str());
  lesson.say("In the paper's size, two more tables would be {} numbers more: over half of the model again.",
             2 * counts[0]);

  /// ## 63,082,496 numbers
  const ParameterList list = parameters_of(model);
  /// One table, and for each of the N layers of both sides: three attentions of four matrices with biases,
  /// two feed-forwards, five norms of gain and bias. There is no norm behind the last layer.
  ///
  /// $$ V C + N · (3 attentions + 2 feed-forwards + 5 norms) $$
  const std::vector<Index> ours = counts_of(model.config);
  lesson.claim(list.count() == std::accumulate(ours.begin(), ours.end(), Index(0)),
               "the parts, each built and counted alone, sum to what the model {} really holds: {}",
               lesson.fast ? "of --fast" : "that we have built", list.count());
  const Index C = base.d_model;
  lesson.claim(counts[1] == base.encoder_layers * 4 * (C * C + C),
               "an attention of the paper's size is four matrices (C, C) and four biases: {}",
               4 * (C * C + C));
  const std::vector<std::string> names = {"embedding (V × C, used three times)",
                                          "encoder: self-attention",
                                          "encoder: feed-forward",
                                          "encoder: norms",
                                          "decoder: self-attention",
                                          "decoder: cross-attention",
                                          "decoder: feed-forward",
                                          "decoder: norms"};
  std::vector<std::vector<std::string>> rows;
  std::vector<double> millions;
  Index total = 0;
  for (Index i = 0; i < std::ssize(names); ++i) {
    total += counts[i];
    millions.push_back(1e-6 * double(counts[i]));
    rows.push_back({names[i], fmt::format("{}", counts[i])});
  }
  rows.push_back({"all", fmt::format("{}", total)});
  /// The base model, by part:
  lesson.table({"part", "numbers"}, rows);
  lesson.claim(total == 63082496,
               "the base model with one shared embedding of 37,000 has exactly {} parameters", total);
  if (!lesson.fast) {
    std::map<std::string, Index> parts;
    for (const PartCount& part : count_by_part(list, 1)) parts[part.part] = part.count;
    lesson.claim(list.count() == 63082496 && parts["embedding"] == counts[0] &&
                     parts["encoder"] == counts[1] + counts[2] + counts[3] &&
                     parts["decoder"] == counts[4] + counts[5] + counts[6] + counts[7],
                 "and part by part ours has as many: embedding {}, encoder {}, decoder {}",
                 parts["embedding"], parts["encoder"], parts["decoder"]);
  }
  lesson.say(
      "The paper prints 65 million and does not say how it counted. Its vocabulary is given as `about "
      "37,000` word pieces, and 65 million is rounded: a table of {} entries would make up the difference. "
      "What can be counted from the text is the number above.",
      37000 + (65000000 - total) / base.d_model);
  lesson.picture(
      "parameters.png",
      viz::bar_chart(names, millions,
                     {.title = "Where 63 million parameters are",
                      .value_title = "millions of parameters",
                      .colors = {3, 0, 1, 2, 0, 0, 1, 2}}),
      "Parameters by part",
      "Red: the embedding. Orange: feed-forwards. Blue: attentions. The norms are too few to be seen.");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv, {.name = "11_transformer", .question = "How do all the parts make one machine?"},
      [](Lesson& lesson) {
        two_layers(lesson);
        shifted_targets(lesson);
        who_sees_what(lesson);
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
        const Traced run = shapes(lesson, model);
        architecture(lesson, run, model.config);
        count_parameters(lesson, model);
        lesson.try_next(
            {{"In newest_word, hand `written` instead of `memory` to the second ask.",
              "The first claim fails: this decoder asks its own words twice and never the source."},
             {"In who_sees_what, write {} instead of length in both calls of model.",
              "The claim about padding fails: a word that is not there moves every output."},
             {"In base_config, set .share_embeddings = false, and run without --fast.",
              "The claims fail: two tables instead of one, and 18,944,000 numbers more."}});
      });
}
