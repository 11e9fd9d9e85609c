/// A translator that the library has trained looks back at the English sentence while it writes French: that
/// is the picture at the top of the README. Here the same weights go through your code: your masks say what
/// may be seen, your heads cut the channels, your scores and your masked softmax make the weights. If every
/// number is the library's, so is the picture.
#include <algorithm>   // max
#include <cmath>       // fabs
#include <filesystem>  // exists

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/mine/milestone.hpp"
#include "lessons/mine/translating.hpp"
#include "optim/checkpoint.hpp"

using namespace attn;

namespace {

// The translator of lesson 13, if it has been trained; else a small one, trained now by the library.
Translator trained_translator(Lesson& lesson, const mine::TranslatorTask& task) {
  const std::filesystem::path file = lesson.out / "13_translator" / "en-fr.safetensors";
  if (!lesson.fast && std::filesystem::exists(file)) {
    lesson.say("The weights are those of lesson 13, from {}.", file.string());
    return Translator::load(Checkpoint(file.string()));
  }
  lesson.say("Lesson 13 has not been run yet, so the library trains a small translator now.");
  const Translator translator = task.new_translator();
  mine::train_by_library(task, translator, lesson.fast ? 100 : 1200);
  return translator;
}

// Two sentences, the second one shorter: what it is filled up with must stay hidden.
struct TwoSentences {
  Batch batch;
  std::vector<int> source_lengths, target_lengths;
};

TwoSentences two_sentences(const Translator& translator, const Pair& watched) {
  const std::vector<EncodedPair> pairs =
      encode_pairs({watched, {"The cat sleeps.", "Le chat dort."}}, *translator.source, *translator.target);
  TwoSentences both{make_batch(pairs, {0, 1}), {}, {}};
  both.source_lengths = both.batch.source.lengths.values();
  both.target_lengths = both.batch.decoder_input.lengths.values();
  return both;
}

// Which of S keys each of T queries may see: the same row for all of them.
Tensor for_each_query(const Tensor& keys, Index T) {  // (B, S) -> (B, T, S)
  const Index B = keys.size(0), S = keys.size(1);
  return broadcast_to(reshape(keys, {B, 1, S}), {B, T, S});
}

struct Seen {
  Tensor logits;
  mine::Maps maps;
};

Seen by_parts(const mine::Parts& parts, const Translator& translator, const TwoSentences& both) {
  const NoGrad no_grad;
  const Batch& batch = both.batch;
  const Index B = 2, S = batch.source.ids.shape()[1], T = batch.targets.shape()[1];
  const Tensor words = parts.padding_mask(both.source_lengths, S),
               past = parts.decoder_mask(both.target_lengths, T);
  mine::check_result(parts.padding_mask, words, {B, S});
  mine::check_result(parts.decoder_mask, past, {B, T, T});
  Seen seen;
  const Tensor memory =
      mine::encode(parts, translator.model, batch.source.ids, for_each_query(words, S), &seen.maps);
  seen.logits = mine::decode(parts, translator.model, batch.decoder_input.ids, memory, past,
                             for_each_query(words, T), &seen.maps);
  return seen;
}

double worst_difference(const Seen& yours, const AttentionMaps& ours) {
  double worst = 0;
  std::size_t encoder = 0, decoder = 0, cross = 0;
  for (const AttentionMap& map : ours) {
    const std::string name = map.name;
    const Tensor& other = name == "encoder"   ? yours.maps.encoder.at(encoder++)
                          : name == "decoder" ? yours.maps.decoder.at(decoder++)
                                              : yours.maps.cross.at(cross++);
    worst = std::max(worst, max_difference(map.weights, other));
  }
  return worst;
}

std::vector<std::string> labels(const Vocabulary& vocabulary, const IntTensor& ids) {
  std::vector<std::string> texts;
  for (Index t = 0; t < ids.shape()[1]; ++t) texts.push_back(vocabulary.label(ids(0, t)));
  return texts;
}

// The heads of the last layer, over the first sentence.
viz::Image heads_of(const Tensor& weights, const viz::HeatmapOptions& options, const std::string& title) {
  std::vector<viz::Image> heads;
  for (Index h = 0; h < weights.size(1); ++h) {
    viz::HeatmapOptions one = options;
    one.title = fmt::format("head {}", h + 1);
    one.color_bar = h + 1 == weights.size(1);
    one.cell = 22;
    heads.push_back(viz::heatmap(matrix_of(weights, {0, h}), one));
  }
  return viz::row(heads, {.title = title});
}

/// ## The same weights, your attention
void attention_by_parts(Lesson& lesson, const mine::Parts& parts, const mine::Mistaken& mistakes) {
  const mine::TranslatorTask task(lesson.seed, lesson.fast);
  const Translator translator = trained_translator(lesson, task);
  const TwoSentences both = two_sentences(translator, task.data.watched);
  /// Two sentences in one batch, the second filled up with <pad>. Your `padding_mask` and `decoder_mask` hide
  /// what no word may look at.
  lesson.print("  {}\n  {}", task.data.watched.source, task.data.watched.target);
  const Seen yours = by_parts(parts, translator, both);
  AttentionMaps ours;
  const Tensor logits = [&] {
    const NoGrad no_grad;
    return translator.model(both.batch.source, both.batch.decoder_input, {.maps = &ours});
  }();
  const viz::HeatmapOptions options{.x_title = "keys: the word that is read",
                                    .y_title = "queries: the word being written",
                                    .row_labels = labels(*translator.target, both.batch.targets),
                                    .column_labels = labels(*translator.source, both.batch.source.ids),
                                    .low = 0,
                                    .high = 1,
                                    .value_title = "weight"};
  const Tensor& cross = yours.maps.cross.back();
  lesson.heatmap(matrix_of(mean(cross, 1), {0}), options);
  lesson.picture(
      "cross_attention.png", heads_of(cross, options, "Cross-attention, drawn by your code"),
      "Cross-attention, drawn by your code",
      "Each row is a word being written and sums to 1. Follow the bright cells from top to bottom: where "
      "French turns the words around, they step back.");
  const double worst = worst_difference(yours, ours);
  lesson.claim(worst < 1e-4, "all {} maps of both sentences are the library's: largest difference {:.0e}",
               ours.size(), worst);
  const double difference = max_difference(yours.logits, logits);
  lesson.claim(difference < 1e-3 * std::fabs(attn::max(logits).item()),
               "and so are the scores of every word: largest difference {:.0e}", difference);

  for (const auto& mistaken : mistakes) {
    const mine::Trained broken = mine::run_mistaken([&](mine::Trained& result) {
      const Seen seen = by_parts(*mistaken, translator, both);
      result.map = matrix_of(mean(seen.maps.cross.back(), 1), {0});
      result.losses = {cross_entropy(seen.logits, both.batch.targets, {.ignore = Vocabulary::pad}).item()};
    });
    mine::Trained right;
    right.map = matrix_of(mean(cross, 1), {0});
    right.losses = {cross_entropy(logits, both.batch.targets, {.ignore = Vocabulary::pad}).item()};
    mine::show_mistake(lesson, *mistaken, right, broken,
                       {.score = "",
                        .map_title = "cross-attention",
                        .x_title = "read",
                        .y_title = "written",
                        .row_labels = options.row_labels,
                        .column_labels = options.column_labels});
  }
  /// ## What your parts cost
  mine::show_times(lesson, parts);
}

}  // namespace

int main(int argc, char** argv) {
  return mine::run_milestone(argc, argv, 2, "Does your attention look where it should?", attention_by_parts);
}
