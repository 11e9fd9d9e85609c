#include "lessons/13_translator/training.hpp"

#include <atomic>      // atomic
#include <cmath>       // ceil
#include <csignal>     // sigaction, SIGINT
#include <filesystem>  // create_directories, remove
#include <iterator>    // ssize

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "nn/text/characters.hpp"
#include "optim/progress.hpp"

namespace attn {
namespace {

std::atomic<bool> stop_asked = false;

// While one is alive, the first Ctrl-C asks the training to stop; a second one ends the program as usual.
class CatchInterrupt {
 public:
  CatchInterrupt() {
    stop_asked = false;
    struct sigaction action {};
    action.sa_handler = [](int) { stop_asked = true; };
    action.sa_flags = int(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_);
  }
  ~CatchInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

std::vector<EncodedPair> encode(const std::vector<Pair>& pairs, const Translator& translator,
                                Index& left_out) {
  std::vector<EncodedPair> encoded = encode_pairs(pairs, *translator.source, *translator.target);
  left_out = drop_long(encoded, translator.model.config.max_length);
  if (encoded.empty()) fail("every pair of sentences is longer than --max-length allows");
  return encoded;
}

std::vector<EncodedPair> encode(const std::vector<TestSentence>& sentences, const Translator& translator) {
  std::vector<Pair> pairs;
  for (const TestSentence& sentence : sentences) pairs.push_back({sentence.source, sentence.references[0]});
  Index left_out = 0;
  return encode(pairs, translator, left_out);
}

// The output of an untrained model can be long: it has not learned to stop.
std::string shortened(const std::string& sentence) {
  std::string text;
  Index count = 0;
  for (const Character& c : characters(sentence)) {
    if (++count > 70) return text + " …";
    text += c.bytes;
  }
  return text;
}

Translator new_translator(const Settings& settings, const Dataset& data) {
  const Vocabularies vocabularies = learn_vocabularies(settings, data.train);
  Rng rng(std::uint64_t(settings.seed));
  return Translator(vocabularies.source, vocabularies.target, settings.config(), rng);
}

}  // namespace

Run::Run(const Settings& run_settings, Dataset dataset, Translator initial)
    : settings(run_settings),
      data(std::move(dataset)),
      translator(std::move(initial)),
      train_(encode(data.train, translator, left_out)),
      validation_(encode(data.validation, translator)),
      optimizer_(parameters_of(translator.model), paper_adam()),
      dropout_(std::uint64_t(settings.seed) + 1) {
  rows_of(0);
}

std::unique_ptr<Run> Run::start(const Settings& settings) {
  Dataset data = make_dataset(settings);
  Translator translator = new_translator(settings, data);
  return std::unique_ptr<Run>(new Run(settings, std::move(data), std::move(translator)));
}

std::unique_ptr<Run> Run::resume(const Settings& settings, Checkpoint file) {
  std::unique_ptr<Run> run(new Run(settings, make_dataset(settings), Translator::described_by(file)));
  if (file.entry("data") != run->fingerprint())
    fail("{}: the sentences it was learning from have changed since then; start a new training", file.path());
  file.read_into(run->optimizer_, run->dropout_);
  run->history = History::from_text(file.entry("curve"));
  return run;
}

// Each epoch goes through all pairs in an order of its own.
const std::vector<Index>& Run::rows_of(Index batch) {
  const Index epoch = plan_.empty() ? 0 : batch / std::ssize(plan_);
  if (epoch != planned_epoch_) {
    plan_ = plan_batches(
        train_,
        {.sentences = 0, .tokens = settings.batch, .seed = std::uint64_t(settings.seed + 1000 * epoch)});
    planned_epoch_ = epoch;
  }
  return plan_[batch % std::ssize(plan_)];
}

Index Run::total_steps() const {
  if (settings.steps > 0) return settings.steps;
  return Index(std::ceil(settings.epochs * double(plan_.size())));
}

std::string Run::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const EncodedPair& pair : train_)
    for (const std::vector<int>* side : {&pair.source, &pair.target})
      for (const int id : *side) hash = (hash ^ std::uint64_t(id)) * 0x100000001b3;
  return fmt::format("{} pairs, {:016x}", train_.size(), hash);
}

void Run::save_run() const {
  Metadata metadata = translator.metadata();
  metadata["settings"] = run_settings_json(settings);
  metadata["steps"] = fmt::format("{}", total_steps());
  metadata["data"] = fingerprint();
  metadata["curve"] = history.text();
  save_checkpoint(settings.run_path(), optimizer_, dropout_, metadata);
}

void Run::save_weights() const {
  Metadata metadata = translator.metadata();
  metadata["settings"] = run_settings_json(settings);
  save_model(settings.weights_path(), parameters_of(translator.model), metadata);
  const std::filesystem::path weights = settings.weights_path();
  write_file_atomically(std::filesystem::path(weights).replace_extension(".losses.tsv"), {history.text()});
}

TrainEnd Run::train(Lesson& lesson, const std::function<void()>& early_look) {
  const CatchInterrupt catch_interrupt;
  const std::filesystem::path folder = std::filesystem::path(settings.weights_path()).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);  // better now than after the training
  const Index steps = total_steps(), every = std::max<Index>(1, steps / settings.validations);
  const TrainOptions options{.steps = steps,
                             .schedule = {.kind = schedule_from_name(settings.schedule),
                                          .peak = settings.learning_rate,
                                          .warmup = settings.warmup,
                                          .total = steps,
                                          .d_model = settings.d_model},
                             .validate_every = every,
                             .record_every = std::max<Index>(1, steps / 1000),
                             .label = "training",
                             .time_limit = settings.time_limit};
  const auto loss = [&](Index number) {
    const Batch batch = make_batch(train_, rows_of(number));
    const Context context{.training = true, .rng = &dropout_};
    return StepLoss{translator.loss(batch, context, real(settings.smoothing)),
                    batch.source.ids.numel() + batch.targets.numel()};
  };
  const auto after_step = [&](const TrainPoint& point) {
    if (point.step == every) early_look();
    if (point.step % every != 0) return;
    if (on_terminal()) fmt::print("\r\033[K");  // the bar is drawn again below
    lesson.print("  step {:5}  validation {:.4f}   {}", point.step, history.validations.back().loss,
                 shortened(translator.translate(data.watched.source)));
    if (point.step < steps) save_run();
  };
  attn::train(optimizer_, options,
              {.loss = loss,
               .validate = [&] { return translator.mean_loss(validation_); },
               .after_step = after_step,
               .interrupted = [] { return stop_asked.load(); }},
              history);

  if (optimizer_.steps >= steps) {  // even if it was stopped at its very last step
    save_weights();
    std::filesystem::remove(settings.run_path());
    return TrainEnd::finished;
  }
  save_run();
  if (history.end == TrainEnd::time_limit) save_weights();
  return history.end;
}

}  // namespace attn
