// %% [markdown]
// # What heads learn
//
// The translator of lesson 13 has a handful of heads. Nobody told any of them what to do. Some look like
// they know what they are doing, some look bored. *Who does the work?*
//
// Looking is not enough to tell. Here we do what one would do with a strange machine: take out one part
// at a time, switch it on, and listen to what it gets wrong.
//
// ## What we need
//
// The trained model, from `out/13_translator/`. If lesson 13 has not been run yet, its own code trains
// the model now, which takes some ten seconds.

// %%
#include <algorithm>   // copy, min, sort, stable_sort
#include <cmath>       // exp, log
#include <filesystem>  // exists
#include <iterator>  // ssize
#include <map>         // map

#include "lessons/13_translator/training.hpp"
#include "notebooks_cpp/notebook.hpp"

using namespace attn;

Settings translator_settings() {
  Settings asked;
  asked.out = notebook::out();
  // For a quick look, if there is no trained model yet, a small one that makes mistakes.
  asked.fast = notebook::fast() && !std::filesystem::exists(asked.weights_path());
  return with_recipe(asked);
}

Translator load_or_train(const Settings& settings) {
  if (!std::filesystem::exists(settings.weights_path())) {
    Lesson lesson({.name = "13_translator", .question = ""});
    lesson.out = notebook::out();
    Run::begin(settings)->train(lesson, [] {});
  }
  return Translator::load(Checkpoint(settings.weights_path()));
}

// %% [markdown]
// A head is $D$ of the $C$ channels that come out of attention. The matrix $W_O$ takes them up: set its
// $D$ columns for this head to zero, and nobody hears it any more. That is the switch.

// %%
struct Head {
  std::string name;  // "cross 2.1": layer 2, head 1
  const MultiHeadAttention* attention;
  Index number;
};

std::vector<Head> heads_of(const Transformer& model) {
  std::vector<Head> heads;
  const auto add = [&](const char* kind, std::size_t layer, const MultiHeadAttention& attention) {
    for (Index h = 0; h < attention.heads; ++h)
      heads.push_back({fmt::format("{} {}.{}", kind, layer + 1, h + 1), &attention, h});
  };
  const std::vector<Block>&encoder = model.encoder.blocks, &decoder = model.decoder.blocks;
  for (std::size_t i = 0; i < encoder.size(); ++i) add("encoder", i, encoder[i].self);
  for (std::size_t i = 0; i < decoder.size(); ++i) add("decoder", i, decoder[i].self);
  for (std::size_t i = 0; i < decoder.size(); ++i) add("cross", i, decoder[i].cross);
  return heads;
}

// While one is alive, these heads are silent.
class Silence {
 public:
  explicit Silence(const std::vector<Head>& heads) {
    for (const Head& head : heads) {
      const Tensor& weight = head.attention->output.weight;  // (C, C): out, in
      kept_.push_back({weight, weight.values()});
      const Index D = weight.size(1) / head.attention->heads;
      for (Index i = 0; i < weight.size(0); ++i)
        for (Index d = 0; d < D; ++d) weight(i, head.number * D + d) = 0;
    }
  }
  ~Silence() {
    for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
      std::copy(kept->values.begin(), kept->values.end(), kept->weight.data());
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  struct Kept {
    Tensor weight;
    std::vector<real> values;
  };
  std::vector<Kept> kept_;
};

// %% [markdown]
// And an exam: sentences that the model has never seen, all their words at once, with the right words
// dictated before each. A sentence without a wrong word is one that it would also have written on its
// own.

// %%
struct Exam {
  double flawless = 0;                  // % of the sentences
  double doubt = 0;                     // the mean of -log p(right word), in thousandths of a nat
  std::map<std::string, Index> wrong;   // how often each word that should have been written was not
  std::map<std::string, double> doubts; // the sum of -log p, for each word
};

std::vector<Batch> exam_of(const Translator& translator, const std::vector<Pair>& pairs) {
  const std::vector<EncodedPair> encoded = encode_pairs(pairs, *translator.source, *translator.target);
  std::vector<Batch> batches;
  for (const auto& rows : plan_batches(encoded, {.sentences = 64, .shuffle = false}))
    batches.push_back(make_batch(encoded, rows));
  return batches;
}

Exam take(const Translator& translator, const std::vector<Batch>& exam, const std::vector<Head>& off) {
  const NoGrad no_grad;
  const Silence silence(off);
  Exam result;
  double sentences = 0, words = 0;
  for (const Batch& batch : exam) {
    const Tensor log_p = log_softmax(translator.model(batch.source, batch.decoder_input));  // (B, T, V)
    const IntTensor said = argmax(log_p);                                                   // (B, T)
    for (Index b = 0; b < batch.targets.shape()[0]; ++b) {
      Index mistakes = 0;
      for (Index t = 0; t < batch.decoder_input.lengths[b]; ++t) {
        const int right = batch.targets(b, t);
        const std::string word = translator.target->label(right);
        const double doubt = -log_p(b, t, right);
        result.doubts[word] += doubt, result.doubt += 1000 * doubt, ++words;
        if (said(b, t) != right) ++mistakes, ++result.wrong[word];
      }
      ++sentences, result.flawless += mistakes == 0;
    }
  }
  result.flawless *= 100 / sentences;
  result.doubt /= words;
  return result;
}

std::string translate_without(const Translator& translator, const std::vector<Head>& off,
                              const std::string& sentence) {
  const Silence silence(off);
  return translator.translate(sentence);
}

std::vector<Pair> unseen_pairs(const Settings& settings) {
  std::vector<Pair> pairs;
  for (const TestSentence& test : make_dataset(settings).test)
    pairs.push_back({test.source, test.references[0]});
  return pairs;
}

// %% [markdown]
// Which words suffer most, by mistakes or by doubt; and who is missed most:

// %%
std::string worst(std::vector<std::pair<double, std::string>> words, std::size_t count) {
  std::sort(words.rbegin(), words.rend());
  std::string text;
  for (std::size_t i = 0; i < std::min(count, words.size()); ++i) text += (i ? ", " : "") + words[i].second;
  return text.empty() ? "none" : text;
}

std::string mistakes(const Exam& exam, std::size_t count) {
  std::vector<std::pair<double, std::string>> words;
  for (const auto& entry : exam.wrong)
    words.push_back({double(entry.second), fmt::format("{} {}", entry.first, entry.second)});
  return worst(words, count);
}

std::string new_doubts(const Exam& exam, const Exam& whole, std::size_t count) {
  std::vector<std::pair<double, std::string>> words;
  for (const auto& entry : exam.doubts)
    words.push_back({entry.second - whole.doubts.at(entry.first), entry.first});
  return worst(words, count);
}

std::vector<std::size_t> smallest_first(const std::vector<double>& values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// %% [markdown]
// One sentence with all its attention maps:

// %%
struct View {
  std::vector<std::string> reads, writes;  // S and T words
  AttentionMaps maps;                      // (1, H, T, S) each
};

View view_of(const Translator& translator, const std::string& sentence) {
  const std::vector<std::string> unknown = translator.source->unknown(sentence);
  if (!unknown.empty()) fail("the translator has never seen the word `{}`; try another", unknown[0]);
  const NoGrad no_grad;
  const Pair pair{sentence, translator.translate(sentence)};
  const Batch batch = make_batch(encode_pairs({pair}, *translator.source, *translator.target), {0});
  View view;
  translator.model(batch.source, batch.decoder_input, {.maps = &view.maps});
  for (const int id : batch.source.ids.values()) view.reads.push_back(translator.source->label(id));
  for (const int id : batch.targets.values()) view.writes.push_back(translator.target->label(id));
  return view;
}

// e to the mean entropy of its rows: among how many words does a head divide its attention?
double words_looked_at(const Tensor& weights, Index head) {  // (1, H, T, S)
  const Tensor w = weights[0][head];
  return std::exp(-sum(w * log(w + real(1e-20))).item() / double(w.size(0)));
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "04_what_heads_learn", [] {

// %% [markdown]
// ## The patient
//
// **Change this and run again:** the sentence. It knows the words of its grammar: cats, horses, owls,
// apples, keys, uncles and queens; old, kind, tired, yellow; *likes*, *sees*, *does not want*, *my*,
// *this*, *often* …

// %%
const std::string sentence = "The black horse does not want the small red apples.";
const Settings settings = translator_settings();
const Translator translator = load_or_train(settings);
const std::vector<Head> heads = heads_of(translator.model);
fmt::print("{} heads, {} numbers\n", heads.size(), parameters_of(translator.model).count());
fmt::print("{}\n{}\n", sentence, translator.translate(sentence));

// %% [markdown]
// ## Where they look
//
// Cross-attention first, the heads of the decoder that look at the English words. One map for each
// head, one row for each French word as it is written:

// %%
const View view = view_of(translator, sentence);
viz::HeatmapGrid grid{.columns = int(translator.model.config.heads),
                      .options = {.title = "Cross-attention, head by head", .x_title = "words that are read",
                                  .y_title = "words that are written", .row_labels = view.writes,
                                  .column_labels = view.reads, .low = 0, .high = 1, .value_title = "weight"}};
std::string sharpest;
double fewest = 1e9;
for (const AttentionMap& map : view.maps)
  for (Index h = 0; map.name == "cross" && h < map.weights.size(1); ++h) {
    grid.names.push_back(fmt::format("layer {} head {}", map.layer + 1, h + 1));
    grid.maps.push_back(matrix_of(map.weights, {0, h}));
    const double many = words_looked_at(map.weights, h);
    if (many < fewest) fewest = many, sharpest = grid.names.back();
  }
notebook::show(viz::heatmap_grid(grid), "A bright cell: while this word is written, the head looks there.");

// %%
notebook::show(viz::open_heatmap(grid, sharpest),
               fmt::format("The most decided of them, {}: it divides its attention among {:.1f} words.",
                           sharpest, fewest));

// %% [markdown]
// Do not be too quick to read thoughts out of such a map. When a head looks at `<eos>` or at the full
// stop, it may just be resting: it has to look *somewhere*, the weights must add up to 1.
//
// ## How many words does a head look at?
//
// The entropy of the weights says how undecided a head is, and $e^{\text{entropy}}$ is easier to read:
// the number of words among which it divides its attention. Over forty sentences:

// %%
const std::vector<Pair> test_pairs = unseen_pairs(settings);
const Index H = translator.model.config.heads, rows = std::ssize(heads) / H;
viz::Matrix looked(rows, H);
const int sentences = notebook::fast() ? 10 : 40;
for (int n = 0; n < sentences; ++n) {
  const View one = view_of(translator, test_pairs[n].source);
  for (const AttentionMap& map : one.maps) {
    const Index kind = map.name == "encoder" ? 0 : map.name == "decoder" ? 1 : 2;
    for (Index h = 0; h < H; ++h)
      looked(kind * rows / 3 + map.layer, h) += float(words_looked_at(map.weights, h) / sentences);
  }
}

// %%
std::vector<std::string> row_names, column_names;
for (Index i = 0; i < rows; ++i)
  row_names.push_back(heads[i * H].name.substr(0, heads[i * H].name.find('.')));
for (Index h = 0; h < H; ++h) column_names.push_back(fmt::format("head {}", h + 1));
notebook::show(viz::heatmap(looked, {.title = "Among how many words?", .row_labels = row_names,
                                     .column_labels = column_names, .low = 1, .value_title = "words",
                                     .numbers = true, .decimals = 1, .cell = 62}),
               "1 is a pointing finger. The larger the number, the more it is a mean of everything.");

// %% [markdown]
// ## Switch one off
//
// Now the experiment. Each head in turn is silenced, and the model sits the exam without it. First your
// sentence:

// %%
const std::string healthy = translator.translate(sentence);
fmt::print("{:<14} {}\n", "all heads", healthy);
int unnoticed = 0;
for (const Head& head : heads) {
  const std::string said = translate_without(translator, {head}, sentence);
  if (said == healthy) ++unnoticed;
  else fmt::print("{:<14} {}\n", "no " + head.name, said);
}
fmt::print("{} of {} heads can be silenced, one at a time, and this sentence stays as it was\n",
           unnoticed, heads.size());

// %% [markdown]
// And the exam, in sentences without a mistake:

// %%
const std::size_t exam_size = notebook::fast() ? 100 : 500;
const std::vector<Batch> exam =
    exam_of(translator, {test_pairs.begin(), test_pairs.begin() + std::min(exam_size, test_pairs.size())});
const Exam whole = take(translator, exam, {});
std::vector<Exam> without;
fmt::print("{:<12} {:5.1f}% flawless\n", "all heads", whole.flawless);
for (std::size_t i = 0; i < heads.size(); ++i) {
  without.push_back(take(translator, exam, {heads[i]}));
  fmt::print("{:<12} {:5.1f}%{}", heads[i].name, without[i].flawless, (i + 1) % H ? "   " : "\n");
}

// %% [markdown]
// We had expected to find the head for adjectives and the head for *not*. Now look again: who is missed,
// and who is not?
//
// A mistake is a coarse measure. The doubt, $-\log p$ of the right word, is a fine one: it rises long
// before a word is wrong. Which head is missed, if one listens closely?

// %%
viz::Numbers damage;
std::vector<std::string> head_names;
for (std::size_t i = 0; i < heads.size(); ++i) {
  head_names.push_back(heads[i].name);
  damage.push_back(without[i].doubt - whole.doubt);
}
notebook::show(viz::bar_chart(head_names, damage,
                              {.title = "How much doubt when a head is silent",
                               .value_title = "−log p of the right word, thousandths of a nat more",
                               .numbers = false}),
               "Long bars: the model still speaks, but it hesitates.");

// %%
const std::vector<std::size_t> order = smallest_first(damage);
for (std::size_t i = 0; i < std::min<std::size_t>(6, order.size()); ++i) {
  const std::size_t head = order[order.size() - 1 - i];
  fmt::print("without {:<12} it hesitates at: {}\n", heads[head].name, new_doubts(without[head], whole, 7));
}

// %% [markdown]
// ## Switch a whole row off
//
// If one head can stand in for another, take all the heads of one attention at once. Now listen to the
// mistakes:

// %%
for (Index r = 0; r < rows; ++r) {
  const std::vector<Head> off(heads.begin() + r * H, heads.begin() + (r + 1) * H);
  const Exam result = take(translator, exam, off);
  fmt::print("no {:<10} {:5.1f}% flawless, wrong: {}\n{:>15}{}\n", row_names[r], result.flawless,
             mistakes(result, 6), "", translate_without(translator, off, sentence));
}

// %% [markdown]
// The words that go wrong together tell what a row is for. Nouns and colours that change places:
// somebody no longer knows *where* to look. Articles and endings: gender and number do not arrive. A
// sentence that does not end: nobody remembers what has been said already.
//
// ## Solo
//
// The other way round: of each row, only *one* head is left. How far does the model get with it?

// %%
viz::Matrix solo(rows, H);
for (Index r = 0; r < rows; ++r)
  for (Index h = 0; h < H; ++h) {
    std::vector<Head> off;
    for (Index other = 0; other < H; ++other)
      if (other != h) off.push_back(heads[r * H + other]);
    solo(r, h) = float(take(translator, exam, off).flawless);
  }
notebook::show(viz::heatmap(solo, {.title = "One head left in its row", .row_labels = row_names,
                                   .column_labels = column_names, .low = 0, .high = 100,
                                   .value_title = "% of sentences without a mistake", .numbers = true,
                                   .decimals = 1, .cell = 62}),
               "Who can do it alone? Compare with the whole row switched off, above.");

// %% [markdown]
// ## How many can go?
//
// Silence the heads one after the other, beginning with the one that was missed
// least, and keep them silent. Beside it, dashed: what each of them did when it was silent alone.

// %%
std::vector<Head> silent;
viz::Series together{.name = "all of them together", .x = {0}, .points = true};
viz::Series alone{.name = "only the latest one", .x = {0}, .dashed = true};
together.y.push_back(whole.flawless), alone.y.push_back(whole.flawless);
for (const std::size_t head : order) {
  silent.push_back(heads[head]);
  together.x.push_back(double(silent.size())), alone.x.push_back(together.x.back());
  together.y.push_back(take(translator, exam, silent).flawless);
  alone.y.push_back(without[head].flawless);
}
notebook::show(viz::line_chart({together, alone},
                               {.title = "Heads silenced one after the other",
                                .x_title = "heads that are silent",
                                .y_title = "% of sentences without a mistake", .y_low = 0}),
               "Between the two curves lies what heads do for each other.");

// %%
std::size_t spare = 0;
while (spare + 1 < together.y.size() && together.y[spare + 1] >= whole.flawless - 5) ++spare;
fmt::print("{} of {} heads can be silent together for 5% of the sentences\n", spare, heads.size());
if (spare + 1 < together.y.size())
  fmt::print("the next one, {}, spoiled {:.1f}% when it was silent alone; now it spoils {:.1f}% more\n",
             heads[order[spare]].name, whole.flawless - without[order[spare]].flawless,
             together.y[spare] - together.y[spare + 1]);

// %% [markdown]
// This is the trap of taking parts out one by one: *not missed* does not mean *does nothing*. It may
// mean that there is a colleague. Dropout makes colleagues: it silences a part of the model at random in
// every step, so that the model learns not to rely on anybody. Lesson 13 trains without it.
//
// ## Play on
//
// * Try `The girls do not see the white cats.` Without one of the rows, the model loses track of what
//   it has already said. Which one? And `My old uncle likes the beautiful yellow flowers.`?
// * Go through the heads in the opposite order, the most missed first:
//   `for (auto head = order.rbegin(); …)`. How few silent heads make the model speechless?
// * Train a larger one with dropout, `make 13 ARGS="--size small --dropout 0.1 --learning-rate 0.003 --out
//   out/team"`, and run this notebook on it: `build/notebooks/04_what_heads_learn --out out/team`. Is
//   anybody missed now?
// * Train the Korean translator (`make 13 ARGS="--pair en-ko"`), add `asked.pair = "en-ko";` below
//   `Settings asked;`, take `The teacher bought two red flowers yesterday.`, and look for the
//   heads that find the verb: in Korean it stands at the other end.
//
// Lesson 08 shows why there are several heads at all, lesson 13 trains this model, and lesson 14 asks
// how words are chosen once the heads have spoken.

// %% tags=["active-cpp"]
}); }
