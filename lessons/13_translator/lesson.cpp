///     13_translator                                learns English to French in about a minute, tests, draws
///     13_translator --pair en-ko                   English to Korean: the verb last, particles, Hangul
///     13_translator translate "The cat sleeps."    and answers (or at a prompt, or line by line from a pipe)
///     13_translator --corpus my-pairs.tsv          learns from your own sentences
///
/// Nothing new has to be invented: tokens (05), attention (06-08), positions (09), blocks (10), the
/// transformer (11) and its training (12) only have to meet. What is left to do is told here: to put two
/// languages into one batch, to write a sentence when nobody dictates it, and to say how good it is. B batch,
/// S source time, T target time, C channels, V vocabulary.
#include <algorithm>   // clamp, find_if, min, min_element
#include <cmath>       // exp, fabs
#include <filesystem>  // exists
#include <iterator>    // ssize
#include <optional>    // optional

#include "core/autograd.hpp"
#include "lessons/13_translator/evaluation.hpp"
#include "lessons/13_translator/show.hpp"
#include "lessons/13_translator/talk.hpp"
#include "nn/text/metrics.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// ## What it learns from
void what_it_learns_from(Lesson& lesson, const Run& run) {
  const Dataset& data = run.data;
  const TransformerConfig& config = run.translator.model.config;
  if (run.settings.is_toy())
    lesson.say(
        "{} pairs of sentences, {} and {}, written by a grammar of a few pages. The test is not luck: some "
        "combinations of words ({}) stand in no training sentence, and every test sentence has one. Who has "
        "only learned sentences by heart fails there.",
        data.train.size(), data.source_language, data.target_language, joined(data.unseen));
  else
    lesson.say(
        "{} pairs of sentences ({} of them longer than {} tokens and left out). {} sentences are kept for "
        "the test: none of their translations was learned from.",
        data.train.size(), run.left_out, run.settings.max_length, data.test.size());
  for (Index i = 0; i < std::min<Index>(3, std::ssize(data.train)); ++i)
    lesson.print("  {}\n    {}", data.train[i].source, data.train[i].target);
  if (run.settings.vocabulary == "word")
    lesson.say("A token is a word or a sign. Where spaces are not as usual the token says so: {}.",
               run.settings.pair == "en-ko" ? "`+는` has none in front" : "`_?` has one in front");
  lesson.say(
      "{} tokens to read and {} to write ({}); {} channels, {} heads, {} + {} layers, {} numbers to learn.",
      config.source_vocabulary, config.vocabulary,
      config.share_embeddings ? "pieces of words, the same for both" : "words and signs", config.d_model,
      config.heads, config.encoder_layers, config.decoder_layers,
      parameters_of(run.translator.model).count());
}

// Two sentences of different length make one rectangle, filled up with <pad>. Three masks keep the filling,
// and the future, out of sight. One of them, as a picture of what sentence 0 may look at: 1 is visible.
viz::Matrix visible(const Mask& mask, Index queries, Index keys) {
  const Index B = mask.key_lengths.numel();
  const Tensor bias = broadcast_to(mask_bias(mask, B, queries, keys), {B, 1, queries, keys});
  viz::Matrix seen = matrix_of(bias, {0, 0});  // 0, or -inf where a key is hidden
  for (float& value : seen.values) value = value == 0;
  return seen;
}

Words labels(const Vocabulary& vocabulary, const IntTensor& ids, Index row) {
  Words words;
  for (Index t = 0; t < ids.shape()[1]; ++t) words.push_back(vocabulary.label(ids(row, t)));
  return words;
}

/// ## Two sentences, one batch, three masks
void one_batch(Lesson& lesson, const Run& run) {
  const Translator& translator = run.translator;
  std::vector<Pair> pairs;
  for (const TestSentence& sentence : run.data.validation)
    pairs.push_back({sentence.source, sentence.references[0]});
  const std::vector<EncodedPair> encoded = encode_pairs(pairs, *translator.source, *translator.target);
  // A short sentence, and one that is longer in both languages.
  const auto shorter = std::min_element(encoded.begin(), encoded.end(), [](const auto& a, const auto& b) {
    return a.source.size() + a.target.size() < b.source.size() + b.target.size();
  });
  const auto longer = std::find_if(encoded.begin(), encoded.end(), [&](const auto& pair) {
    return pair.source.size() == shorter->source.size() + 3 && pair.target.size() > shorter->target.size();
  });
  if (longer == encoded.end()) return;
  const Batch batch = make_batch({*shorter, *longer}, {0, 1});
  for (Index b = 0; b < 2; ++b) {
    lesson.print("  encoder reads   {}", joined(labels(*translator.source, batch.source.ids, b)));
    lesson.print("  decoder reads   {}", joined(labels(*translator.target, batch.decoder_input.ids, b)));
    lesson.print("  and writes      {}\n", joined(labels(*translator.target, batch.targets, b)));
  }
  /// What is written is what is read, one step on: the right answer so far is dictated (teacher forcing), the
  /// next word is asked for. <pad> is asked for nowhere: the loss leaves it out.

  const Index S = batch.source.ids.shape()[1], T = batch.targets.shape()[1];
  const Mask words{.key_lengths = batch.source.lengths},
      words_so_far{.causal = true, .key_lengths = batch.decoder_input.lengths};
  const auto map = [&](const viz::Matrix& mask, const char* title, const Words& rows, const Words& columns) {
    return viz::heatmap(mask, {.title = title,
                               .x_title = "keys",
                               .y_title = "queries",
                               .row_labels = rows,
                               .column_labels = columns,
                               .low = 0,
                               .high = 1,
                               .color_bar = false});
  };
  const Words source = labels(*translator.source, batch.source.ids, 0),
              target = labels(*translator.target, batch.decoder_input.ids, 0);
  lesson.picture(
      run.settings.name() + "-masks.png",
      viz::row({map(visible(words, S, S), "encoder", source, source),
                map(visible(words_so_far, T, T), "decoder", target, target),
                map(visible(words, T, S), "cross", target, source)},
               {.title = "What may be looked at, in the shorter sentence of the batch"}),
      "The three masks",
      "Yellow may be seen. Columns of <pad> never are; in the middle, nothing right of the diagonal.");

  // The model must not notice what is hidden from it.
  const NoGrad no_grad;
  const auto copy = [](const Tokens& tokens) {
    return Tokens(IntTensor(tokens.ids.shape(), tokens.ids.values()), tokens.lengths);
  };
  const Tokens other_source = copy(batch.source), other_input = copy(batch.decoder_input);
  other_source.ids(0, S - 1) = Vocabulary::unk;  // was <pad>
  other_input.ids(1, T - 1) = Vocabulary::unk;   // was the longer sentence's last word
  const Tensor honest = translator.model(batch.source, batch.decoder_input);  // (B, T, V)
  const Tensor padded = translator.model(other_source, batch.decoder_input),
               later = translator.model(batch.source, other_input);
  const double padding = max_difference(honest, padded);
  const double future = max_difference(slice(honest, 1, 0, T - 1), slice(later, 1, 0, T - 1));
  lesson.claim(
      padding == 0 && future == 0,
      "with another word in place of <pad>, or another last word, no logit before it moves by a bit");
}

/// ## Word by word
///
/// In training the right words were dictated. Now the model reads what it wrote itself: <bos>, and then the
/// likeliest next word each time, until it says <eos> (greedy decoding).
void word_by_word(Lesson& lesson, const Run& run) {
  const Translator& translator = run.translator;
  const std::vector<int> source = translator.encode(run.data.watched.source);
  const NoGrad no_grad;
  TransformerWriter writer(translator.model, source);
  const Index limit = translator.model.config.max_length;
  std::vector<int> written = greedy(writer, {.max_length = limit})[0];
  const std::string text = translator.target->decode(written);
  if (std::ssize(written) < limit) written.push_back(Vocabulary::eos);
  // The same sentence dictated, as in training: one pass, in which the model guesses every word.
  std::vector<int> reads{Vocabulary::bos};
  reads.insert(reads.end(), written.begin(), written.end() - 1);
  const Tensor logits = translator.model.decode(reads, translator.model.encode(source));  // (1, T, V)
  const Tensor probabilities = softmax(logits);
  lesson.print("  {}", run.data.watched.source);
  std::string line;
  for (Index t = 0; t < std::ssize(written); ++t)
    line += fmt::format(" {} {:.0f}%", translator.target->label(written[t]),
                        100 * probabilities(0, t, written[t]));
  lesson.say(" {}", line);
  lesson.print("  {}", text);
  lesson.claim(argmax(logits).values() == written,
               "dictated what it wrote, in one pass, it would choose the same word at every position");
}

/// ## How BLEU counts
///
/// $$ BLEU = 100 · min(1, e^(1 − r/c)) · (p₁ p₂ p₃ p₄)^¼ $$
///
/// p_n is the share of the output's runs of n words that stand in a reference; c and r are the lengths of
/// output and reference. Three outputs for the reference `the black cat eats a small red apple`:
void how_bleu_counts(Lesson& lesson) {
  const std::string reference = "the black cat eats a small red apple";
  std::vector<std::vector<std::string>> rows;
  const std::vector<std::string> outputs = {"the black cat eats a red apple", "the black cat eats a small",
                                            "the black cat eats a a a a"};
  std::vector<Bleu> scores;
  for (const std::string& output : outputs) {
    scores.push_back(bleu({output}, {{reference}}));
    rows.push_back({output});
    for (const double precision : scores.back().precisions)
      rows.back().push_back(fmt::format("{:.0f}%", precision));
    rows.back().push_back(fmt::format("{:.2f}", scores.back().brevity_penalty));
    rows.back().push_back(fmt::format("{:.1f}", scores.back().score));
  }
  lesson.table({"output", "p₁", "p₂", "p₃", "p₄", "brevity", "BLEU"}, rows);
  /// The second is right in every word it has, and pays for those it has not. The third says `a` four times,
  /// but the reference has it once, so once it counts: without this clipping p₁ would be 100%.
  const double brevity = std::exp(1 - 8.0 / 6);
  lesson.claim(std::fabs(scores[1].brevity_penalty - brevity) < 1e-9 &&
                   std::fabs(scores[1].score - 100 * brevity) < 1e-9 && scores[2].precisions[0] == 62.5,
               "counted by hand: the second has 6 words of 8 and pays e^(1 − 8/6) = {:.2f}; of the third's 8 "
               "words 5 count",
               brevity);
}

// Trains, and shows everything there is to see. `command`: how this program was called.
int train_and_show(Lesson& lesson, Run& run, const std::string& command) {
  const Settings& settings = run.settings;
  const std::string name = settings.name(), options = settings.options_text();
  /// ## Training
  lesson.say("{} steps of about {} tokens. The sentence to watch: {}", run.total_steps(), settings.batch,
             run.data.watched.source);
  std::optional<Look> early;
  const TrainEnd end = run.train(lesson, [&] { early = look_at(run.translator, run.data.watched); });
  if (end == TrainEnd::interrupted) {
    lesson.print("\nStopped and saved as {}.\nTo go on: {} resume{}", settings.run_path(), command, options);
    return 128 + run.signal();
  }
  if (end == TrainEnd::time_limit)
    lesson.print("The time is up. To go on for longer: {} resume{} --time-limit SECONDS", command, options);
  show_curve(lesson, name, run.history);

  how_bleu_counts(lesson);
  /// ## Sentences it has never seen
  const Scores scores = evaluate(lesson, run.translator, run.data, {settings.beam, settings.length_penalty});
  if (settings.is_recipe() && !lesson.fast)
    lesson.claim(scores.exact >= 99,
                 "{:.1f}% of sentences with unseen combinations are translated without any mistake",
                 scores.exact);

  word_by_word(lesson, run);
  /// ## Where it looks
  const Look look = look_at(run.translator, run.data.watched);
  /// While a word is written, cross-attention asks the source. Nobody told the model which word translates
  /// which: it had to find out in order to write the right one. (The expected words are dictated here, as in
  /// training.)
  show_attention(lesson, name, look);
  if (settings.is_recipe() && !lesson.fast) {
    std::string who;
    for (const Pair& words : run.data.dictionary)
      who += fmt::format("{}`{}` at `{}`", who.empty() ? "" : ", ", words.target, words.source);
    lesson.claim(look.finds(run.data.dictionary), "most weight, over all heads: {}", who);
  }
  if (early) {  // not if the training went on from a later step
    lesson.section("Where it should look");
    lesson.say("At step {} it was still wrong: the loss was {:.2f} a token, where it is {:.4f} now.",
               run.history.validations.at(0).step, early->loss, look.loss);
    show_gradient(lesson, name, *early, look);
  }
  /// ## Several hypotheses: the beam
  ///
  /// Greedy decoding never takes a word back. A beam keeps the best few beginnings and decides at the end
  /// (lesson 14).
  show_beam(lesson, name, run.translator, run.data.watched.source,
            {std::clamp<Index>(settings.beam, 3, 8), settings.length_penalty});

  /// ## Use it
  lesson.print("  {} translate{} \"{}\"", command, options, run.data.watched.source);
  lesson.print("  {} translate{}        (asks for sentences)", command, options);
  lesson.print("  {}", settings.weights_path());
  /// The file holds the weights, the configuration and both vocabularies.
  lesson.try_next(
      {{"--pair en-ko (or en-fr): the other language.",
        "English to Korean learns faster than French, though its word order is turned around: attention does "
        "not mind order, while agreement over several words has to be worked out."},
       {"--positions none --checkpoint out/none.safetensors.",
        "The encoder reads a bag of words, and about a quarter of the sentences fails: those in which it "
        "matters who does it to whom, or which adjective belongs to which noun."},
       {"--pairs 2000 --steps 1600 --checkpoint out/few.safetensors: as many steps, on a twentieth of the "
        "sentences.",
        "The training loss falls as low as before, the validation loss does not: some sentences are learned "
        "by heart, and about one in twenty unseen ones fails instead of a few in a thousand."}});
  return lesson.finish();
}

// What can be asked for

Lesson lesson_for(const Settings& settings) {
  Lesson lesson({.name = "13_translator", .question = "Can all of it together translate?"}, settings);
  lesson.print("13_translator: Can all of it together translate?");
  return lesson;
}

int train_command(const Settings& settings, const std::string& program) {
  const std::unique_ptr<Run> run = Run::begin(settings);
  Lesson lesson = lesson_for(settings);
  if (run->steps_taken() > 0) {
    lesson.print("Going on with {}, which was stopped at step {} (--overwrite trains anew).",
                 settings.run_path(), run->steps_taken());
    return train_and_show(lesson, *run, program);
  }
  what_it_learns_from(lesson, *run);
  one_batch(lesson, *run);
  return train_and_show(lesson, *run, program);
}

int resume_command(const Settings& asked, const std::string& program) {
  const std::string path = asked.run_path();
  if (!std::filesystem::exists(path))
    fail("there is no training to go on with at {}{}", path,
         std::filesystem::exists(asked.weights_path()) ? fmt::format("; {} is finished", asked.weights_path())
                                                       : "");
  Checkpoint file(path);
  const Settings settings = with_stored(asked, file.entry("settings"));
  const std::unique_ptr<Run> run = Run::resume(settings, std::move(file));
  Lesson lesson = lesson_for(settings);
  return train_and_show(lesson, *run, program);
}

int use_command(const Settings& asked, const std::string& program) {
  std::string path = asked.weights_path();
  if (!std::filesystem::exists(path))
    path = asked.run_path();  // a training that was stopped knows something, too
  if (!std::filesystem::exists(path))
    fail("there is no trained model at {}; train it first: {}{}", asked.weights_path(), program,
         asked.options_text());
  Checkpoint file(path);
  const Settings settings = with_stored(asked, file.entry("settings"));
  const Translator translator = Translator::load(std::move(file));
  if (path == asked.run_path()) fmt::print(stderr, "13_translator: {} is not done training\n", path);
  if (settings.command == "translate") return talk(translator, settings);
  Lesson lesson = lesson_for(settings);
  lesson.section("Sentences it has never seen");
  evaluate(lesson, translator, make_dataset(settings), {settings.beam, settings.length_penalty});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("13_translator", [&] {
    const Settings settings = read_settings({argv + 1, argv + argc});
    if (settings.command == "train") return train_command(settings, argv[0]);
    if (settings.command == "resume") return resume_command(settings, argv[0]);
    return use_command(settings, argv[0]);
  });
}
