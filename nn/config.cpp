#include "nn/config.hpp"

#include <nlohmann/json.hpp>  // json
#include <utility>            // pair
#include <vector>             // vector

#include "core/error.hpp"

namespace attn {
namespace {

template <class Enum>
using Names = std::vector<std::pair<Enum, const char*>>;

const Names<Positions> position_names = {
    {Positions::none, "none"}, {Positions::learned, "learned"}, {Positions::sinusoidal, "sinusoidal"},
    {Positions::t5, "t5"},     {Positions::alibi, "alibi"},     {Positions::rope, "rope"}};
const Names<NormKind> norm_names = {{NormKind::layer, "layer"}, {NormKind::rms, "rms"}};
const Names<FeedForwardKind> feed_forward_names = {
    {FeedForwardKind::relu, "relu"}, {FeedForwardKind::gelu, "gelu"}, {FeedForwardKind::swiglu, "swiglu"}};
const Names<Initialization> initialization_names = {{Initialization::xavier, "xavier"},
                                                    {Initialization::normal, "normal"}};

template <class Enum>
const char* name_in(const Names<Enum>& names, Enum value) {
  for (const auto& entry : names)
    if (entry.first == value) return entry.second;
  return "?";
}

template <class Enum>
Enum value_in(const char* what, const Names<Enum>& names, const std::string& name) {
  std::string known;
  for (const auto& entry : names) {
    if (name == entry.second) return entry.first;
    known += (known.empty() ? "" : ", ") + std::string(entry.second);
  }
  fail("{}: '{}' is not one of {}", what, name, known);
}

// Every setting once, in order: writing and reading are the same list.
template <class Config, class Visit>
void for_each_setting(Config& config, const Visit& visit) {
  visit("source_vocabulary", config.source_vocabulary);
  visit("vocabulary", config.vocabulary);
  visit("d_model", config.d_model);
  visit("heads", config.heads);
  visit("kv_heads", config.kv_heads);
  visit("encoder_layers", config.encoder_layers);
  visit("decoder_layers", config.decoder_layers);
  visit("d_ff", config.d_ff);
  visit("dropout", config.dropout);
  visit("positions", config.positions);
  visit("max_length", config.max_length);
  visit("window", config.window);
  visit("pre_norm", config.pre_norm);
  visit("norm", config.norm);
  visit("feed_forward", config.feed_forward);
  visit("bias", config.bias);
  visit("scale_scores", config.scale_scores);
  visit("tie_embeddings", config.tie_embeddings);
  visit("share_embeddings", config.share_embeddings);
  visit("initialization", config.initialization);
}

struct Writer {
  nlohmann::json& json;
  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  void operator()(const char* name, const Positions& value) const {
    json[name] = name_in(position_names, value);
  }
  void operator()(const char* name, const NormKind& value) const { json[name] = name_in(norm_names, value); }
  void operator()(const char* name, const FeedForwardKind& value) const {
    json[name] = name_in(feed_forward_names, value);
  }
  void operator()(const char* name, const Initialization& value) const {
    json[name] = name_in(initialization_names, value);
  }
};

struct Reader {
  const nlohmann::json& json;
  template <class T>
  void operator()(const char* name, T& value) const {
    read(name, value);
  }
  void operator()(const char* name, Positions& value) const {
    value = value_in(name, position_names, text(name));
  }
  void operator()(const char* name, NormKind& value) const { value = value_in(name, norm_names, text(name)); }
  void operator()(const char* name, FeedForwardKind& value) const {
    value = value_in(name, feed_forward_names, text(name));
  }
  void operator()(const char* name, Initialization& value) const {
    value = value_in(name, initialization_names, text(name));
  }
  std::string text(const char* name) const {
    std::string value;
    read(name, value);
    return value;
  }
  template <class T>
  void read(const char* name, T& value) const {
    if (!json.contains(name)) fail("configuration: '{}' is missing", name);
    try {
      json[name].get_to(value);
    } catch (const nlohmann::json::exception&) {
      fail("configuration: '{}' has a value of the wrong kind: {}", name, json[name].dump());
    }
  }
};

}  // namespace

void TransformerConfig::check() const {
  if (vocabulary < 1) fail("configuration: vocabulary is {}; it must be at least 1", vocabulary);
  if (d_model < 1 || heads < 1 || d_model % heads)
    fail("configuration: d_model {} does not divide into {} heads", d_model, heads);
  if (kv_heads < 0 || (kv_heads && heads % kv_heads))
    fail("configuration: {} heads do not divide into {} key/value heads", heads, kv_heads);
  if (d_ff < 1 || encoder_layers < 0 || decoder_layers < 0 || max_length < 1 || window < 0)
    fail("configuration: a size is negative or zero");
  if (!(dropout >= 0 && dropout < 1)) fail("configuration: dropout {} is not in [0, 1)", dropout);
  if (positions == Positions::rope && head_size() % 2)
    fail("configuration: rope needs an even head size, not {}", head_size());
}

std::string to_json(const TransformerConfig& config) {
  nlohmann::json json;
  for_each_setting(config, Writer{json});
  return json.dump();
}

TransformerConfig config_from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) fail("configuration: not a JSON object");
  TransformerConfig config;
  for_each_setting(config, Reader{json});
  for (const auto& item : json.items()) {
    bool known = false;
    for_each_setting(config, [&](const char* name, const auto&) { known = known || item.key() == name; });
    if (!known) fail("configuration: '{}' is not a setting", item.key());
  }
  config.check();
  return config;
}

Positions positions_from_name(const std::string& name) { return value_in("positions", position_names, name); }
const char* name_of(Positions positions) { return name_in(position_names, positions); }
FeedForwardKind feed_forward_from_name(const std::string& name) {
  return value_in("feed_forward", feed_forward_names, name);
}
const char* name_of(FeedForwardKind kind) { return name_in(feed_forward_names, kind); }

}  // namespace attn
