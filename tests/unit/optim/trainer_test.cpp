// The training loop, and what holds for whole runs: constant memory, the same bits on any number of threads.
#include "optim/trainer.hpp"

#include <fcntl.h>   // open
#include <unistd.h>  // dup, dup2

#include <filesystem>  // path
#include <fstream>     // ifstream
#include <iterator>    // ssize

#include "optim/progress.hpp"
#include "tests/unit/small_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

// A loss with one parameter: (p - batch)², so that gradient and path are plain to see.
struct Parabola {
  Tensor p = zeros({1}).requires_grad();
  Sgd optimizer{list()};
  std::vector<Index> batches;

  ParameterList list() const {
    ParameterList all;
    all.add("p", p);
    return all;
  }
  TrainCallbacks callbacks() {
    return {.loss = [this](Index batch) {
      batches.push_back(batch);
      const Tensor difference = p - real(batch);
      return StepLoss{sum(difference * difference), 3};
    }};
  }
};

TEST_CASE("each step has its batch, its learning rate, its loss and its norm in the history") {
  Parabola task;
  const Schedule schedule{.kind = ScheduleKind::linear, .peak = 0.25, .total = 4};
  const History history = train(
      task.optimizer, {.steps = 3, .schedule = schedule, .clip = 0, .progress = false}, task.callbacks());
  CHECK(task.batches == std::vector<Index>{0, 1, 2});
  REQUIRE(history.steps.size() == 3);
  CHECK(history.end == TrainEnd::finished);
  CHECK(history.steps[0].loss == 0);
  CHECK(history.steps[1].loss == 1);
  CHECK(history.steps[1].step == 2);
  CHECK(history.steps[1].gradient_norm == 2);
  CHECK(history.steps[1].learning_rate == doctest::Approx(0.125));
  // p = 0, then 0 + 0.125 · 2, then the gradient is 2 (0.25 - 2)
  CHECK(history.steps[2].gradient_norm == doctest::Approx(3.5));
  CHECK(task.p.item() == doctest::Approx(0.25 + 0.0625 * 3.5));
}

TEST_CASE("after each step the caller is told its loss, rate and norm, and finds them in the history") {
  Parabola task;
  TrainCallbacks callbacks = task.callbacks();
  callbacks.validate = [] { return 0.5; };
  History history;
  std::vector<Index> told;
  callbacks.after_step = [&](const TrainPoint& point) {
    told.push_back(point.step);
    CHECK(point.learning_rate == doctest::Approx(0.01 * double(point.step)));
    if (point.step % 3 == 0 || point.step == 1) {
      REQUIRE(!history.steps.empty());
      CHECK(history.steps.back().step == point.step);
      CHECK(history.steps.back().loss == point.loss);
      CHECK(history.steps.back().gradient_norm == point.gradient_norm);
    }
    CHECK(std::ssize(history.validations) == point.step / 2);  // that of this step included
  };
  const TrainOptions options{.steps = 4,
                             .schedule = {.peak = 0.1, .warmup = 10},
                             .validate_every = 2,
                             .record_every = 3,
                             .progress = false};
  train(task.optimizer, options, callbacks, history);
  TrainOptions more = options;
  more.steps = 7;
  train(task.optimizer, more, callbacks, history);  // goes on with the same history
  CHECK(told == std::vector<Index>{1, 2, 3, 4, 5, 6, 7});
  std::vector<Index> recorded;
  for (const TrainPoint& point : history.steps) recorded.push_back(point.step);
  CHECK(recorded == std::vector<Index>{1, 3, 6});
  CHECK_THROWS_WITH_AS(train(task.optimizer, {.record_every = 0}, callbacks),
                       "train: cannot record every 0 steps", Error);
}

TEST_CASE("a history is the same after a round trip through its text") {
  const History history{.steps = {{1, 3.1415926535897931, 1e-5, 0}, {1000000, 1.0 / 3, 0.003, 0}},
                        .validations = {{1000000, 2.0 / 7}}};
  const std::string text = history.text();
  CHECK(text ==
        "train\t1\t3.141592653589793\t1e-05\n"
        "train\t1000000\t0.3333333333333333\t0.003\n"
        "validation\t1000000\t0.2857142857142857\n");
  const History again = History::from_text(text);
  CHECK(again.text() == text);
  CHECK(again.steps[1].loss == 1.0 / 3);
  CHECK(again.validations[0].loss == 2.0 / 7);
  CHECK(History::from_text("").steps.empty());
  for (const char* damaged : {"train\t1\t0.5\n", "train\t1\tx\t1\n", "test\t1\t2\n", "validation\t1"})
    CHECK_THROWS_WITH_AS(History::from_text(damaged), "history: line 1 is damaged", Error);
}

TEST_CASE("clipping keeps each step to the limit") {
  Parabola task;
  task.p(0) = 100;
  const History history =
      train(task.optimizer, {.steps = 1, .schedule = {.peak = 1}, .clip = 0.5, .progress = false},
            task.callbacks());
  CHECK(history.steps[0].gradient_norm == 200);  // before clipping
  CHECK(task.p.item() == doctest::Approx(99.5));
}

TEST_CASE("the gradients of several batches are averaged into one step, as of one large batch") {
  Parabola task;
  train(task.optimizer,
        {.steps = 2, .schedule = {.peak = 0.25}, .clip = 0, .accumulate = 3, .progress = false},
        task.callbacks());
  CHECK(task.batches == std::vector<Index>{0, 1, 2, 3, 4, 5});
  CHECK(task.p.item() == doctest::Approx(0.5 + 0.25 * 2 * 3.5));  // towards the means 1 and 4

  const Threads one(1);
  SmallRun large(1, 0), pieces(1, 0);
  const IntTensor source = random_ids({6, 5}, 9, 1), target = random_ids({6, 4}, 7, 2);
  const auto loss = [&](SmallRun& run, Index begin, Index end) {
    const auto rows = [&](const IntTensor& x) {
      return IntTensor({end - begin, x.shape()[1]}, {&x(begin, 0), x.data() + end * x.shape()[1]});
    };
    const IntTensor wanted = rows(target);
    return StepLoss{cross_entropy(run.model(rows(source), shift_right(wanted, 1)), wanted), 4};
  };
  const TrainOptions options{.steps = 3, .schedule = {.peak = 1e-3}, .clip = 0.1, .progress = false};
  TrainOptions in_pieces = options;
  in_pieces.accumulate = 3;
  train(large.optimizer, options, {.loss = [&](Index) { return loss(large, 0, 6); }});
  train(pieces.optimizer, in_pieces,
        {.loss = [&](Index i) { return loss(pieces, i % 3 * 2, i % 3 * 2 + 2); }});
  for (Index i = 0; i < std::ssize(large.values()); i += 7)
    CHECK(double{pieces.values()[i]} ==
          doctest::Approx(double{large.values()[i]}).epsilon(double_build ? 1e-9 : 2e-4));
}

TEST_CASE("a run ends early after too many validations without a new best") {
  const std::vector<double> losses{5, 4, 4.5, 3, 3, 3.5, 3.1, 1};
  const auto run = [&](Index patience) {
    Parabola task;
    TrainCallbacks callbacks = task.callbacks();
    Index validations = 0;
    callbacks.validate = [&] {
      CHECK(!grad_enabled());
      return losses[validations++];
    };
    const TrainOptions options{.steps = 16, .validate_every = 2, .patience = patience, .progress = false};
    return train(task.optimizer, options, callbacks);
  };
  const History stopped = run(2), patient = run(4), never = run(0);
  CHECK(stopped.end == TrainEnd::early_stop);
  REQUIRE(stopped.validations.size() == 6);  // 3 is best; the next two, 3 and 3.5, are not better
  CHECK(stopped.validations.back().step == 12);
  CHECK(stopped.validations.back().loss == 3.5);
  CHECK(stopped.steps.size() == 12);
  CHECK(patient.end == TrainEnd::finished);
  CHECK(never.steps.size() == 16);
}

TEST_CASE("a run can be interrupted, limited in time, and continued where it was") {
  Parabola task;
  TrainCallbacks callbacks = task.callbacks();
  std::vector<Index> steps;
  callbacks.after_step = [&](const TrainPoint& point) { steps.push_back(point.step); };
  callbacks.interrupted = [&] { return steps.size() == 2; };
  TrainOptions options{.steps = 5, .progress = false};
  CHECK(train(task.optimizer, options, callbacks).end == TrainEnd::interrupted);
  CHECK(steps == std::vector<Index>{1, 2});
  const History rest = train(task.optimizer, options, callbacks);
  CHECK(rest.end == TrainEnd::finished);
  CHECK(rest.steps.front().step == 3);
  CHECK(task.batches == std::vector<Index>{0, 1, 2, 3, 4});
  CHECK(train(task.optimizer, options, callbacks).steps.empty());
  options.steps = 1000000, options.time_limit = 1e-9;
  CHECK(train(task.optimizer, options, callbacks).end == TrainEnd::time_limit);
  CHECK(task.optimizer.steps == 6);
}

TEST_CASE("a gradient that is not finite stops the run at its step") {
  Parabola task;
  TrainCallbacks callbacks{.loss = [&](Index batch) {
    return StepLoss{sum(task.p * (batch == 1 ? std::numeric_limits<real>::infinity() : real{1})), 1};
  }};
  task.p(0) = 1;
  CHECK_THROWS_WITH_AS(train(task.optimizer, {.steps = 5, .progress = false}, callbacks),
                       doctest::Contains("the gradient is not finite at step 2"), Error);
  CHECK_THROWS_WITH_AS(train(task.optimizer, {.accumulate = 0}, callbacks), "train: 0 batches for one update",
                       Error);
}

TEST_CASE("memory after 1,000 steps is what it was after 10, and no step after the first asks the system") {
  const Threads one(1);
  SmallRun run;
  PoolStatistics first, tenth, last;
  run.train_to(1000, [&](const TrainPoint& point) {
    if (point.step == 1) first = pool_statistics();
    if (point.step == 10) tenth = pool_statistics();
    last = pool_statistics();
  });
  CHECK(last.bytes_in_use == tenth.bytes_in_use);
  CHECK(last.peak_bytes == tenth.peak_bytes);
  if (pool_recycles()) CHECK(last.system_allocations == first.system_allocations);
}

TEST_CASE("training has the same bits on 1, 2 and 4 threads") {
  std::vector<real> values;
  for (const int count : {1, 2, 4}) {
    const Threads threads(count);
    SmallRun run;
    const Context context{.training = true, .rng = &run.rng};
    // Long enough that the loops are shared among threads.
    const IntTensor source = random_ids({24, 40}, 9, 1), target = random_ids({24, 40}, 7, 2);
    const TrainCallbacks callbacks{.loss = [&](Index) {
      return StepLoss{cross_entropy(run.model(source, shift_right(target, 1), context), target), 1};
    }};
    train(run.optimizer, {.steps = 3, .progress = false}, callbacks);
    if (count == 1) values = run.values();
    CHECK(run.values() == values);
  }
}

// What a function writes to standard error, where progress goes.
template <class Function>
std::vector<std::string> printed_lines(const Function& function) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "output";
  std::fflush(stderr);
  const int terminal = dup(STDERR_FILENO), file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(file, STDERR_FILENO);
  function();
  std::fflush(stderr);
  dup2(terminal, STDERR_FILENO);
  close(terminal), close(file);
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("without a terminal progress is ten plain lines, the last one at the end") {
  Parabola task;
  const std::vector<std::string> lines = printed_lines([&] {
    train(task.optimizer, {.steps = 100, .schedule = {.peak = 0.01}, .label = "learning"}, task.callbacks());
  });
  REQUIRE(lines.size() == 10);
  CHECK(lines[0].find("learning 10/100  loss ") == 0);
  CHECK(lines[0].find("lr 1.00e-02") != std::string::npos);
  CHECK(lines[0].find("tokens/s") != std::string::npos);
  CHECK(lines[9].find("learning 100/100") == 0);
  for (const std::string& line : lines) CHECK(line.find('\r') == std::string::npos);
  CHECK(printed_lines([&] {
          train(task.optimizer, {.steps = 120, .progress = false}, task.callbacks());
        }).empty());
}

TEST_CASE("durations are written as people write them") {
  CHECK(format_seconds(0.84) == "0.8 s");
  CHECK(format_seconds(59.4) == "59 s");
  CHECK(format_seconds(65) == "1:05");
  CHECK(format_seconds(3725) == "1:02:05");
}

}  // namespace
}  // namespace attn
