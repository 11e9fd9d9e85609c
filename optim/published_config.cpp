#include "optim/published_config.hpp"

#include <algorithm>  // min

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/text.hpp"  // read_file
#include "optim/published.hpp"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Its entries, each of the kind that is wanted or an Error that names it.
class Settings {
 public:
  explicit Settings(const fs::path& file) : file_(file.string()), json_(parse_json(read_file(file))) {
    if (!json_.is_object()) fail("{}: not a JSON object", file_);
  }
  bool has(const char* key) const { return !json_[key].is_null(); }
  Index whole(const char* key, Index otherwise = -1) const {
    Index number = otherwise;
    if ((has(key) || otherwise < 0) && (!json_[key].to(number) || number < 0)) refuse(key, "a whole number");
    return std::min(number, Index{1} << 40);
  }
  double number(const char* key, double otherwise) const { return value(key, otherwise, "a number"); }
  bool flag(const char* key, bool otherwise) const { return value(key, otherwise, "true or false"); }
  std::string text(const char* key, const std::string& otherwise) const {
    return value(key, otherwise, "a text");
  }
  std::string text(const char* key) const {
    if (!has(key)) refuse(key, "a text");
    return text(key, "");
  }
  JsonValue operator[](const char* key) const { return json_[key]; }
  [[noreturn]] void refuse(const char* key, const char* wanted) const {
    fail("{}: '{}' is {:.60}; {} is wanted", file_, key, has(key) ? json_[key].text() : "missing", wanted);
  }

 private:
  template <class Value>
  Value value(const char* key, Value otherwise, const char* wanted) const {
    if (has(key) && !json_[key].to(otherwise)) refuse(key, wanted);
    return otherwise;
  }

  std::string file_;
  JsonValue json_;
};

Activation activation_named(const Settings& settings, const char* key, const std::string& name) {
  const std::pair<const char*, Activation> known[] = {
      {"relu", Activation::relu},          {"gelu", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"silu", Activation::silu},          {"swish", Activation::silu}};
  for (const auto& [text, activation] : known)
    if (name == text) return activation;
  settings.refuse(key, "relu, gelu, gelu_new or silu");
}

TransformerConfig gpt2_settings(const Settings& given) {
  const Index d_model = given.whole("n_embd");
  return {.vocabulary = given.whole("vocab_size"),
          .d_model = d_model,
          .heads = given.whole("n_head"),
          .encoder_layers = 0,
          .decoder_layers = given.whole("n_layer"),
          .d_ff = given.whole("n_inner", 4 * d_model),
          .dropout = 0,
          .positions = Positions::learned,
          .max_length = given.whole("n_positions", 1024),
          .pre_norm = true,
          .norm_epsilon = real(given.number("layer_norm_epsilon", 1e-5)),
          .feed_forward = {.activation = activation_named(given, "activation_function",
                                                          given.text("activation_function", "gelu_new"))},
          .scale_embeddings = false};
}

TransformerConfig llama_settings(const Settings& given) {
  RopeOptions rope{.base = given.number("rope_theta", 10000), .halves = true};
  if (given.has("rope_scaling")) {
    const JsonValue scaling = given["rope_scaling"];
    std::string kind;
    scaling[scaling.has("rope_type") ? "rope_type" : "type"].to(kind);
    if (kind != "default" && !(kind == "linear" && scaling["factor"].to(rope.stretch)))
      given.refuse("rope_scaling", "linear scaling or none");
  }
  if (given.flag("attention_bias", false)) given.refuse("attention_bias", "false");
  return {
      .vocabulary = given.whole("vocab_size"),
      .d_model = given.whole("hidden_size"),
      .heads = given.whole("num_attention_heads"),
      .head_dim = given.whole("head_dim", 0),
      .kv_heads = given.whole("num_key_value_heads", 0),
      .encoder_layers = 0,
      .decoder_layers = given.whole("num_hidden_layers"),
      .d_ff = given.whole("intermediate_size"),
      .dropout = 0,
      .positions = Positions::rope,
      .max_length = std::min<Index>(given.whole("max_position_embeddings", 2048), 1'000'000),
      .rope = rope,
      .pre_norm = true,
      .norm = NormKind::rms,
      .norm_epsilon = real(given.number("rms_norm_eps", 1e-6)),
      .feed_forward = {.activation = activation_named(given, "hidden_act", given.text("hidden_act", "silu")),
                       .gated = true},
      .bias = false,
      .tie_embeddings = given.flag("tie_word_embeddings", false),
      .scale_embeddings = false};
}

TransformerConfig bert_settings(const Settings& given) {
  if (given.text("position_embedding_type", "absolute") != "absolute")
    given.refuse("position_embedding_type", "absolute");
  return {
      .vocabulary = given.whole("vocab_size"),
      .d_model = given.whole("hidden_size"),
      .heads = given.whole("num_attention_heads"),
      .encoder_layers = given.whole("num_hidden_layers"),
      .decoder_layers = 0,
      .d_ff = given.whole("intermediate_size"),
      .positions = Positions::learned,
      .max_length = given.whole("max_position_embeddings", 512),
      .norm_epsilon = real(given.number("layer_norm_eps", 1e-12)),
      .feed_forward = {.activation = activation_named(given, "hidden_act", given.text("hidden_act", "gelu"))},
      .scale_embeddings = false};
}

TransformerConfig t5_settings(const Settings& given) {
  const std::string kind = given.text("feed_forward_proj", "relu");  // "relu", or "gated-gelu" in v1.1
  const bool gated = kind.starts_with("gated-"), tied = given.flag("tie_word_embeddings", true);
  const std::string activation = gated ? kind.substr(6) : kind;
  const Index layers = given.whole("num_layers"), vocabulary = given.whole("vocab_size");
  return {.source_vocabulary = vocabulary,
          .vocabulary = vocabulary,
          .d_model = given.whole("d_model"),
          .heads = given.whole("num_heads"),
          .head_dim = given.whole("d_kv"),
          .encoder_layers = layers,
          .decoder_layers = given.whole("num_decoder_layers", layers),
          .d_ff = given.whole("d_ff"),
          .positions = Positions::t5,
          .t5_buckets = given.whole("relative_attention_num_buckets", 32),
          .t5_max_distance = given.whole("relative_attention_max_distance", 128),
          .pre_norm = true,
          .norm = NormKind::rms,
          .norm_epsilon = real(given.number("layer_norm_epsilon", 1e-6)),
          // In a gate T5 means GELU's approximation by tanh.
          .feed_forward = {.activation = gated && activation == "gelu"
                                             ? Activation::gelu_tanh
                                             : activation_named(given, "feed_forward_proj", activation),
                           .gated = gated},
          .bias = false,
          .scale_scores = false,
          .tie_embeddings = tied,
          .share_embeddings = true,
          .scale_embeddings = false,
          .scale_logits = tied};
}

}  // namespace

std::pair<std::string, TransformerConfig> read_settings(const fs::path& file) {
  const Settings given(file);
  const std::string type = given.text("model_type");
  published_family(type);  // throws if it is unknown
  TransformerConfig config = type == "gpt2"    ? gpt2_settings(given)
                             : type == "llama" ? llama_settings(given)
                             : type == "bert"  ? bert_settings(given)
                                               : t5_settings(given);
  config.initialization = Initialization::none;
  config.check();
  return {type, config};
}

std::string settings_for(const std::string& type, const TransformerConfig& config) {
  const char* const activation = config.feed_forward.activation == Activation::gelu_tanh ? "gelu_new"
                                 : config.feed_forward.activation == Activation::gelu    ? "gelu"
                                 : config.feed_forward.activation == Activation::silu    ? "silu"
                                                                                         : "relu";
  JsonMembers settings;
  if (type == "gpt2")
    settings = {{"vocab_size", config.vocabulary},
                {"n_embd", config.d_model},
                {"n_head", config.heads},
                {"n_layer", config.decoder_layers},
                {"n_inner", config.d_ff},
                {"n_positions", config.max_length},
                {"layer_norm_epsilon", config.norm_epsilon},
                {"activation_function", activation}};
  else if (type == "llama")
    settings = {{"vocab_size", config.vocabulary},
                {"hidden_size", config.d_model},
                {"num_attention_heads", config.heads},
                {"num_key_value_heads", config.kv_heads ? config.kv_heads : config.heads},
                {"head_dim", config.head_size()},
                {"num_hidden_layers", config.decoder_layers},
                {"intermediate_size", config.d_ff},
                {"max_position_embeddings", config.max_length},
                {"rope_theta", config.rope.base},
                {"rms_norm_eps", config.norm_epsilon},
                {"hidden_act", activation},
                {"tie_word_embeddings", config.tie_embeddings}};
  else if (type == "bert")
    settings = {{"vocab_size", config.vocabulary},
                {"hidden_size", config.d_model},
                {"num_attention_heads", config.heads},
                {"num_hidden_layers", config.encoder_layers},
                {"intermediate_size", config.d_ff},
                {"max_position_embeddings", config.max_length},
                {"type_vocab_size", 2},
                {"layer_norm_eps", config.norm_epsilon},
                {"hidden_act", activation}};
  else
    settings = {{"vocab_size", config.vocabulary},
                {"d_model", config.d_model},
                {"num_heads", config.heads},
                {"d_kv", config.head_size()},
                {"num_layers", config.encoder_layers},
                {"num_decoder_layers", config.decoder_layers},
                {"d_ff", config.d_ff},
                {"relative_attention_num_buckets", config.t5_buckets},
                {"relative_attention_max_distance", config.t5_max_distance},
                {"layer_norm_epsilon", config.norm_epsilon},
                {"feed_forward_proj", (config.feed_forward.gated ? "gated-" : "") +
                                          std::string(config.feed_forward.gated ? "gelu" : activation)},
                {"tie_word_embeddings", config.tie_embeddings}};
  if (type == "llama" && config.rope.stretch != 1)
    settings.emplace_back("rope_scaling", json_object({{"type", "linear"}, {"factor", config.rope.stretch}}));
  settings.emplace_back("model_type", type);
  std::string lines;
  for (const auto& [name, value] : settings)
    lines += fmt::format("{}  {}: {}", lines.empty() ? "" : ",\n", Json(name).text, value.text);
  return "{\n" + lines + "\n}\n";
}

// The numbers in the largest matrices of such a model: no fewer can be in its files.
Index least_numbers(const TransformerConfig& config) {
  const Index layers = config.encoder_layers + config.decoder_layers;
  return config.vocabulary * config.d_model +
         layers * config.d_model * 2 * (config.query_size() + config.d_ff);
}

}  // namespace attn
