#include "optim/checkpoint.hpp"

#include <algorithm>  // copy
#include <charconv>   // from_chars

#include "core/error.hpp"
#include "optim/safetensors.hpp"

namespace attn {
namespace {

using NamedTensors = std::vector<Parameter>;

NamedTensors tensors_of(const ParameterList& parameters) { return {parameters.begin(), parameters.end()}; }

NamedTensors tensors_of(const Optimizer& optimizer) {
  NamedTensors tensors = tensors_of(optimizer.block.list());
  for (const Optimizer::State& state : optimizer.state())
    tensors.push_back({"optimizer." + state.name, state.values});
  return tensors;
}

void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<ArrayView> arrays;
  for (const Parameter& entry : tensors)
    arrays.push_back({entry.name, entry.tensor.shape(), entry.tensor.data()});
  write_safetensors(path, arrays, metadata);
}

// Everything is read before anything is changed: a file that does not fit leaves the model as it was.
void read(SafetensorsFile& file, const NamedTensors& tensors) {
  std::vector<Tensor> fresh;
  for (const Parameter& entry : tensors) {
    fresh.push_back(empty(entry.tensor.shape()));
    file.read(entry.name, fresh.back().data(), entry.tensor.shape());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    std::copy(fresh[i].data(), fresh[i].data() + fresh[i].numel(), tensors[i].tensor.data());
}

template <class Number>
Number number(const std::string& path, const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    fail("{}: the metadata has no '{}'; this is not a checkpoint of a training run", path, key);
  const std::string& text = found->second;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("{}: '{}' in the metadata is '{}', not a number", path, key, text);
  return value;
}

}  // namespace

void save_model(const std::string& path, const ParameterList& parameters, const Metadata& metadata) {
  write(path, tensors_of(parameters), metadata);
}

Metadata load_model(const std::string& path, const ParameterList& parameters) {
  SafetensorsFile file = SafetensorsFile::open(path);
  read(file, tensors_of(parameters));
  return file.metadata();
}

Metadata load_metadata(const std::string& path) { return SafetensorsFile::open(path).metadata(); }

void save_checkpoint(const std::string& path, const Optimizer& optimizer, const Rng& rng,
                     const Metadata& metadata) {
  Metadata all = metadata;
  all["step"] = std::to_string(optimizer.steps);
  all["rng.key"] = std::to_string(rng.key);
  all["rng.counter"] = std::to_string(rng.counter);
  write(path, tensors_of(optimizer), all);
}

Metadata load_checkpoint(const std::string& path, Optimizer& optimizer, Rng& rng) {
  SafetensorsFile file = SafetensorsFile::open(path);
  const Metadata& metadata = file.metadata();
  const auto steps = number<Index>(path, metadata, "step");
  const auto key = number<std::uint64_t>(path, metadata, "rng.key"),
             counter = number<std::uint64_t>(path, metadata, "rng.counter");
  read(file, tensors_of(optimizer));
  optimizer.steps = steps;
  rng.key = key, rng.counter = counter;
  return metadata;
}

}  // namespace attn
