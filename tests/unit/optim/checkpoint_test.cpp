// optim/checkpoint.hpp: a run that was stopped and resumed is the run that never stopped, to the last bit;
// and a file that does not fit changes nothing.
#include "optim/checkpoint.hpp"

#include <cmath>     // INFINITY, NAN
#include <fstream>   // ofstream
#include <iterator>  // ssize

#include "core/text.hpp"  // read_file
#include "optim/safetensors.hpp"
#include "tests/unit/small_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

TEST_CASE("a run stopped at any step and resumed has the bits of one that never stopped") {
  const Threads one(1);
  const TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  SmallRun whole;
  const History whole_history = whole.train_to(6);
  for (const Index stop : {0, 1, 2, 5, 6}) {
    CAPTURE(stop);
    {
      SmallRun first;
      first.train_to(stop);
      save_checkpoint(path, first.optimizer, first.rng, {{"configuration", to_json(first.model.config)}});
    }
    SmallRun second(77);  // other weights, other random numbers: everything must come from the file
    Checkpoint file(path);
    file.read_into(second.optimizer, second.rng);
    CHECK(to_json(config_from_json(file.entry("configuration"))) == to_json(second.model.config));
    CHECK(second.optimizer.steps == stop);
    const History rest = second.train_to(6);
    CHECK(second.values() == whole.values());
    CHECK(second.rng.counter == whole.rng.counter);
    REQUIRE(std::ssize(rest.steps) == 6 - stop);
    for (std::size_t i = 0; i < rest.steps.size(); ++i)
      CHECK(rest.steps[i].loss == whole_history.steps[i + std::size_t(stop)].loss);
  }
}

TEST_CASE("a flipped bit anywhere in a checkpoint is noticed, unless it changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.safetensors", damaged = folder / "damaged.safetensors";
  SmallRun run;
  save_checkpoint(path, run.optimizer, run.rng, {{"configuration", to_json(run.model.config)}});
  const std::string bytes = read_file(path);
  for (std::size_t at = 0; at < bytes.size(); at += at < 4000 ? 3 : 97) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    std::ofstream(damaged, std::ios::binary) << changed;
    SmallRun other(77);
    CAPTURE(at);
    try {
      Checkpoint(damaged).read_into(other.optimizer, other.rng);
      CHECK(SafetensorsFile::open(damaged).metadata().count("checksum") == 0);  // its name was hit
      CHECK(other.values() == run.values());
    } catch (const Error&) {
    }
  }
}

TEST_CASE("a number that is not finite is refused, and the model stays as it was") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  for (const double bad : {NAN, INFINITY, -INFINITY}) {
    SmallRun run;
    run.optimizer.block.values()[0] = real(bad);
    save_model(path, parameters_of(run.model));
    SmallRun other;
    const std::vector<real> before = other.values();
    CHECK_THROWS_WITH_AS(Checkpoint(path).read_into(parameters_of(other.model)),
                         doctest::Contains("number 0 of"), Error);
    CHECK(other.values() == before);
  }
}

TEST_CASE("momentum is part of a checkpoint") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  const auto values_after = [&](bool stopped) {
    Tensor p = full({3}, 1).requires_grad();
    ParameterList list;
    list.add("p", p);
    Rng rng(1);
    {
      Sgd optimizer(list, {.momentum = 0.9});
      backward(sum(p));
      optimizer.step(0.1);
      if (!stopped) {
        optimizer.step(0.1);
        return p.values();
      }
      save_checkpoint(path, optimizer, rng);
    }
    Sgd resumed(list, {.momentum = 0.9});
    Checkpoint(path).read_into(resumed, rng);
    resumed.step(0.1);
    return p.values();
  };
  CHECK(values_after(true) == values_after(false));
}

TEST_CASE("a model's weights are saved by name and loaded into another of its shape, a checkpoint's too") {
  const TemporaryFolder folder;
  SmallRun trained, fresh(2), third(3);
  trained.train_to(2);
  const std::string model = folder / "model.safetensors", run = folder / "run.safetensors";
  save_model(model, parameters_of(trained.model), {{"language", "French"}});
  save_checkpoint(run, trained.optimizer, trained.rng);
  Checkpoint file(model);
  CHECK(file.entry("language") == "French");
  file.read_into(parameters_of(fresh.model));
  Checkpoint(run).read_into(parameters_of(third.model));
  CHECK(fresh.values() == trained.values());
  CHECK(third.values() == trained.values());

  const SafetensorsFile arrays = SafetensorsFile::open(model);
  CHECK(std::ssize(arrays.names()) == parameters_of(trained.model).size());
  CHECK(arrays.shape("decoder.block.1.cross.query.weight") == Shape{8, 8});
}

// Everything of a run that a load could touch.
struct Snapshot {
  std::vector<real> values;
  std::vector<std::vector<real>> state;
  Index steps;
  std::uint64_t key, counter;

  explicit Snapshot(const SmallRun& run)
      : values(run.values()), steps(run.optimizer.steps), key(run.rng.key), counter(run.rng.counter) {
    for (const Parameter& entry : run.optimizer.state()) state.push_back(entry.tensor.values());
  }
  bool operator==(const Snapshot& other) const = default;
};

TEST_CASE("a file that does not fit is refused by the tensor's name, and nothing is changed") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  SmallRun run(2), other(3);
  run.train_to(1), other.train_to(2);
  const Snapshot before(run);
  const auto refused = [&](const std::string& message) {
    CHECK_THROWS_WITH_AS(Checkpoint(path).read_into(run.optimizer, run.rng),
                         doctest::Contains(message.c_str()), Error);
    CHECK(Snapshot(run) == before);
  };
  const Metadata good{{"step", "2"}, {"rng.key", "1"}, {"rng.counter", "2"}};
  // Writes the other run's tensors; `change` may rename or reshape one.
  const auto write = [&](const Metadata& metadata, const std::function<void(ArrayView&)>& change) {
    std::vector<ArrayView> arrays;
    for (const Parameter& p : parameters_of(other.model))
      arrays.push_back({p.name, p.tensor.shape(), p.tensor.data()});
    for (const Parameter& p : other.optimizer.state())
      arrays.push_back({"optimizer." + p.name, p.tensor.shape(), p.tensor.data()});
    for (ArrayView& array : arrays) change(array);
    write_safetensors(path, arrays, metadata);
  };
  const auto nothing = [](ArrayView&) {};
  const auto rename = [](const std::string& from, const std::string& to) {
    return [=](ArrayView& array) {
      if (array.name == from) array.name = to;
    };
  };
  refused("run.safetensors");  // there is none
  write(good, rename("decoder.block.1.feed_forward.second.bias", "nobody"));
  refused("decoder.block.1.feed_forward.second.bias");
  write(good, rename("optimizer.v", "optimizer.velocity"));
  refused("optimizer.v");
  write(good, [](ArrayView& array) {
    if (array.name == "decoder.block.1.feed_forward.first.weight") array.shape = {8, 12};
  });
  refused("decoder.block.1.feed_forward.first.weight\" has shape (8,12), but (12,8) is expected");
  write({}, nothing);
  refused("there is no 'step' in its metadata: it was saved for another purpose");
  write({{"step", "2"}, {"rng.key", "1"}, {"rng.counter", "2x"}}, nothing);
  refused("'rng.counter' in the metadata is '2x', not a number");
  write({{"step", "99999999999999999999"}, {"rng.key", "1"}, {"rng.counter", "2"}}, nothing);
  refused("'step' in the metadata is '99999999999999999999'");

  write(good, nothing);
  const std::uintmax_t size = std::filesystem::file_size(path);
  for (const std::uintmax_t shorter : {size - 1, size / 2, std::uintmax_t{5}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path, shorter);
    refused("run.safetensors");
  }
  std::ofstream(path) << "not a checkpoint at all";
  refused("run.safetensors");

  write(good, nothing);  // and the good one still loads
  Checkpoint(path).read_into(run.optimizer, run.rng);
  CHECK(run.values() == other.values());
  CHECK(run.rng.counter == 2);
}

TEST_CASE("a model that does not fit its file keeps its weights") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  SmallRun run;
  save_model(path, parameters_of(run.model));
  TransformerConfig wider = small_config();
  wider.d_ff = 20;
  wider.positions = Positions::rope;
  Rng rng(5);
  const Transformer model(wider, rng);
  const Tensor embedding = copy_of(model.target_embedding.table);
  CHECK_THROWS_WITH_AS(Checkpoint(path).read_into(parameters_of(model)),
                       doctest::Contains("encoder.block.0.feed_forward.first.weight"), Error);
  CHECK(same_bits(model.target_embedding.table, embedding));
}

}  // namespace
}  // namespace attn
