#include "lessons/13_translator/training.hpp"

#include <unistd.h>  // sysconf

#include <atomic>      // atomic
#include <cmath>       // ceil
#include <csignal>     // sigaction, SIGHUP, SIGINT, SIGTERM
#include <filesystem>  // exists, remove
#include <iterator>    // ssize
#include <numeric>     // accumulate
#include <optional>    // optional

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "nn/text/characters.hpp"
#include "optim/progress.hpp"
#include "optim/shards.hpp"

namespace attn {
namespace {

std::atomic<int> stop_signal = 0;

// While one is alive, the first Ctrl-C (or a polite kill, or a closed terminal) asks the training to stop; a
// second one ends the program as usual. What is ignored stays ignored: nohup protects from SIGHUP.
class CatchSignals {
 public:
  CatchSignals() {
    stop_signal = 0;
    struct sigaction action {};
    action.sa_handler = [](int signal) { stop_signal = signal; };
    action.sa_flags = int(SA_RESETHAND);
    for (Index i = 0; i < count; ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
  }
  ~CatchSignals() {
    for (Index i = 0; i < count; ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  CatchSignals(const CatchSignals&) = delete;
  CatchSignals& operator=(const CatchSignals&) = delete;

 private:
  static constexpr Index count = 3;
  static constexpr int signals[count] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[count] {};
};

// The settings of the model that is there; empty if there is none. Refuses a file that is not ours.
std::string settings_at(const std::string& path) {
  check_writable(path);
  if (!std::filesystem::exists(path)) return "";
  try {
    return Checkpoint(path).entry("settings");
  } catch (const Error& error) {
    fail("{} is there and is not a model of this program ({}): remove it, or give another --checkpoint", path,
         error.what());
  }
}

// Refuses the work of other settings.
void check_replaceable(const std::string& path, const std::string& stored, const Settings& settings) {
  if (stored.empty() || settings.overwrite) return;
  const std::string other = difference_from(settings, stored);
  if (!other.empty())
    fail("{} was trained with {}: give another --checkpoint to keep it, or --overwrite to replace it", path,
         other);
}

std::vector<EncodedPair> encode(const std::vector<Pair>& pairs, const Translator& translator) {
  std::vector<EncodedPair> encoded = encode_pairs(pairs, *translator.source, *translator.target);
  drop_long(encoded, translator.model.config.max_length);
  if (encoded.empty()) fail("every pair of sentences is longer than --max-length allows");
  return encoded;
}

std::vector<EncodedPair> encode(const std::vector<TestSentence>& sentences, const Translator& translator) {
  std::vector<Pair> pairs;
  for (const TestSentence& sentence : sentences) pairs.push_back({sentence.source, sentence.references[0]});
  return encode(pairs, translator);
}

std::string fingerprint_of(const std::vector<EncodedPair>& pairs, Index of) {
  std::uint64_t hash = fnv1a("");
  for (const EncodedPair& pair : pairs)
    for (const std::vector<int>* side : {&pair.source, &pair.target})
      hash = fnv1a({reinterpret_cast<const char*>(side->data()), side->size() * sizeof(int)}, hash);
  return fmt::format("{} pairs, {:016x}", of, hash);
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
  TransformerConfig config = settings.config();
  config.vocabulary = vocabularies.target->size();
  config.source_vocabulary = vocabularies.source->size();
  const double gigabyte = 1 << 30, copies = 4;  // weights, gradients and Adam's two means
  const double needed = copies * sizeof(real) * double(parameter_count(config)) / gigabyte;
  const double there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / gigabyte;
  if (needed > there)
    fail("a model of {} numbers takes {:.1f} GB to train, and this machine has {:.1f}: give a smaller --size",
         parameter_count(config), needed, there);
  Rng rng(std::uint64_t(settings.seed));
  return Translator(vocabularies.source, vocabularies.target, settings.config(), rng);
}

std::optional<Range> part_of_state(const Settings& settings, const Translator& translator) {
  if (!settings.zero) return {};
  return part_of(parameters_of(translator.model).count(), world().rank(), world().size());
}

}  // namespace

Run::Run(const Settings& run_settings, Dataset dataset, Translator initial)
    : settings(run_settings),
      data(std::move(dataset)),
      translator(std::move(initial)),
      train_(encode(data.train, translator)),
      validation_(encode(data.validation, translator)),
      fingerprint_(fingerprint_of(train_, data.portions ? data.pairs : std::ssize(train_))),
      optimizer_(parameters_of(translator.model), paper_adam(), part_of_state(settings, translator)),
      dropout_(std::uint64_t(settings.seed) + 1) {
  left_out = std::ssize(data.train) - std::ssize(train_);
  rows_of(0);
}

std::unique_ptr<Run> Run::begin(Settings settings) {
  lock(settings);  // refused before the work of loading
  const std::string finished = settings_at(settings.weights_path()),
                    unfinished = settings_at(settings.run_path());
  if (!unfinished.empty() && !settings.overwrite) settings = with_shards_of(unfinished, settings);
  check_replaceable(settings.weights_path(), finished, settings);
  check_replaceable(settings.run_path(), unfinished, settings);
  if (!settings.overwrite && std::filesystem::exists(settings.run_path()))
    return resume(settings, Checkpoint(settings.run_path()));
  std::unique_ptr<Run> run = start(settings);
  if (!settings.overwrite && std::filesystem::exists(settings.weights_path())) {
    const Checkpoint model(settings.weights_path());
    if (model.metadata().contains("data") && model.entry("data") != run->fingerprint_)
      fail(
          "{} was trained on other sentences: give another --checkpoint to keep it, or --overwrite to "
          "replace it",
          model.path());
  }
  return run;
}

std::unique_ptr<Run> Run::start(const Settings& settings) {
  Dataset data = make_dataset(settings);
  Translator translator = new_translator(settings, data);
  return std::unique_ptr<Run>(new Run(settings, std::move(data), std::move(translator)));
}

std::unique_ptr<Run> Run::start(const Settings& settings, Translator translator) {
  return std::unique_ptr<Run>(new Run(settings, make_dataset(settings), std::move(translator)));
}

std::unique_ptr<Run> Run::resume(const Settings& settings, Checkpoint file) {
  std::unique_ptr<Run> run(new Run(settings, make_dataset(settings), Translator::described_by(file)));
  if (file.entry("data") != run->fingerprint_)
    fail("{}: the sentences it was learning from have changed since then; start a new training", file.path());
  file.read_into(run->optimizer_, run->dropout_);
  if (run->optimizer_.steps > run->total_steps())
    fail("{}: is at step {} of {}", file.path(), run->optimizer_.steps, run->total_steps());
  run->history = History::from_text(file.entry("curve"));
  return run;
}

// A round goes through the pairs in memory in an order of its own: through all of them or, of a large corpus,
// through the next portion. Portions are drawn at random, so each gives as many steps as the first.
const std::vector<Index>& Run::rows_of(Index batch) {
  const Index round = steps_per_round_ == 0 ? 0 : batch / steps_per_round_;
  if (round != round_) {
    if (data.portions && round_ != -1)  // the first is there
      train_ = encode(data.portions->portion(round % data.portions->portions()), translator);
    plan_ = plan_batches(
        train_,
        {.sentences = 0, .tokens = settings.batch, .seed = std::uint64_t(settings.seed + 1000 * round)});
    if (steps_per_round_ == 0) steps_per_round_ = std::ssize(plan_);
    round_ = round;
  }
  return plan_[batch % steps_per_round_ % std::ssize(plan_)];
}

Index Run::total_steps() const {
  if (settings.steps > 0) return settings.steps;
  const Index rounds = data.portions ? data.portions->portions() : 1;  // in an epoch
  return Index(std::ceil(settings.epochs * double(rounds * steps_per_round_)));
}

void Run::save_run() const {
  Metadata metadata = translator.metadata();
  metadata["settings"] = run_settings_json(settings);
  metadata["steps"] = fmt::format("{}", total_steps());
  metadata["data"] = fingerprint_;
  metadata["curve"] = history.text();
  save_checkpoint(settings.run_path(), optimizer_, dropout_, metadata, world());
}

void Run::save_weights() const {
  Metadata metadata = translator.metadata();
  metadata["settings"] = run_settings_json(settings);
  metadata["data"] = fingerprint_;
  save_model(settings.weights_path(), parameters_of(translator.model), metadata);
  const std::filesystem::path weights = settings.weights_path();
  write_file_atomically(std::filesystem::path(weights).replace_extension(".losses.tsv"), {history.text()});
}

int Run::signal() const { return stop_signal; }

// A shard is some of a batch's sentences. Its loss is the mean over its own tokens, so it counts as much as
// it has of the batch's.
StepLoss Run::loss_of(Index number, Index shard, const AttentionProbe* probe) {
  const std::vector<Index>& rows = rows_of(number);
  const auto tokens = [&](auto begin, auto end) {  // of the targets: all but <bos>
    return std::accumulate(
        begin, end, 0.0, [&](double sum, Index row) { return sum + double(train_[row].target.size()) - 1; });
  };
  const Range part = shards_of(std::ssize(rows), shard, settings.shards);
  const auto begin = rows.begin() + part.begin, end = rows.begin() + part.end;
  if (begin == end) return {};  // fewer sentences than shards
  Rng own = shard_rng(dropout_.key, number, shard);
  const Batch batch = make_batch(train_, {begin, end});
  const Context context{.training = true, .rng = settings.shards == 1 ? &dropout_ : &own, .probe = probe};
  return {.loss = translator.loss(batch, context, real(settings.smoothing)),
          .tokens = batch.source.ids.numel() + batch.targets.numel(),
          .weight = tokens(begin, end) / tokens(rows.begin(), rows.end())};
}

// Ranks read the same files and compute the same things. If they do not, that is found out here.
void Run::check_group() const {
  const std::string own = run_settings_json(settings) + fingerprint_ + fmt::format(" {}", steps_taken());
  std::string of_root = own;
  world().broadcast(of_root);
  if (own != of_root)
    fail("rank {} has other options, sentences or another {} than rank 0: give it the same files",
         world().rank(), settings.run_path());
}

std::unique_ptr<FileLock> Run::lock(const Settings& settings) {
  if (!world().is_root()) return nullptr;
  return std::make_unique<FileLock>(
      settings.run_path() + ".lock",
      fmt::format("{} is being trained; wait, or give another --checkpoint", settings.run_path()));
}

TrainOptions Run::options() const {
  const Index steps = total_steps();
  return {.steps = steps,
          .schedule = {.kind = schedule_from_name(settings.schedule),
                       .peak = settings.learning_rate,
                       .warmup = settings.warmup,
                       .total = steps,
                       .d_model = settings.d_model},
          .validate_every = std::max<Index>(1, steps / settings.validations),
          .record_every = std::max<Index>(1, steps / 1000),
          .time_limit = settings.time_limit,
          .shards = settings.shards,
          .group = &world()};
}

void Run::advance(Index steps, const AttentionProbe* probe) {
  TrainOptions options = this->options();
  options.steps = std::min(options.steps, steps_taken() + steps);
  options.progress = false;
  attn::train(optimizer_, options,
              {.loss = [&](Index batch) { return loss_of(batch, 0, probe); },
               .shard_loss = [&](Index batch, Index shard) { return loss_of(batch, shard, probe); }},
              history);
}

TrainEnd Run::train(Lesson& lesson, const std::function<void()>& early_look) {
  const std::unique_ptr<FileLock> locked = lock(settings);
  check_group();
  const CatchSignals catch_signals;
  world().when_lost([path = settings.run_path()] {
    return std::filesystem::exists(path) ? fmt::format("go on from {} with `resume`", path)
                                         : fmt::format("nothing had been saved as {} yet", path);
  });
  const TrainOptions options = this->options();
  const Index steps = options.steps, every = options.validate_every;
  const auto after_step = [&](const TrainPoint& point) {
    if (point.step == every) early_look();
    if (point.step % every != 0) return;
    save_run();  // before anything is printed: that can fail
    if (!world().is_root()) return;
    if (on_terminal()) fmt::print("\r\033[K");  // the bar is drawn again below
    lesson.print("  {:>6}     {:.5f}  {}", grouped(point.step), history.validations.back().loss,
                 shortened(translator.translate(data.watched.source)));
  };
  attn::train(optimizer_, options,
              {.loss = [&](Index batch) { return loss_of(batch, 0); },
               .shard_loss = [&](Index batch, Index shard) { return loss_of(batch, shard); },
               .validate = [&] { return translator.mean_loss(validation_); },
               .after_step = after_step,
               .interrupted = [] { return stop_signal != 0; }},
              history);

  const bool finished = optimizer_.steps >= steps;  // even if it was stopped at its very last step
  if (!finished) save_run();
  if (world().is_root() && (finished || history.end == TrainEnd::time_limit)) save_weights();
  if (world().is_root() && finished) std::filesystem::remove(settings.run_path());
  world().barrier();  // until the root has saved, the others watch over it
  world().when_lost(nullptr);
  return finished ? TrainEnd::finished : history.end;
}

}  // namespace attn
