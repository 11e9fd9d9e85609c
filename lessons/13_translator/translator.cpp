#include "lessons/13_translator/translator.hpp"

#include <iterator>  // ssize
#include <numeric>   // accumulate
#include <utility>   // move

#include "core/autograd.hpp"
#include "core/error.hpp"

namespace attn {
namespace {

TransformerConfig with_vocabularies(TransformerConfig config, const Vocabulary& source,
                                    const Vocabulary& target) {
  config.source_vocabulary = source.size();
  config.vocabulary = target.size();
  config.share_embeddings = &source == &target;
  return config;
}

}  // namespace

Translator::Translator(std::shared_ptr<const Vocabulary> source_vocabulary,
                       std::shared_ptr<const Vocabulary> target_vocabulary, TransformerConfig config,
                       Rng& rng)
    : source(std::move(source_vocabulary)),
      target(std::move(target_vocabulary)),
      model(with_vocabularies(std::move(config), *source, *target), rng) {}

Tensor Translator::loss(const Batch& batch, const Context& context, real smoothing) const {
  const Tensor logits = model(batch.source, batch.decoder_input, context);  // (B, T, V)
  return cross_entropy(logits, batch.targets, {.smoothing = smoothing, .ignore = Vocabulary::pad});
}

double Translator::mean_loss(const std::vector<EncodedPair>& pairs) const {
  const NoGrad no_grad;
  double sum = 0, tokens = 0;
  for (const std::vector<Index>& rows : plan_batches(pairs, {.sentences = 64, .shuffle = false})) {
    const Batch batch = make_batch(pairs, rows);
    const std::vector<int> lengths = batch.decoder_input.lengths.values();
    const double count = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    sum += count * loss(batch).item();
    tokens += count;
  }
  return sum / tokens;
}

std::string Translator::translate(const std::string& sentence, const Search& search) const {
  return translate_tokens({encode(sentence)}, search)[0];
}

std::vector<std::string> Translator::translate(const std::vector<std::string>& sentences,
                                               const Search& search) const {
  std::vector<std::vector<int>> encoded;
  for (const std::string& sentence : sentences) encoded.push_back(encode(sentence));
  return translate_tokens(encoded, search);
}

std::vector<int> Translator::encode(const std::string& sentence) const {
  std::vector<int> ids = source->encode(sentence);
  ids.push_back(Vocabulary::eos);
  return ids;
}

// Greedy: sentences of similar length go through the model together; the results are in the caller's order.
std::vector<std::string> Translator::translate_tokens(const std::vector<std::vector<int>>& sentences,
                                                      const Search& search) const {
  std::vector<std::string> translations(sentences.size());
  Index done = 0;
  const auto tell = [&](Index more) {
    done += more;
    if (search.progress) search.progress(done);
  };
  if (search.beam > 1) {
    for (Index i = 0; i < std::ssize(sentences); ++i) {
      translations[i] = target->decode(beam(sentences[i], search).hypotheses.at(0).tokens);
      tell(1);
    }
    return translations;
  }
  for (const std::vector<Index>& rows : plan_batches(sentences, {.sentences = 64, .shuffle = false})) {
    std::vector<std::vector<int>> chosen;
    for (const Index row : rows) chosen.push_back(sentences[row]);
    TransformerWriter writer(model, pad_batch(chosen));
    const std::vector<std::vector<int>> written = greedy(
        writer, {.start = Vocabulary::bos, .end = Vocabulary::eos, .max_length = model.config.max_length});
    for (Index i = 0; i < std::ssize(rows); ++i) translations[rows[i]] = target->decode(written[i]);
    tell(std::ssize(rows));
  }
  return translations;
}

BeamResult Translator::beam(const std::vector<int>& sentence, const Search& search) const {
  TransformerWriter writer(model, sentence);
  return beam_search(writer, {.start = Vocabulary::bos,
                              .end = Vocabulary::eos,
                              .max_length = model.config.max_length,
                              .width = search.beam,
                              .length_penalty = search.length_penalty,
                              .never = {Vocabulary::pad, Vocabulary::bos}});
}

Metadata Translator::metadata() const {
  Metadata metadata{{"config", to_json(model.config)}, {"vocabulary.source", source->save()}};
  if (target != source) metadata["vocabulary.target"] = target->save();
  return metadata;
}

Translator Translator::described_by(const Checkpoint& file) {
  const TransformerConfig config = config_from_json(file.entry("config"));
  if (parameter_count(config) != file.parameter_count())
    fail("{}: its configuration describes a model of {} numbers, but it holds {}", file.path(),
         parameter_count(config), file.parameter_count());
  const std::shared_ptr<const Vocabulary> source = load_vocabulary(file.entry("vocabulary.source"));
  const std::shared_ptr<const Vocabulary> target =
      config.share_embeddings ? source : load_vocabulary(file.entry("vocabulary.target"));
  if (source->size() != config.source_vocabulary || target->size() != config.vocabulary)
    fail("{}: the model is for {} and {} tokens, but its vocabularies have {} and {}", file.path(),
         config.source_vocabulary, config.vocabulary, source->size(), target->size());
  Rng rng;
  return Translator(source, target, config, rng);
}

Translator Translator::load(Checkpoint file) {
  Translator translator = described_by(file);
  file.read_into(parameters_of(translator.model));
  return translator;
}

}  // namespace attn
