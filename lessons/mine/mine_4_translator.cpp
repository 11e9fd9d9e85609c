/// Lesson 13 trained a translator with the library. Now yours: the same toy language pair, and every step
/// from the padded batch to the printed sentence is made of your functions. Batches come from your
/// `pad_rows` and `dictate`, masks from `three_masks`, positions from `rotate_pairs`; the blocks, the
/// attention, the loss and the optimizer are yours, and so are the two ways of choosing a sentence and the
/// score that judges it.
#include "core/autograd.hpp"
#include "lessons/mine/milestone.hpp"
#include "lessons/mine/translating.hpp"
#include "nn/text/metrics.hpp"

using namespace attn;

namespace {

using mine::PartsWriter;

struct Translations {
  std::vector<std::string> greedy, beam;
};

// Beam search asks the model for every hypothesis, so it gets fewer sentences.
Translations translate(const mine::Parts& parts, const Translator& translator,
                       const std::vector<std::string>& sentences, Index with_beam) {
  Translations done;
  for (const std::string& sentence : sentences) {
    const PartsWriter writer(parts, translator, translator.encode(sentence));
    const int limit = int(translator.model.config.max_length);
    const auto greedily = [&](const std::vector<int>& written) { return writer.scores(written); };
    done.greedy.push_back(translator.target->decode(parts.write_greedily(greedily, limit)));
    if (std::ssize(done.beam) == with_beam) continue;
    const auto surely = [&](const std::vector<int>& written) { return writer.log_probabilities(written); };
    done.beam.push_back(translator.target->decode(parts.search_beam(surely, 3, limit / 2, 0.6)));
  }
  return done;
}

std::vector<std::string> sources_of(const std::vector<TestSentence>& sentences, Index count) {
  std::vector<std::string> sources;
  for (const TestSentence& sentence : sentences)
    if (std::ssize(sources) < count) sources.push_back(sentence.source);
  return sources;
}

double exact_share(const std::vector<std::string>& outputs, const std::vector<TestSentence>& sentences) {
  double right = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) right += outputs[i] == sentences[i].references[0];
  return right / double(outputs.size());
}

// The cross-attention over the watched sentence, its right words dictated: the mean of the heads.
struct Look {
  viz::Matrix map;
  std::vector<std::string> read, written;
};
Look look_at(const mine::Parts& parts, const mine::TranslatorTask& task, const Translator& translator) {
  const NoGrad no_grad;
  const EncodedPair pair = encode_pairs({task.data.watched}, *translator.source, *translator.target)[0];
  const IntTensor source({1, std::ssize(pair.source)}, pair.source),
      reads({1, std::ssize(pair.target) - 1}, {pair.target.begin(), pair.target.end() - 1});
  const mine::ThreeMasks masks = parts.three_masks(source, reads);
  mine::Maps maps;
  const Tensor memory = mine::encode(parts, translator.model, source, masks.encoder);
  mine::decode(parts, translator.model, reads, memory, masks.decoder, masks.cross, &maps);
  const Tensor& weights = maps.cross.back();  // (1, H, T, S)
  Look look{viz::Matrix(weights.size(2), weights.size(3)), {}, {}};
  for (Index h = 0; h < weights.size(1); ++h)
    for (Index t = 0; t < look.map.rows; ++t)
      for (Index s = 0; s < look.map.cols; ++s)
        look.map(t, s) += float(weights(0, h, t, s)) / float(weights.size(1));
  for (const int id : pair.source) look.read.push_back(translator.source->label(id));
  for (std::size_t t = 1; t < pair.target.size(); ++t)
    look.written.push_back(translator.target->label(pair.target[t]));
  return look;
}

void judge(const mine::Parts& parts, const mine::TranslatorTask& task, const Translator& translator,
           Index tests, mine::Trained& result) {
  result.map = look_at(parts, task, translator).map;
  result.score =
      exact_share(translate(parts, translator, sources_of(task.data.test, tests), 0).greedy, task.data.test);
}

std::vector<mine::Words> words_of(const std::vector<std::string>& sentences) {
  std::vector<mine::Words> words;
  for (const std::string& sentence : sentences) words.push_back(tokenize_13a(sentence));
  return words;
}

/// ## Training
void translator_by_parts(Lesson& lesson, const mine::Parts& parts, const mine::Mistaken& mistakes) {
  const mine::TranslatorTask task(lesson.seed, lesson.fast);
  const Translator translator = task.new_translator();
  lesson.say(
      "{} pairs of sentences, {} steps of about {} tokens. One layer each, {} channels, {} heads: {} numbers "
      "to learn.",
      grouped(std::ssize(task.pairs)), grouped(task.steps()), task.settings.batch, task.settings.d_model,
      task.settings.heads, grouped(parameters_of(translator.model).count()));
  const std::vector<double> ours = mine::train_by_library(task, task.new_translator(), 10);
  mine::Trained yours;
  mine::train_by_parts(parts, task, translator, yours.losses);
  lesson.picture("losses.png",
                 viz::line_chart({{.name = "by your parts", .y = yours.losses, .smooth = 0.9}},
                                 {.title = "Your translator learns",
                                  .x_title = "step",
                                  .y_title = "cross-entropy per token (nats)",
                                  .y_scale = viz::Scale::log10}),
                 "Your loss", "The pale line is the loss of each batch, the strong one its running mean.");
  lesson.claim(mine::worst_relative(ours, yours.losses) < 1e-4,
               "the first ten losses are the library's: largest relative difference {:.0e}",
               mine::worst_relative(ours, yours.losses));

  /// ## Sentences with combinations that it has never seen
  Translator trained = translator;
  if (lesson.fast) {
    const Index steps = 600;
    lesson.say("The {} steps of --fast are too few to translate: the library trains other weights for {}.",
               task.steps(), steps);
    trained = task.new_translator();
    mine::train_by_library(task, trained, steps);
  }
  const Index tests = 200;
  const std::vector<std::string> sources = sources_of(task.data.test, tests);
  const Translations done = translate(parts, trained, sources, lesson.fast ? 5 : 20);
  std::vector<std::vector<std::string>> rows;
  for (Index i = 0; i < 5; ++i)
    rows.push_back(
        {sources[i], done.greedy[i], done.greedy[i] == task.data.test[i].references[0] ? "✓" : "✗"});
  lesson.table({"English", "your translator, greedily", ""}, rows);
  std::vector<std::string> wanted;
  References references;
  for (Index i = 0; i < tests; ++i) {
    wanted.push_back(task.data.test[i].references[0]);
    references.push_back(task.data.test[i].references);
  }
  const double your_bleu = parts.corpus_bleu(words_of(done.greedy), words_of(wanted)),
               our_bleu = bleu(done.greedy, references).score;
  const double right = exact_share(done.greedy, task.data.test);
  Index agree = 0;
  for (std::size_t i = 0; i < done.beam.size(); ++i) agree += done.beam[i] == done.greedy[i];
  lesson.say(
      "{:.1f}% of {} are right to the letter. Your BLEU gives them {:.2f}, ours {:.2f}. A beam of 3 chooses "
      "the same sentence in {} of {} cases.",
      100 * right, tests, your_bleu, our_bleu, agree, done.beam.size());
  Index same = 0;
  const std::vector<std::string> library = trained.translate(sources);
  for (Index i = 0; i < tests; ++i) same += library[i] == done.greedy[i];
  lesson.claim(same == tests, "with these weights the library translates all {} sentences as your code does",
               tests);
  if (!lesson.fast)
    lesson.claim(right >= 0.95 && std::abs(your_bleu - our_bleu) < 0.01,
                 "it translates: {:.1f}% of sentences with unseen combinations are right, letter by letter",
                 100 * right);

  /// ## Where it looks
  const Look look = look_at(parts, task, trained);
  const viz::HeatmapOptions options{.title = "Your cross-attention, mean of the heads",
                                    .x_title = "keys: the word that is read",
                                    .y_title = "queries: the word being written",
                                    .row_labels = look.written,
                                    .column_labels = look.read,
                                    .low = 0,
                                    .value_title = "weight"};
  lesson.heatmap(look.map, options);
  lesson.picture("attention.png", viz::heatmap(look.map, options), "Where your translator looks",
                 "Each row is a word being written and sums to 1: your softmax made it so.");

  const Index judged = lesson.fast ? 20 : tests;
  if (!mistakes.empty()) judge(parts, task, translator, judged, yours);
  for (const auto& mistaken : mistakes) {
    const mine::Trained broken = mine::run_mistaken([&](mine::Trained& result) {
      const Translator other = task.new_translator();
      mine::train_by_parts(*mistaken, task, other, result.losses);
      judge(*mistaken, task, other, judged, result);
    });
    mine::show_mistake(lesson, *mistaken, yours, broken,
                       {.score = "of unseen sentences right",
                        .map_title = "cross-attention",
                        .x_title = "read",
                        .y_title = "written",
                        .row_labels = look.written,
                        .column_labels = look.read});
  }
  /// ## What your parts cost
  mine::show_times(lesson, parts);
}

}  // namespace

int main(int argc, char** argv) {
  return mine::run_milestone(argc, argv, 4, "Does your translator translate?", translator_by_parts);
}
