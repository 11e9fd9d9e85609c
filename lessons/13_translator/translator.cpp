#include "lessons/13_translator/translator.hpp"

#include <numeric>  // iota
#include <utility>  // move

#include "core/autograd.hpp"
#include "core/error.hpp"

namespace attn {
namespace {

// Columns begin … end-1 of a batch, as a tensor.
IntTensor columns(const Batch& batch, Index begin, Index end) {
  IntTensor out({batch.rows, end - begin});
  for (Index row = 0; row < batch.rows; ++row)
    for (Index col = begin; col < end; ++col) out(row, col - begin) = batch.at(row, col);
  return out;
}

TransformerConfig with_vocabularies(TransformerConfig config, const Vocabulary& source,
                                    const Vocabulary& target) {
  config.source_vocabulary = source.size();
  config.vocabulary = target.size();
  config.share_embeddings = &source == &target;
  return config;
}

const std::string& entry(const std::string& path, const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) fail("{}: is no translator: its metadata has no '{}'", path, key);
  return found->second;
}

}  // namespace

TranslationBatch batch_of(const PairBatch& batch) {
  TranslationBatch out;
  out.source = columns(batch.source, 0, batch.source.cols);  // (B, S)
  out.source_lengths = {{batch.source.rows}, batch.source.lengths};
  out.reads = columns(batch.target, 0, batch.target.cols - 1);  // (B, T)
  out.writes = columns(batch.target, 1, batch.target.cols);     // (B, T)
  std::vector<int> lengths = batch.target.lengths;
  for (Index row = 0; row < batch.target.rows; ++row) {
    const int last =
        --lengths[static_cast<std::size_t>(row)];  // where <eos> stands: there is nothing after it
    if (last < batch.target.cols - 1) out.reads(row, last) = Vocabulary::pad;
  }
  out.read_lengths = {{batch.target.rows}, lengths};
  return out;
}

Translator::Translator(std::shared_ptr<const Vocabulary> source_vocabulary,
                       std::shared_ptr<const Vocabulary> target_vocabulary, TransformerConfig config,
                       Rng& rng)
    : source(std::move(source_vocabulary)),
      target(std::move(target_vocabulary)),
      model(with_vocabularies(std::move(config), *source, *target), rng) {}

Tensor Translator::loss(const TranslationBatch& batch, Context& context, real smoothing) const {
  const Tensor logits =
      model(batch.source, batch.source_lengths, batch.reads, batch.read_lengths, context);  // (B, T, V)
  return cross_entropy(logits, batch.writes, {.smoothing = smoothing, .ignore = Vocabulary::pad});
}

double Translator::mean_loss(const std::vector<EncodedPair>& pairs) const {
  const NoGrad no_grad;
  Context context;
  double sum = 0, tokens = 0;
  for (const auto& rows : plan_batches(pairs, {.sentences = 64, .shuffle = false})) {
    const TranslationBatch batch = batch_of(make_batch(pairs, rows));
    const std::vector<int> lengths = batch.read_lengths.values();
    const double count = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    sum += count * loss(batch, context).item();
    tokens += count;
  }
  return sum / tokens;
}

// Sentences of one length go through the model together; the results come back in the order asked for.
std::vector<std::string> Translator::translate(const std::vector<std::string>& sentences,
                                               const Search& search) const {
  std::vector<std::string> translations(sentences.size());
  if (search.beam > 1) {
    for (std::size_t i = 0; i < sentences.size(); ++i)
      translations[i] = target->decode(beam(sentences[i], search).hypotheses.at(0).tokens);
    return translations;
  }
  std::vector<std::vector<int>> encoded;
  for (const std::string& sentence : sentences) {
    encoded.push_back(source->encode(sentence));
    encoded.back().push_back(Vocabulary::eos);
  }
  for (const auto& rows : plan_batches(encoded, {.sentences = 64, .shuffle = false})) {
    std::vector<std::vector<int>> chosen;
    for (const Index row : rows) chosen.push_back(encoded[static_cast<std::size_t>(row)]);
    const Batch batch = pad_batch(chosen);
    TransformerWriter writer(model, columns(batch, 0, batch.cols), {{batch.rows}, batch.lengths});
    const auto written = greedy(
        writer, {.start = Vocabulary::bos, .end = Vocabulary::eos, .max_length = model.config.max_length});
    for (std::size_t i = 0; i < rows.size(); ++i)
      translations[static_cast<std::size_t>(rows[i])] = target->decode(written[i]);
  }
  return translations;
}

std::string Translator::translate(const std::string& sentence, const Search& search) const {
  return translate(std::vector<std::string>{sentence}, search)[0];
}

BeamResult Translator::beam(const std::string& sentence, const Search& search) const {
  std::vector<int> ids = source->encode(sentence);
  ids.push_back(Vocabulary::eos);
  TransformerWriter writer(model, {{1, static_cast<Index>(ids.size())}, ids}, {});
  return beam_search(writer, {.start = Vocabulary::bos,
                              .end = Vocabulary::eos,
                              .max_length = model.config.max_length,
                              .width = search.beam,
                              .length_penalty = search.length_penalty});
}

Index Translator::too_long(const std::string& sentence) const {
  const Index tokens = static_cast<Index>(source->encode(sentence).size()) + 1;
  return tokens > model.config.max_length ? tokens : 0;
}

Metadata Translator::metadata() const {
  Metadata metadata{{"config", to_json(model.config)}, {"vocabulary.source", source->save()}};
  if (target != source) metadata["vocabulary.target"] = target->save();
  return metadata;
}

Translator Translator::from_metadata(const std::string& path, const Metadata& metadata) {
  const TransformerConfig config = config_from_json(entry(path, metadata, "config"));
  const std::shared_ptr<const Vocabulary> source =
      load_vocabulary(entry(path, metadata, "vocabulary.source"));
  const std::shared_ptr<const Vocabulary> target =
      config.share_embeddings ? source : load_vocabulary(entry(path, metadata, "vocabulary.target"));
  if (source->size() != config.source_vocabulary || target->size() != config.vocabulary)
    fail("{}: the model is for {} and {} tokens, but its vocabularies have {} and {}", path,
         config.source_vocabulary, config.vocabulary, source->size(), target->size());
  Rng rng;
  return Translator(source, target, config, rng);
}

Translator Translator::load(const std::string& path) {
  Translator translator = from_metadata(path, load_metadata(path));
  load_model(path, parameters_of(translator.model));
  return translator;
}

}  // namespace attn
