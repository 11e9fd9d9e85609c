#include "optim/checkpoint.hpp"

#include <algorithm>  // copy, find_if
#include <charconv>   // from_chars
#include <cmath>      // isfinite
#include <iterator>   // ssize
#include <utility>    // move

#include "core/error.hpp"
#include "optim/shards.hpp"  // part_of

namespace attn {
namespace {

using NamedTensors = std::vector<Parameter>;

constexpr const char* state_prefix = "optimizer.";

NamedTensors tensors_of(const ParameterList& parameters) { return {parameters.begin(), parameters.end()}; }

// The parameters and, for each state, what `whole(state)` says.
template <class Whole>
NamedTensors tensors_of(const Optimizer& optimizer, const Whole& whole) {
  NamedTensors tensors = tensors_of(optimizer.block.list());
  for (const Parameter& state : optimizer.state())
    tensors.push_back({state_prefix + state.name, whole(state.tensor)});
  return tensors;
}

// All of a state, at rank 0, if each rank has a part of it.
Tensor gathered(const Tensor& part, const Optimizer& optimizer, Group& group) {
  if (!optimizer.has_part_only()) return part;
  const Index n = optimizer.block.size();
  const Tensor all = empty({group.is_root() ? n : 0});
  if (group.is_root()) {
    std::copy(part.data(), part.data() + part.numel(), all.data() + optimizer.part().begin);
    for (Index rank = 1; rank < group.size(); ++rank)
      group.receive(rank, Group::bytes_of(all.data(), part_of(n, rank, group.size())));
  } else {
    group.send(0, Group::bytes_of(part.data(), {0, part.numel()}));
  }
  group.wait();
  return all;
}

void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<ArrayView> arrays;
  for (const Parameter& entry : tensors)
    arrays.push_back({entry.name, entry.tensor.shape(), entry.tensor.data()});
  write_safetensors(path, arrays, with_checksum(arrays, metadata));
}

// Everything is read before anything is changed: a file that does not fit leaves the model as it was.
void read(const std::string& path, SafetensorsFile& file, const NamedTensors& tensors) {
  std::vector<Tensor> fresh;
  for (const Parameter& entry : tensors) {
    fresh.push_back(empty(entry.tensor.shape()));
    const real *begin = fresh.back().data(), *end = begin + fresh.back().numel();
    file.read(entry.name, fresh.back().data(), entry.tensor.shape());
    const real* bad = std::find_if(begin, end, [](real x) { return !std::isfinite(x); });
    if (bad != end) fail("{}: number {} of tensor {} is {}", path, bad - begin, entry.name, *bad);
  }
  for (Index i = 0; i < std::ssize(tensors); ++i)
    std::copy(fresh[i].data(), fresh[i].data() + fresh[i].numel(), tensors[i].tensor.data());
}

template <class Number>
Number number(const Checkpoint& file, const std::string& key) {
  const std::string& text = file.entry(key);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("{}: '{}' in the metadata is '{:.60}', not a number", file.path(), key, text);
  return value;
}

}  // namespace

void save_model(const std::string& path, const ParameterList& parameters, const Metadata& metadata) {
  write(path, tensors_of(parameters), metadata);
}

void save_checkpoint(const std::string& path, const Optimizer& optimizer, const Rng& rng,
                     const Metadata& metadata, Group& group) {
  const NamedTensors tensors =
      tensors_of(optimizer, [&](const Tensor& part) { return gathered(part, optimizer, group); });
  if (!group.is_root()) return;
  Metadata all = metadata;
  all["step"] = std::to_string(optimizer.steps);
  all["rng.key"] = std::to_string(rng.key);
  all["rng.counter"] = std::to_string(rng.counter);
  write(path, tensors, all);
}

Checkpoint::Checkpoint(const std::string& path, SafetensorsFile file) : path_(path), file_(std::move(file)) {
  file_.verify_checksum();
}

Index Checkpoint::parameter_count() const {
  Index count = 0;
  for (const std::string& name : file_.names())
    if (!name.starts_with(state_prefix)) count += file_.shape(name).numel();
  return count;
}

const std::string& Checkpoint::entry(const std::string& key) const {
  const auto found = metadata().find(key);
  if (found == metadata().end())
    fail("{}: there is no '{}' in its metadata: it was saved for another purpose", path_, key);
  return found->second;
}

void Checkpoint::read_into(const ParameterList& parameters) { read(path_, file_, tensors_of(parameters)); }

void Checkpoint::read_into(Optimizer& optimizer, Rng& rng) {
  const auto steps = number<Index>(*this, "step");
  Rng stored;
  stored.key = number<std::uint64_t>(*this, "rng.key");
  stored.counter = number<std::uint64_t>(*this, "rng.counter");
  if (steps < 0) fail("{}: 'step' in the metadata is {}", path_, steps);
  std::vector<std::pair<Tensor, Tensor>> parts;  // where the whole was read, and the part that is kept
  read(path_, file_, tensors_of(optimizer, [&](const Tensor& part) {
         if (!optimizer.has_part_only()) return part;
         parts.push_back({empty({optimizer.block.size()}), part});
         return parts.back().first;
       }));
  for (const auto& [all, part] : parts)
    std::copy(all.data() + optimizer.part().begin, all.data() + optimizer.part().end, part.data());
  optimizer.steps = steps;
  rng = stored;
}

}  // namespace attn
