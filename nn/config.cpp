#include "nn/config.hpp"

#include <utility>  // pair
#include <vector>   // vector

#include "core/error.hpp"
#include "core/json.hpp"

namespace attn {
namespace {

template <class Value>
using Names = std::vector<std::pair<Value, const char*>>;

// The settings that files hold by name. A new kind of feed-forward network is one more row.
Names<Positions> names(Positions) {
  return {{Positions::none, "none"}, {Positions::learned, "learned"}, {Positions::sinusoidal, "sinusoidal"},
          {Positions::t5, "t5"},     {Positions::alibi, "alibi"},     {Positions::rope, "rope"}};
}
Names<NormKind> names(NormKind) { return {{NormKind::layer, "layer"}, {NormKind::rms, "rms"}}; }
Names<Initialization> names(Initialization) {
  return {
      {Initialization::xavier, "xavier"}, {Initialization::normal, "normal"}, {Initialization::none, "none"}};
}
Names<FeedForwardKind> names(FeedForwardKind) {
  return {{{.activation = Activation::relu}, "relu"},
          {{.activation = Activation::gelu}, "gelu"},
          {{.activation = Activation::gelu_tanh}, "gelu_tanh"},
          {{.activation = Activation::silu, .gated = true}, "swiglu"},
          {{.activation = Activation::gelu, .gated = true}, "geglu"},
          {{.activation = Activation::gelu_tanh, .gated = true}, "geglu_tanh"}};
}
template <class Value>
concept Named = requires(Value value) {
  names(value);
};

template <Named Value>
const char* name_in_table(const char* setting, const Value& value) {
  for (const auto& row : names(value))
    if (row.first == value) return row.second;
  fail("{}: this value has no name; add it to the table in nn/config.cpp", setting);
}

template <Named Value>
Value value_named(const char* setting, const std::string& name) {
  std::string known;
  for (const auto& row : names(Value{})) {
    if (name == row.second) return row.first;
    known += (known.empty() ? "" : ", ") + std::string(row.second);
  }
  fail("{}: '{:.60}' is not one of {}", setting, name, known);
}

// A setting that files from before it do not have: they mean its default.
constexpr bool may_be_missing = true;

// Every setting once, in order: writing and reading use the same list.
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
  visit("scale_embeddings", config.scale_embeddings, may_be_missing);
  visit("initialization", config.initialization);
  visit("head_dim", config.head_dim, may_be_missing);
  visit("rope_base", config.rope.base, may_be_missing);
  visit("rope_stretch", config.rope.stretch, may_be_missing);
  visit("rope_halves", config.rope.halves, may_be_missing);
  visit("t5_buckets", config.t5_buckets, may_be_missing);
  visit("t5_max_distance", config.t5_max_distance, may_be_missing);
  visit("norm_epsilon", config.norm_epsilon, may_be_missing);
  visit("scale_logits", config.scale_logits, may_be_missing);
}

struct ToJson {
  JsonMembers& json;
  template <class Value>
  void operator()(const char* setting, const Value& value, bool /*may_be_missing*/ = false) const {
    if constexpr (Named<Value>)
      json.emplace_back(setting, name_in_table(setting, value));
    else
      json.emplace_back(setting, value);
  }
};

struct FromJson {
  const JsonValue& json;
  template <class Value>
  void operator()(const char* setting, Value& value, bool optional = false) const {
    if (optional && !json.has(setting)) return;
    if constexpr (Named<Value>) {
      std::string name;
      read(setting, name);
      value = value_named<Value>(setting, name);
    } else {
      read(setting, value);
    }
  }
  template <class Value>
  void read(const char* setting, Value& value) const {
    if (!json.has(setting)) fail("configuration: '{}' is missing", setting);
    if (!json[setting].to(value))
      fail("configuration: '{}' has a value of the wrong kind: {:.60}", setting, json[setting].text());
  }
};

}  // namespace

void TransformerConfig::check() const {
  // Far above any model that this machine could run. Settings come from files, too: within these ceilings no
  // product of sizes overflows, and nothing that is built from the settings alone is large.
  const auto at_most = [](const char* setting, Index value, Index most) {
    if (value > most) fail("configuration: {} is {}; it may be at most {}", setting, value, most);
  };
  at_most("source_vocabulary", source_vocabulary, Index{1} << 30);
  at_most("vocabulary", vocabulary, Index{1} << 30);
  at_most("d_model", d_model, Index{1} << 20);
  at_most("d_ff", d_ff, Index{1} << 22);
  at_most("encoder_layers", encoder_layers, 1000);
  at_most("decoder_layers", decoder_layers, 1000);
  at_most("max_length", max_length, 1'000'000);
  if (vocabulary < 1) fail("configuration: vocabulary is {}; it must be at least 1", vocabulary);
  if (d_model < 1 || heads < 1 || (head_dim == 0 && d_model % heads))
    fail("configuration: d_model {} does not divide into {} heads", d_model, heads);
  if (head_dim < 0 || head_dim > (Index{1} << 20) || heads > (Index{1} << 20))
    fail("configuration: {} heads of size {} cannot be", heads, head_dim);
  if (kv_heads < 0 || (kv_heads && heads % kv_heads))
    fail("configuration: {} heads do not divide into {} key/value heads", heads, kv_heads);
  if (source_vocabulary < 0 || d_ff < 1 || encoder_layers < 0 || decoder_layers < 0 || max_length < 1 ||
      window < 0)
    fail("configuration: a size is negative or zero");
  if (!(dropout >= 0 && dropout < 1)) fail("configuration: dropout {} is not in [0, 1)", dropout);
  if (!(norm_epsilon > 0 && norm_epsilon < 1))
    fail("configuration: norm_epsilon {} is not between 0 and 1", norm_epsilon);
  if (!(rope.base > 1 && rope.base < 1e12 && rope.stretch >= 1 && rope.stretch < 1e6))
    fail("configuration: rope with a base of {} and a stretch of {} cannot be", rope.base, rope.stretch);
  if (t5_buckets < 4 || t5_buckets > 65536 || t5_max_distance <= t5_buckets || t5_max_distance > 1'000'000)
    fail("configuration: {} buckets up to a distance of {} cannot be", t5_buckets, t5_max_distance);
  if (positions == Positions::rope && head_size() % 2)
    fail("configuration: rope needs an even head size, not {}", head_size());
}

std::string to_json(const TransformerConfig& config) {
  JsonMembers json;
  for_each_setting(config, ToJson{json});
  return json_object(json).text;
}

TransformerConfig config_from_json(const std::string& text) {
  const JsonValue json = parse_json(text);
  if (!json.is_object()) fail("configuration: not a JSON object");
  TransformerConfig config;
  for_each_setting(config, FromJson{json});
  for (const auto& member : json.members()) {
    bool known = false;
    for_each_setting(config,
                     [&](const char* name, const auto&, bool = false) { known |= member.first == name; });
    if (!known) fail("configuration: {:.60} is not a setting", shown_json(member.first));
  }
  config.check();
  return config;
}

Positions positions_from_name(const std::string& name) { return value_named<Positions>("positions", name); }
const char* name_of(Positions positions) { return name_in_table("positions", positions); }

}  // namespace attn
