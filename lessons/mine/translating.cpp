#include "lessons/mine/translating.hpp"

#include <cmath>  // log

#include "core/autograd.hpp"
#include "core/ops.hpp"
#include "lessons/mine/training.hpp"
#include "nn/text/batching.hpp"
#include "optim/trainer.hpp"

namespace attn::mine {
namespace {

Settings small_settings(std::uint64_t seed, bool fast) {
  Settings settings;
  settings.seed = seed;
  settings.pairs = fast ? 4000 : 40000;
  settings.test = 200;
  settings.size = "tiny";
  settings.d_model = 32, settings.heads = 4, settings.layers = 1, settings.d_ff = 128;
  settings.dropout = 0;
  settings.batch = fast ? 300 : 800;
  settings.steps = fast ? 60 : 2000;
  return settings;
}

Tensor logits_of(const Parts& parts, const Transformer& model, const IntTensor& source,
                 const IntTensor& reads) {
  const ThreeMasks masks = parts.three_masks(source, reads);
  const Index B = source.shape()[0], S = source.shape()[1], T = reads.shape()[1];
  check_result(parts.three_masks, masks.encoder, {B, S, S});
  check_result(parts.three_masks, masks.decoder, {B, T, T});
  check_result(parts.three_masks, masks.cross, {B, T, S});
  const Tensor memory = encode(parts, model, source, masks.encoder);
  return decode(parts, model, reads, memory, masks.decoder, masks.cross);
}

}  // namespace

TranslatorTask::TranslatorTask(std::uint64_t seed, bool fast)
    : settings(small_settings(seed, fast)),
      data(make_dataset(settings)),
      vocabularies(learn_vocabularies(settings, data.train)),
      pairs(encode_pairs(data.train, *vocabularies.source, *vocabularies.target)) {}

Translator TranslatorTask::new_translator() const {
  Rng rng(settings.seed);
  return Translator(vocabularies.source, vocabularies.target, settings.config(), rng);
}

const std::vector<Index>& TranslatorTask::rows_of(Index step) const {
  const Index epoch = plan_.empty() ? 0 : step / std::ssize(plan_);
  if (epoch != planned_epoch_)
    plan_ = plan_batches(
        pairs,
        {.sentences = 0, .tokens = settings.batch, .seed = settings.seed + 1000 * std::uint64_t(epoch)});
  planned_epoch_ = epoch;
  return plan_[step % std::ssize(plan_)];
}

std::vector<double> train_by_library(const TranslatorTask& task, const Translator& translator, Index steps) {
  Adam adam(parameters_of(translator.model), paper_adam());
  const History history =
      train(adam,
            {.steps = steps,
             .schedule = {.kind = ScheduleKind::noam,
                          .peak = task.rate,
                          .warmup = task.warmup,
                          .d_model = task.settings.d_model},
             .progress = steps > 10},
            {.loss = [&](Index batch) {
              return StepLoss{translator.loss(make_batch(task.pairs, task.rows_of(batch))), 0};
            }});
  std::vector<double> losses;
  for (const TrainPoint& point : history.steps) losses.push_back(point.loss);
  return losses;
}

void train_by_parts(const Parts& parts, const TranslatorTask& task, const Translator& translator,
                    std::vector<double>& losses) {
  Trainer trainer(parts, parameters_of(translator.model),
                  {.rate = task.rate, .warmup = task.warmup, .d_model = task.settings.d_model, .clip = 1});
  trainer.show_progress("your translator learns", task.steps());
  for (Index step = 0; step < task.steps(); ++step) {
    std::vector<std::vector<int>> sources, targets;
    for (const Index row : task.rows_of(step)) {
      const EncodedPair& pair = task.pairs[row];
      sources.push_back(pair.source);
      targets.emplace_back(pair.target.begin() + 1, pair.target.end() - 1);  // the words alone
    }
    const IntTensor source = parts.pad_rows(sources, Vocabulary::pad).first;
    const TwoTables dictated = parts.dictate(targets);
    const Tensor logits = logits_of(parts, translator.model, source, dictated.first);
    losses.push_back(trainer.step(sentence_loss(parts, logits, dictated.second, 0)));
  }
}

PartsWriter::PartsWriter(const Parts& parts, const Translator& translator, const std::vector<int>& source)
    : parts_(parts), translator_(translator), source_({1, std::ssize(source)}, source) {
  const NoGrad no_grad;
  const Tensor all = parts.three_masks(source_, IntTensor({1, 1}, {Vocabulary::bos})).encoder;
  memory_ = encode(parts, translator.model, source_, all);
}

std::vector<double> PartsWriter::scores(const std::vector<int>& written) const {
  const NoGrad no_grad;
  const IntTensor reads({1, std::ssize(written)}, written);
  const ThreeMasks masks = parts_.three_masks(source_, reads);
  const Tensor logits = decode(parts_, translator_.model, reads, memory_, masks.decoder, masks.cross);
  const real* last = logits.data() + (logits.size(1) - 1) * logits.size(2);
  return {last, last + logits.size(2)};
}

std::vector<double> PartsWriter::log_probabilities(const std::vector<int>& written) const {
  const std::vector<double> logits = scores(written);
  const Tensor row = from_values({1, std::ssize(logits)}, {logits.begin(), logits.end()});
  const Tensor p = parts_.row_softmax(row);
  check_result(parts_.row_softmax, p, row.shape());
  std::vector<double> logs;
  for (const real each : p.values()) logs.push_back(std::log(double(each)));
  return logs;
}

}  // namespace attn::mine
