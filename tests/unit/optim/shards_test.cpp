#include "optim/shards.hpp"

#include <doctest/doctest.h>

#include "core/atomic_file.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"  // read_file
#include "optim/checkpoint.hpp"
#include "tests/unit/small_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

namespace {

struct Sharded {
  Index shards = 4, ranks = 1, steps = 6;
  int threads = 1;
  bool zero = false;
  bool by_tokens = true;
  std::string resume_from = "";
};

struct Outcome {
  std::vector<real> values;
  std::string history, checkpoint;
  bool operator==(const Outcome&) const = default;
};

// A batch is 5 sentences of 4 words. Some words are not counted, as padding is not, so shards have different
// numbers of tokens; with 8 shards some have no sentence at all.
StepLoss shard_of(SmallRun& run, Index batch, Index shard, const Sharded& how) {
  const Index sentences = 5, words = 4;
  const IntTensor source = random_ids({sentences, 5}, 9, std::uint64_t(batch)),
                  target = random_ids({sentences, words}, 7, std::uint64_t(batch) + 1000);
  for (Index b = 0; b < sentences; ++b)
    for (Index t = words - b % 3; t < words; ++t) target(b, t) = 0;
  const Range rows = shards_of(sentences, shard, how.shards);
  if (rows.begin == rows.end) return {};
  const auto rows_of = [&](const IntTensor& all) {
    const Index width = all.shape()[1];
    return IntTensor({rows.end - rows.begin, width},
                     {all.data() + rows.begin * width, all.data() + rows.end * width});
  };
  const auto count = [](const IntTensor& ids) {
    double tokens = 0;
    for (Index i = 0; i < ids.numel(); ++i) tokens += ids[i] != 0;
    return tokens;
  };
  const IntTensor wanted = rows_of(target);
  Rng rng = shard_rng(7, batch, shard);
  const Tensor logits = run.model(rows_of(source), shift_right(wanted, 1), {.training = true, .rng = &rng});
  return {.loss = cross_entropy(logits, wanted, {.ignore = 0}),
          .tokens = Index(count(wanted)),
          .weight = how.by_tokens ? count(wanted) / count(target) : 1.0 / double(how.shards)};
}

// Trains on simulated ranks; every rank must end with the same numbers. Rank 0 saves a checkpoint.
Outcome train_sharded(const Sharded& how) {
  const TemporaryFolder folder;
  const std::string path = (folder / "run.safetensors").string();
  const int threads = thread_count();
  set_thread_count(how.threads);
  std::vector<Outcome> outcomes(how.ranks);
  simulate(how.ranks, [&](Group& group) {
    SmallRun run(1, how.by_tokens ? real(0.1) : real(0), how.zero ? &group : nullptr);
    if (!how.resume_from.empty()) Checkpoint(how.resume_from).read_into(run.optimizer, run.rng);
    const History history =
        train(run.optimizer,
              {.steps = how.steps,
               .schedule = {.peak = 1e-2},
               .clip = 0.5,
               .progress = false,
               .shards = how.shards,
               .group = &group},
              {.shard_loss = [&](Index batch, Index shard) { return shard_of(run, batch, shard, how); }});
    save_checkpoint(path, run.optimizer, run.rng, {}, group);
    outcomes[group.rank()] = {run.values(), history.text(), ""};
  });
  set_thread_count(threads);
  for (const Outcome& outcome : outcomes) CHECK(outcome == outcomes[0]);
  outcomes[0].checkpoint = read_file(path);
  return outcomes[0];
}

}  // namespace

TEST_CASE("1, 2, 3 and 4 ranks with 1 and 2 threads train to the same bits") {
  for (const Index shards : {4, 7}) {
    const Outcome expected = train_sharded({.shards = shards});
    for (const Index ranks : {1, 2, 3, 4})
      for (const int threads : {1, 2})
        for (const bool zero : {false, true}) {
          CAPTURE(ranks);
          CAPTURE(threads);
          CAPTURE(zero);
          CHECK(train_sharded({.shards = shards, .ranks = ranks, .threads = threads, .zero = zero}) ==
                expected);
        }
    CHECK(train_sharded({.shards = shards + 1}).values != expected.values);  // another sum: other last bits
  }
}

TEST_CASE("a run goes on with the same bits on another number of ranks") {
  const TemporaryFolder folder;
  const std::string path = (folder / "half.safetensors").string();
  const Outcome whole = train_sharded({.steps = 6});
  for (const bool zero : {false, true}) {
    const Outcome half = train_sharded({.ranks = 3, .steps = 3, .zero = zero});
    write_file_atomically(path, {half.checkpoint});
    const Outcome rest = train_sharded({.ranks = 2, .steps = 6, .zero = !zero, .resume_from = path});
    CHECK(rest.values == whole.values);
    CHECK(rest.checkpoint == whole.checkpoint);
    CHECK((half.history + rest.history) == whole.history);
  }
}

TEST_CASE("the mean of shards is the mean of the batch if they are weighted by their tokens") {
  // Without dropout, so that the gradients of 1 shard and of 4 may differ in their rounding alone.
  const auto first_loss = [](Index shards, bool by_tokens) {
    SmallRun run(1, 0);
    const Sharded how{.shards = shards, .by_tokens = by_tokens};
    double loss = 0;
    for (Index shard = 0; shard < shards; ++shard) {
      const StepLoss part = shard_of(run, 3, shard, how);
      loss += part.weight * part.loss.item();
    }
    return loss;
  };
  CHECK(first_loss(4, true) == doctest::Approx(first_loss(1, true)).epsilon(1e-6));
  CHECK(first_loss(4, false) != doctest::Approx(first_loss(1, true)).epsilon(1e-3));
}

TEST_CASE("a rank keeps only its part of the optimizer's state") {
  simulate(4, [](Group& group) {
    Tensor weights = zeros({40'000}).requires_grad();
    ParameterList list;
    list.add("weights", weights);
    const auto numbers = [&](const std::optional<Range>& part) {  // in use while there is an Adam
      const Adam adam(list, {}, part);
      return double(pool_statistics().bytes_in_use) / double(sizeof(real));
    };
    const double fallen = numbers({}) - numbers(part_of(40'000, group.rank(), 4));
    if (fallen < 0.6 * 80'000) fail("rank {}: only {} numbers less", group.rank(), fallen);
  });
}

TEST_CASE("training in shards needs a loss for each, and every rank a shard") {
  SmallRun run;
  const auto with = [&](Index shards, Index accumulate) {
    return [&run, shards, accumulate] {
      train(run.optimizer, {.steps = 1, .accumulate = accumulate, .progress = false, .shards = shards},
            {.loss = [&](Index batch) { return StepLoss{run.loss(batch)}; }});
    };
  };
  CHECK_THROWS_WITH_AS(with(2, 1)(), "train: shards need a shard_loss, and no accumulation", Error);
  CHECK_THROWS_AS(with(0, 1)(), Error);
}

TEST_CASE("whichever rank wants to stop, all stop after the same step") {
  std::vector<Index> steps(3);
  simulate(3, [&](Group& group) {
    SmallRun run;
    const Sharded how{.shards = 3};
    train(run.optimizer, {.steps = 20, .progress = false, .shards = 3, .group = &group},
          {.shard_loss = [&](Index batch, Index shard) { return shard_of(run, batch, shard, how); },
           .interrupted = [&] { return group.rank() == 2 && run.optimizer.steps == 4; }});
    steps[group.rank()] = run.optimizer.steps;
  });
  CHECK(steps == std::vector<Index>{4, 4, 4});
}
