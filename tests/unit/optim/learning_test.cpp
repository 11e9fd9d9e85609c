// Do the models learn? Each family learns one batch by heart, and an encoder-decoder learns to copy and to
// reverse sentences that it has never seen.
#include "nn/decode.hpp"
#include "optim/trainer.hpp"
#include "tests/unit/small_models.hpp"

namespace attn {
namespace {

// Trains on a loss that takes the number of the batch; returns the last loss.
double learn(const ParameterList& parameters, Index steps, double peak,
             const std::function<Tensor(Index)>& loss) {
  Adam optimizer(parameters, paper_adam());
  const Schedule schedule{.kind = ScheduleKind::linear, .peak = peak, .warmup = steps / 10, .total = steps};
  const History history =
      train(optimizer, {.steps = steps, .schedule = schedule, .progress = false}, {.loss = [&](Index batch) {
              return StepLoss{loss(batch), 0};
            }});
  return history.steps.back().loss;
}

TransformerConfig learner_config() {
  TransformerConfig config = small_config();
  config.d_model = 16, config.d_ff = 32, config.encoder_layers = config.decoder_layers = 1;
  return config;
}

TEST_CASE("every encoder-decoder learns one batch by heart") {
  const Threads one(1);
  // No target begins as the decoder's input does, with 0: without a table of positions, attention cannot tell
  // one 0 from two.
  const IntTensor source = random_ids({4, 6}, 7, 1), target = random_ids({4, 5}, 7, 2, 1);
  std::vector<std::pair<std::string, TransformerConfig>> models;
  for (const Positions positions : all_positions) {
    models.emplace_back(name_of(positions), learner_config());
    models.back().second.positions = positions;
  }
  models.emplace_back("pre-norm", learner_config());
  models.back().second.pre_norm = true;
  models.emplace_back("T5", t5_config({.vocabulary = 7, .d_model = 16, .heads = 2, .layers = 1}));
  models.back().second.dropout = 0;
  for (const auto& entry : models) {
    CAPTURE(entry.first);
    Rng rng(1);
    const Transformer model(entry.second, rng);
    const double loss = learn(parameters_of(model), 300, 0.01, [&](Index) {
      return cross_entropy(model(source, shift_right(target, 0)), target);
    });
    CHECK(loss < 0.02);
  }
}

TEST_CASE("a GPT learns one batch by heart") {
  const Threads one(1);
  Rng rng(1);
  const Gpt gpt(gpt_config({.vocabulary = 7, .d_model = 16, .heads = 2, .layers = 2, .max_length = 8}), rng);
  IntTensor text = random_ids({4, 8}, 7, 2), next({4, 8}, std::vector<int>(32, -1));
  for (Index b = 0; b < 4; ++b) {
    text(b, 0) = int(b);  // the first word tells the texts apart
    for (Index t = 0; t < 7; ++t) next(b, t) = text(b, t + 1);
  }
  CHECK(learn(parameters_of(gpt), 300, 0.01,
              [&](Index) { return cross_entropy(gpt(text), next, {.ignore = -1}); }) < 0.02);
}

TEST_CASE("BERT learns one batch by heart: its masked words, what follows what, and the tags of a new head") {
  const Threads one(1);
  Rng rng(1);
  TransformerConfig config =
      bert_config({.vocabulary = 9, .d_model = 16, .heads = 2, .layers = 1, .max_length = 8});
  config.dropout = 0;
  const Bert bert(config, rng);
  const Classifier tagger(16, 3, rng);
  const IntTensor words = random_ids({4, 6}, 9, 1, 1), tags = random_ids({4, 6}, 3, 2),
                  follows({4}, {0, 1, 1, 0});
  IntTensor seen(words.shape(), words.values()), hidden(words.shape());
  for (Index i = 0; i < 24; ++i) {
    const bool masked = i % 4 == 1;
    hidden[i] = masked ? words[i] : -1;
    if (masked) seen[i] = 0;
  }
  const auto states = [&] { return bert(seen); };
  CHECK(learn(parameters_of(bert), 300, 0.01, [&](Index) {
          const Tensor x = states();
          return cross_entropy(bert.mlm_logits(x), hidden, {.ignore = -1}) +
                 cross_entropy(bert.nsp_logits(x), follows);
        }) < 0.02);
  ParameterList all = parameters_of(bert);  // fine-tuning: a new optimizer on the same model, and the head
  tagger.parameters(all);
  CHECK(learn(all, 300, 0.01, [&](Index) { return cross_entropy(tagger.tokens(states()), tags); }) < 0.02);
}

constexpr int bos = 1, eos = 2;
constexpr Index letters = 6;

// Sentences of random letters, each closed with eos, and what is to be made of them.
struct Task {
  IntTensor source, target;  // (B, letters + 1)
  Task(Index B, std::uint64_t seed, bool reverse)
      : source(random_ids({B, letters + 1}, 11, seed, 3)), target(source.shape(), source.values()) {
    for (Index b = 0; b < B; ++b) {
      source(b, letters) = target(b, letters) = eos;
      if (reverse) std::reverse(&target(b, 0), &target(b, 0) + letters);
    }
  }
};

double share_right(const Transformer& model, const Task& task) {
  TransformerWriter writer(model, task.source);
  const auto written = greedy(writer, {.start = bos, .end = eos, .max_length = letters + 2});
  double right = 0;
  for (Index b = 0; b < std::ssize(written); ++b) {
    const int* wanted = &task.target(b, 0);
    right += written[b] == std::vector<int>(wanted, wanted + letters);
  }
  return right / double(written.size());
}

TEST_CASE("an encoder-decoder learns to copy and to reverse: over 99 of 100 new sentences are right") {
  const Threads one(1);
  for (const bool reverse : {false, true}) {
    CAPTURE(reverse);
    TransformerConfig config = learner_config();
    config.source_vocabulary = config.vocabulary = 11, config.d_model = 32, config.d_ff = 64;
    Rng rng(1);
    const Transformer model(config, rng);
    const Task unseen(300, 1, reverse);
    CHECK(share_right(model, unseen) < 0.01);
    learn(parameters_of(model), 300, 0.01, [&](Index batch) {
      const Task task(32, 1000 + std::uint64_t(batch), reverse);
      return cross_entropy(model(task.source, shift_right(task.target, bos)), task.target);
    });
    CHECK(share_right(model, unseen) > 0.99);
  }
}

}  // namespace
}  // namespace attn
