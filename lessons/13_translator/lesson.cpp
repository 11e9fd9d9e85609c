/// Can a program learn to translate if all it gets is sentences in two languages, side by side? No grammar,
/// no dictionary, nobody to say which word belongs to which. Everything it needs is there: tokens (lesson
/// 05), attention (06 to 08), positions (09), blocks (10), the transformer (11) and its training (12). What
/// is left is to put two languages into one batch, to write a sentence when nobody dictates it, and to say
/// how good it is. In a few seconds you will have a translator to talk to.
///
///     13_translator                            learns English to French in seconds
///     13_translator --pair en-ko               English to Korean, in Hangul
///     13_translator translate "The cat runs."  answers (--show: and how)
///     13_translator translate                  asks for sentences, or reads a pipe
///     13_translator words                      lists the words that it can read
///     13_translator --corpus my-pairs.tsv      learns from your own sentences
///
/// Letters for sizes: B sentences in a batch, S source tokens, T target tokens, C channels, V vocabulary.
#include <algorithm>   // clamp, min, min_element
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
        "{} pairs of sentences, {} and {}, written by a grammar of a few pages. The test leaves nothing to "
        "luck: some combinations of words (such as {}) occur in no training sentence, and every test "
        "sentence has "
        "one. A model that only memorised sentences fails there.",
        grouped(std::ssize(data.train)), data.source_language, data.target_language, joined(data.unseen));
  else
    lesson.say(
        "{} pairs of sentences ({} of them longer than {} tokens and left out). {} sentences are kept for "
        "the test: none of their translations was learned from.",
        grouped(std::ssize(data.train)), grouped(run.left_out), run.settings.max_length,
        grouped(std::ssize(data.test)));
  if (data.portions)
    lesson.say(
        "They are a random portion of the {} pairs in the corpus, which are too many to keep in memory: "
        "{} such portions take turns.",
        grouped(data.pairs), data.portions->portions());
  for (Index i = 0; i < std::min<Index>(3, std::ssize(data.train)); ++i)
    lesson.print("  {}\n    {}", data.train[i].source, data.train[i].target);
  if (run.settings.vocabulary == "word")
    lesson.say(
        "A token is a word or a punctuation mark. Where the spacing is unusual, the token says so: {}.",
        run.settings.pair == "en-ko" ? "`+는` has none in front" : "`_?` has one in front");
  lesson.say(
      "{} tokens to read and {} to write ({}); {} channels, {} heads, {} + {} layers, {} numbers to "
      "learn.",
      config.source_vocabulary, config.vocabulary,
      config.share_embeddings ? "pieces of words, the same for both"
                              : "words, punctuation marks and special tokens",
      config.d_model, config.heads, config.encoder_layers, config.decoder_layers,
      grouped(parameters_of(run.translator.model).count()));
}

// A mask as a picture of what sentence 0 may look at: 1 is visible.
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
  // The shortest sentence, and the shortest of those that are clearly longer in both languages.
  const auto tokens = [](const EncodedPair& pair) { return pair.source.size() + pair.target.size(); };
  const EncodedPair *shorter = nullptr, *longer = nullptr;
  for (const EncodedPair& pair : encoded)
    if (!shorter || tokens(pair) < tokens(*shorter)) shorter = &pair;
  for (const EncodedPair& pair : encoded)
    if (pair.source.size() >= shorter->source.size() + 2 &&
        pair.target.size() >= shorter->target.size() + 2 && (!longer || tokens(pair) < tokens(*longer)))
      longer = &pair;
  if (!longer) return;
  const Batch batch = make_batch({*shorter, *longer}, {0, 1});
  for (Index b = 0; b < 2; ++b) {
    lesson.print("  encoder reads   {}", joined(labels(*translator.source, batch.source.ids, b)));
    lesson.print("  decoder reads   {}", joined(labels(*translator.target, batch.decoder_input.ids, b)));
    lesson.print("  and writes      {}{}", joined(labels(*translator.target, batch.targets, b)),
                 b ? "" : "\n");
  }
  /// The target is the decoder's input shifted left by one: the right words so far are given (**teacher
  /// forcing**), and the next one is asked for. Sentences of different length make one rectangle, filled up
  /// with <pad>. Three masks keep the padding, and the future, out of sight; the loss leaves <pad> out.

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
                               .color_bar = false,
                               .cell = 34});
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
  lesson.claim(padding == 0 && future == 0,
               "with another word in place of <pad>, or another last word, no logit before it changes, not "
               "even in its last bit");
}

/// ## Word by word
///
/// In training the right words were given. Now the model reads what it wrote itself (*free running*): <bos>
/// first, and then the likeliest next word each time, until it says <eos>. That is greedy decoding.
void word_by_word(Lesson& lesson, const Run& run) {
  const Translator& translator = run.translator;
  const std::vector<WrittenWord> sure = written_words(translator, run.data.watched.source);
  const auto least = std::min_element(
      sure.begin(), sure.end(), [](const auto& a, const auto& b) { return a.probability < b.probability; });
  lesson.print("  {}\n  {}", run.data.watched.source, translator.translate(run.data.watched.source));
  lesson.say(
      "It is least sure of `{}`, and gives it {}.", least->word,
      least->probability > 0.999 ? "more than 99.9%" : fmt::format("{:.1f}%", 100 * least->probability));
  if (run.settings.is_toy())
    lesson.say("Now a sentence that the grammar never writes. {} The model has to guess, and it hesitates:",
               run.data.why_puzzling);
  else
    lesson.say("And the sentence, of fifty that were held out, over which it hesitates most:");
  const std::string puzzle = most_puzzling(translator, run.data.puzzles);
  const std::vector<WrittenWord> unsure = written_words(translator, puzzle);
  lesson.print("  {}\n  {}", puzzle, translator.translate(puzzle));
  std::vector<std::vector<std::string>> rows;
  for (const WrittenWord& step : unsure)
    rows.push_back({step.word, fmt::format("{:.1f}%", 100 * step.probability), step.second,
                    fmt::format("{:.1f}%", 100 * step.second_probability)});
  lesson.table({"it writes", "", "second choice", ""}, rows);

  // The same words given, as in training: one pass, in which the model guesses every word.
  const std::vector<int> source = translator.encode(run.data.watched.source);
  std::vector<int> reads{Vocabulary::bos}, written;
  for (const WrittenWord& step : sure) written.push_back(step.token);
  reads.insert(reads.end(), written.begin(), written.end() - 1);
  const NoGrad no_grad;
  const Tensor logits = translator.model.decode(reads, translator.model.encode(source));  // (1, T, V)
  lesson.claim(argmax(logits).values() == written,
               "given the words that it wrote, in one pass, it would choose the same word at every position");
}

/// ## What made it quick
///
/// The usual recipe is more careful: a learning rate of 0.003, dropout 0.1, 64 channels and 2 + 2 layers.
/// What each of these does to the default recipe, measured on English to French with seeds 1 to 3, the last
/// two rows with seed 1 only (time on one core, relative to the default):
///
/// | | time | unseen sentences right |
/// |---|---|---|
/// | as it is | 1 | 99.6 to 99.8% |
/// | learning rate 0.003, not 0.01 | 1 | 95.7 to 96.8% |
/// | dropout 0.1, not 0 | 1.2 | 97.6 to 98.9% |
/// | 64 channels, 2 + 2 layers, rate 0.003 | 4.7 | 100% |
/// | all of them, 1,600 steps of 1,000 tokens | 5.9 | 99.7% |
///
/// The large model is no worse, but it takes far longer. A small one is quick per step and tolerates a large
/// learning rate, with which it learns more per step. And dropout protects against memorising, but each of
/// 40,000 sentences is seen only three or four times, so there is nothing to protect against: it only adds
/// noise, and costs time. None of this holds for every task. A corpus of real sentences has more to learn
/// than 32 channels can hold, which is why `--corpus` has a recipe of its own.
void what_made_it_quick(Lesson&) {}

/// ## How BLEU counts
///
/// $$ BLEU = 100 · min(1, e^(1 − r/c)) · (p₁ p₂ p₃ p₄)^¼ $$
///
/// BLEU (Papineni et al., 2002) compares an output with a *reference*, a translation known to be right. p_n
/// is the share of the output's n-grams (runs of n words) that occur in the reference; c and r are the
/// lengths of output and reference. Three outputs for the reference `the black cat eats a small red apple`:
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
      rows.back().push_back(fmt::format("{:.1f}%", precision));
    rows.back().push_back(fmt::format("{:.2f}", scores.back().brevity_penalty));
    rows.back().push_back(fmt::format("{:.1f}", scores.back().score));
  }
  lesson.table({"output", "p₁", "p₂", "p₃", "p₄", "brevity", "BLEU"}, rows);
  /// Every word of the second is right, and it pays for those that it lacks: that is the *brevity penalty*.
  /// The third says `a` four times, but the reference has it once, so it counts once: without this *clipping*
  /// p₁ would be 100%.
  const double brevity = std::exp(1 - 8.0 / 6);
  lesson.claim(std::fabs(scores[1].brevity_penalty - brevity) < 1e-9 &&
                   std::fabs(scores[1].score - 100 * brevity) < 1e-9 && scores[2].precisions[0] == 62.5,
               "counted by hand: the second has 6 words of 8 and pays e^(1 − 8/6) = {:.2f}; of the third's 8 "
               "words 5 count",
               brevity);
}

/// ## How chrF counts
///
/// $$ chrF2 = 100 · 5 P R / (4 P + R) $$
///
/// BLEU knows whole words only, so a word with one wrong ending is as wrong as any other word. chrF (Popović,
/// 2015) compares n-grams of *characters*, n = 1 to 6, without spaces. P (precision) is the share of the
/// output's n-grams that occur in the reference, R (recall) the share of the reference's that occur in the
/// output, each averaged over n. The 2 in chrF2 says that recall counts twice as much: what is missing is
/// worse than what is too much. Three outputs for `les petites pommes rouges sont ici`:
void how_chrf_counts(Lesson& lesson) {
  const std::string reference = "les petites pommes rouges sont ici";
  std::vector<std::vector<std::string>> rows;
  std::vector<double> by_words, by_letters;
  for (const std::string output : {"les petite pomme rouge sont ici", "les grands chevaux noirs sont ici",
                                   "les petites pommes rouges"}) {
    by_words.push_back(bleu({output}, {{reference}}).score);
    by_letters.push_back(chrf({output}, {{reference}}));
    rows.push_back(
        {output, fmt::format("{:.1f}", by_words.back()), fmt::format("{:.1f}", by_letters.back())});
  }
  lesson.table({"output", "BLEU", "chrF2"}, rows);
  lesson.claim(std::fabs(by_words[0] - by_words[1]) < 1e-9 && by_letters[0] > by_letters[1] + 30,
               "three missing plurals and three wrong words are the same to BLEU ({:.1f}); chrF2 says {:.0f} "
               "and {:.0f}",
               by_words[0], by_letters[0], by_letters[1]);
}

// Trains, and shows everything there is to see. `command`: how this program was called.
int train_and_show(Lesson& lesson, Run& run, const std::string& command) {
  const Settings& settings = run.settings;
  const std::string name = settings.name(), options = settings.options_text();
  /// ## Training
  lesson.say("{} steps of about {} tokens. The sentence to watch: {}", grouped(run.total_steps()),
             grouped(settings.batch), run.data.watched.source);
  lesson.print("    step  validation  what it writes");
  std::optional<Look> early;
  const TrainEnd end = run.train(lesson, [&] { early = look_at(run.translator, run.data.watched); });
  if (end == TrainEnd::interrupted) {
    lesson.print("\nStopped and saved as {}.\nTo go on: {} resume{}", settings.run_path(), command, options);
    return 128 + run.signal();
  }
  if (end == TrainEnd::time_limit)
    lesson.print("The time is up. To go on for longer: {} resume{} --time-limit SECONDS", command, options);
  show_curve(lesson, name, run.history);

  what_made_it_quick(lesson);
  how_bleu_counts(lesson);
  how_chrf_counts(lesson);
  /// ## Sentences it has never seen
  const Scores scores = evaluate(lesson, run.translator, run.data, {settings.beam, settings.length_penalty});
  if (settings.is_recipe() && !lesson.fast)
    lesson.claim(scores.exact >= 99,
                 "{:.1f}% of sentences with unseen combinations are translated without any mistake",
                 scores.exact);

  word_by_word(lesson, run);
  /// ## Where it looks
  const Look look = look_at(run.translator, run.data.watched);
  /// While a word is written, cross-attention asks the source. Nobody told the model which word
  /// translates which: it had to find out in order to write the right one. (The expected words are
  /// given here, as in training.)
  show_attention(lesson, name, look);
  if (settings.is_recipe() && !lesson.fast) {
    std::string who;
    for (const Pair& words : run.data.dictionary)
      who += fmt::format("{}`{}` at `{}`", who.empty() ? "" : ", ", words.target, words.source);
    lesson.claim(look.finds(run.data.dictionary), "in one head or another, each looks most at its word: {}",
                 who);
  }
  if (early) {  // not if the training went on from a later step
    lesson.section("Where it should look");
    lesson.say(
        "At step {} it was still wrong: the loss was {:.2f} nats per token (a nat is the unit of −log p with "
        "the natural logarithm), and it is {:.2g} now.",
        run.history.validations.at(0).step, early->loss, look.loss);
    show_gradient(lesson, name, *early, look);
  }
  /// ## Several hypotheses: the beam
  ///
  /// Greedy decoding never takes a word back. A *beam* keeps the best few beginnings and decides at the end
  /// (lesson 14). That matters where the model hesitates, as over the sentence above:
  show_beam(lesson, name, run.translator, most_puzzling(run.translator, run.data.puzzles),
            {std::clamp<Index>(settings.beam, 3, 8), settings.length_penalty});

  /// ## Use it
  lesson.print("  {} translate{} --show \"{}\"", command, options, run.data.watched.source);
  lesson.print("  {} translate{}        (asks for sentences)", command, options);
  lesson.print("  {} words{}            (the words that it knows)", command, options);
  lesson.print("  {}", settings.weights_path());
  /// The file holds the weights, the configuration and both vocabularies.
  ///
  /// ## Check yourself
  ///
  /// - **What is cross-attention for?** It lets each word that is written look at the whole source sentence
  ///   and take what it needs. Word order may differ freely: a query finds its key wherever it is.
  /// - **What goes in, what comes out?** The source (B, S) and the target so far (B, T), as token ids; out
  ///   come logits (B, T, V), a guess of the next word at every position. The cross-attention weights are (B,
  ///   H, T, S).
  /// - **What goes wrong without the masks?** Without the causal one, the decoder reads the answer in
  ///   training and has learned nothing when it writes alone; without the padding mask, a translation depends
  ///   on what else is in the batch.
  ///
  /// ## Read on
  ///
  /// - Sutskever, Vinyals and Le, 2014: *Sequence to sequence learning with neural networks*. A translator
  ///   with a single vector between encoder and decoder.
  /// - Bahdanau, Cho and Bengio, 2014: *Neural machine translation by jointly learning to align and
  ///   translate*. The first of these maps, English to French.
  /// - Papineni et al., 2002: *BLEU: a method for automatic evaluation of machine translation*; Popović,
  ///   2015: *chrF: character n-gram F-score for automatic MT evaluation*.
  /// - The notebook `04_what_heads_learn`: switch the heads of this translator off, one by one.
  lesson.try_next(
      {{"--pair en-ko (or en-fr): the other language.",
        "English to Korean learns faster than French, though its word order is turned around: attention does "
        "not mind order, while agreement over several words has to be worked out."},
       {"--positions none --checkpoint out/none.safetensors.",
        "The encoder reads a bag of words, and many sentences fail: those in which it matters who does it to "
        "whom, or which adjective belongs to which noun."},
       {"--pairs 2000 --steps 1800 --checkpoint out/few.safetensors: as many steps, on a twentieth of the "
        "sentences.",
        "The training loss falls as low as before, the validation loss does not: some sentences are "
        "memorised, and more of the unseen ones fail."}});
  return lesson.finish();
}

// What can be asked for

Lesson lesson_for(const Settings& settings) {
  Lesson lesson({.name = "13_translator", .question = "Can all of it together translate?"}, settings);
  lesson.begin();
  return lesson;
}

// What all ranks but the first do: they compute their shards, and show nothing.
int train_along(Run& run) {
  Lesson silent({.name = "13_translator", .question = ""});
  return run.train(silent, [] {}) == TrainEnd::interrupted ? 128 + run.signal() : 0;
}

int train_command(const Settings& settings, const std::string& program) {
  const std::unique_ptr<Run> run = Run::begin(settings);
  if (!world().is_root()) return train_along(*run);
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
  if (!world().is_root()) return train_along(*run);
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
  if (settings.command == "words") return list_words(translator, settings);
  Lesson lesson = lesson_for(settings);
  lesson.section("Sentences it has never seen");
  evaluate(lesson, translator, make_dataset(settings), {settings.beam, settings.length_penalty});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run_program("13_translator", [&] {
    const Settings settings = read_settings({argv + 1, argv + argc});
    if (settings.command == "train") return train_command(settings, argv[0]);
    if (settings.command == "resume") return resume_command(settings, argv[0]);
    return use_command(settings, argv[0]);
  });
  if (code == 2) abandon_world(code);  // a rank that fails ends all of them
  return code;
}
