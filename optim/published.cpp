#include "optim/published.hpp"

#include <algorithm>  // copy
#include <cstring>    // memcpy
#include <iterator>   // ssize
#include <set>        // set
#include <tuple>      // tie
#include <utility>    // pair

#include "core/atomic_file.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"  // read_file
#include "optim/published_config.hpp"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Where a parameter of ours lies: the name of their tensor, without prefix, and which part of it.
struct Place {
  std::string name;
  PublishedName row;
};

Place place_of(const PublishedFamily& family, const std::string& parameter) {
  const std::size_t dot = parameter.rfind('.');
  const std::string layer = parameter.substr(0, dot),
                    leaf = dot == std::string::npos ? "" : parameter.substr(dot + 1);
  // The number of the block, if there is one: decoder.block.11.self.query
  std::string pattern = layer, number;
  if (const std::size_t block = layer.find(".block."); block != std::string::npos) {
    const std::size_t begin = block + 7, end = layer.find('.', begin);
    number = layer.substr(begin, end - begin);
    pattern.replace(begin, number.size(), "#");
  }
  for (const PublishedName& row : family.names) {
    if (row.ours != pattern) continue;
    std::string name = row.theirs;
    if (const std::size_t mark = name.find('#'); mark != std::string::npos) name.replace(mark, 1, number);
    if (!leaf.empty()) name += leaf == "bias" ? ".bias" : ".weight";
    return {name, row};
  }
  fail("{}: the family has no name for our parameter {}", family.type, parameter);
}

// Ours (out, in) or (out) as it lies in theirs, which has `parts` of it side by side.
Shape stored_shape(const Shape& ours, const PublishedName& row) {
  if (ours.rank() < 2) return ours.with(0, ours[0] * row.parts);
  return row.transposed ? Shape{ours[1], ours[0] * row.parts} : Shape{ours[0] * row.parts, ours[1]};
}

// Calls move(index in ours, index in theirs) for every number of ours.
template <class Move>
void for_each_stored(const Shape& ours, const PublishedName& row, const Move& move) {
  const Index out = ours[0], in = ours.rank() < 2 ? 1 : ours[1], first = row.part * out;
  if (!row.transposed || ours.rank() < 2) {
    for (Index i = 0; i < out * in; ++i) move(i, first * in + i);
    return;
  }
  constexpr Index block = 32;  // of rows of ours: so many that theirs is read a cache line at a time
  parallel_for(out, block, [&](Index begin, Index end) {
    for (Index o = begin; o < end; o += block)
      for (Index i = 0; i < in; ++i)
        for (Index k = o; k < std::min(o + block, end); ++k)
          move(k * in + i, i * out * row.parts + first + k);
  });
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// Throws, listing all that is missing, if the folder has no settings or no weights.
void check_files(const fs::path& folder) {
  if (!fs::is_directory(folder)) fail("{}: there is no such folder of weights", folder.string());
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  const bool settings = has("config.json");
  const bool weights = has("model.safetensors") || has("model.safetensors.index.json");
  const bool tokenizer = has("tokenizer.json") || has("vocab.json") || has("vocab.txt");
  if (settings && weights) return;
  std::vector<std::string> missing;
  if (!settings) missing.push_back("config.json");
  if (!weights)
    missing.push_back(
        fmt::format("model.safetensors (or model.safetensors.index.json and the files that it names{})",
                    has("pytorch_model.bin") ? "; pytorch_model.bin cannot be read here" : ""));
  if (!tokenizer)
    missing.push_back("the tokenizer (tokenizer.json, or vocab.json and merges.txt, or vocab.txt)");
  fail("{}: missing: {}; these are their names under \"Files\" on a model's page at huggingface.co",
       folder.string(), listed(missing));
}

}  // namespace

PublishedModel::PublishedModel(const fs::path& folder) : folder_(folder) {
  check_files(folder);
  const fs::path single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  std::tie(type_, config_) = read_settings(folder / "config.json");

  std::vector<fs::path> paths{single};
  if (!fs::exists(single)) {
    const JsonValue map = parse_json(read_file(index))["weight_map"];
    if (!map.is_object()) fail("{}: it has no weight_map of tensors and files", index.string());
    std::set<std::string> names;
    for (const auto& [tensor, file] : map.members()) {
      std::string name;
      if (!file.to(name) || name.empty() || fs::path(name).filename() != name)
        fail("{}: {:.60} is not the name of a file beside it", index.string(), file.text());
      names.insert(name);
    }
    paths.clear();
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      paths.push_back(folder / name);
      if (!fs::exists(paths.back())) missing.push_back(name);
    }
    if (!missing.empty())
      fail("{}: {} of its {} files of weights are missing: {}", folder.string(), missing.size(), names.size(),
           listed(missing));
  }
  Index numbers = 0;
  for (const fs::path& path : paths) {
    files_.push_back(SafetensorsFile::open(path));
    for (const std::string& name : files_.back().names()) {
      file_of_[name] = std::ssize(files_) - 1;
      used_[name] = false;
      numbers += files_.back().shape(name).numel();
    }
  }
  if (const Index least = least_numbers(config_); numbers < least)
    fail("{}: its config.json describes a model of at least {} numbers, but its files hold {}",
         folder.string(), least, numbers);
}

void PublishedModel::expect(const char* method, std::initializer_list<const char*> types) const {
  for (const char* type : types)
    if (type_ == type) return;
  fail("{}: it is a {}, which has no {}", folder_.string(), type_, method);
}

void PublishedModel::read_into(const ParameterList& parameters) {
  const PublishedFamily family = published_family(type_, config_.feed_forward.gated);
  // Their name in the files: with one of the prefixes, and LayerNorm's older leaves.
  const auto found = [&](const std::string& name) {
    const bool plain = name.starts_with('/');
    for (const char* prefix : plain ? std::vector<const char*>{""} : family.prefixes)
      for (const auto& [leaf, older] : {std::pair{"", ""}, {".weight", ".gamma"}, {".bias", ".beta"}}) {
        std::string full = prefix + name.substr(plain);
        if (*leaf && full.ends_with(leaf))
          full.replace(full.size() - std::strlen(leaf), std::string::npos, older);
        if (file_of_.count(full)) return full;
      }
    fail("{}: the tensor {} is missing", folder_.string(), name.substr(plain));
  };
  std::string last;  // the tensor that was converted last: query, key and value may be one
  Tensor stored;
  for (const Parameter& parameter : parameters) {
    const Place place = place_of(family, parameter.name);
    const std::string name = found(place.name);
    const Shape& ours = parameter.tensor.shape();
    used_[name] = true;
    SafetensorsFile& file = files_[file_of_[name]];
    if (place.row.parts == 1 && (!place.row.transposed || ours.rank() < 2)) {
      file.read(name, parameter.tensor.data(), ours);
      continue;
    }
    const Shape theirs = stored_shape(ours, place.row);
    const real* from = file.in_place(name, theirs);
    if (!from) {
      if (name != last) {
        stored = empty(theirs);
        file.read(name, stored.data(), theirs);
        last = name;
      }
      from = stored.data();
    }
    real* const to = parameter.tensor.data();
    for_each_stored(ours, place.row, [&](Index i, Index j) { to[i] = from[j]; });
  }
}

Gpt PublishedModel::gpt() {
  expect("GPT", {"gpt2", "llama"});
  Rng none;
  Gpt model(config_, none);
  read_into(parameters_of(model));
  return model;
}

Bert PublishedModel::bert() {
  expect("BERT", {"bert"});
  Rng none;
  Bert model(config_, none);
  read_into(parameters_of(model));
  return model;
}

Transformer PublishedModel::t5() {
  expect("T5", {"t5"});
  Rng none;
  Transformer model(config_, none);
  read_into(parameters_of(model));
  return model;
}

std::vector<std::string> PublishedModel::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, used] : used_)
    if (!used) names.push_back(name);
  return names;
}

void save_published(const fs::path& folder, const std::string& type, const TransformerConfig& config,
                    const ParameterList& parameters) {
  const PublishedFamily family = published_family(type, config.feed_forward.gated);
  std::vector<Parameter> stored;
  for (const Parameter& parameter : parameters) {
    const Place place = place_of(family, parameter.name);
    const bool plain = place.name.starts_with('/');
    const std::string name = (plain ? "" : family.prefixes[0]) + place.name.substr(plain);
    auto there =
        std::find_if(stored.begin(), stored.end(), [&](const Parameter& p) { return p.name == name; });
    if (there == stored.end())
      there = stored.insert(there, {name, empty(stored_shape(parameter.tensor.shape(), place.row))});
    const real* const from = parameter.tensor.data();
    real* const to = there->tensor.data();
    for_each_stored(parameter.tensor.shape(), place.row, [&](Index i, Index j) { to[j] = from[i]; });
  }
  std::vector<ArrayView> arrays;
  for (const Parameter& parameter : stored)
    arrays.push_back({parameter.name, parameter.tensor.shape(), parameter.tensor.data()});
  write_safetensors(folder / "model.safetensors", arrays, {{"format", "pt"}});
  write_file_atomically(folder / "config.json", {settings_for(type, config)});
}

}  // namespace attn
