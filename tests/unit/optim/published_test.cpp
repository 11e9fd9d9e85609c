// Published models: small ones in the published layout, against plain loops on the same files.
#include "optim/published.hpp"

#include <cmath>    // cos, erf, exp, pow, sin, sqrt, tanh
#include <fstream>  // ofstream

#include "core/autograd.hpp"
#include "core/text.hpp"  // read_file
#include "nn/t5.hpp"
#include "tests/unit/optim/plain_loops.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace attn {
namespace {

// --- GPT-2 ---
struct Gpt2 {
  Index V = 13, C = 12, H = 3, L = 2, T = 10;
  Weights weights;
  std::string prefix;
  explicit Gpt2(const std::string& with_prefix = "") : prefix(with_prefix) {
    weights.add(prefix + "wte.weight", {V, C});
    weights.add(prefix + "wpe.weight", {T, C});
    for (Index l = 0; l < L; ++l) {
      const std::string h = prefix + "h." + std::to_string(l) + ".";
      weights.add_norm(h + "ln_1", C);
      weights.add_norm(h + "ln_2", C);
      weights.add(h + "attn.c_attn.weight", {C, 3 * C});
      weights.add(h + "attn.c_attn.bias", {3 * C});
      weights.add(h + "attn.c_proj.weight", {C, C});
      weights.add(h + "attn.c_proj.bias", {C});
      weights.add(h + "mlp.c_fc.weight", {C, 4 * C});
      weights.add(h + "mlp.c_fc.bias", {4 * C});
      weights.add(h + "mlp.c_proj.weight", {4 * C, C});
      weights.add(h + "mlp.c_proj.bias", {C});
      weights.add(h + "attn.bias", {1, 1, T, T});  // a mask that old files hold
    }
    weights.add_norm(prefix + "ln_f", C);
  }
  Settings config() const {
    return {{"model_type", "gpt2"},
            {"vocab_size", V},
            {"n_embd", C},
            {"n_head", H},
            {"n_layer", L},
            {"n_positions", T},
            {"n_inner", nullptr},
            {"activation_function", "gelu_new"},
            {"layer_norm_epsilon", 1e-3}};
  }
  Rows logits(const std::vector<int>& ids) const {
    std::vector<int> positions(ids.size());
    for (Index t = 0; t < std::ssize(ids); ++t) positions[t] = int(t);
    Rows x = plus(weights.embed(prefix + "wte.weight", ids), weights.embed(prefix + "wpe.weight", positions));
    for (Index l = 0; l < L; ++l) {
      const std::string h = prefix + "h." + std::to_string(l) + ".";
      const Rows qkv = weights.dense(h + "attn.c_attn", weights.norm(h + "ln_1", x, 1e-3), true);
      const Rows mixed = attend(columns(qkv, 0, C), columns(qkv, C, 2 * C), columns(qkv, 2 * C, 3 * C),
                                {H, H, true, 1 / std::sqrt(double(C / H))});
      x = plus(x, weights.dense(h + "attn.c_proj", mixed, true));
      const Rows hidden = weights.dense(h + "mlp.c_fc", weights.norm(h + "ln_2", x, 1e-3), true);
      x = plus(x, weights.dense(h + "mlp.c_proj", each(hidden, gelu_new), true));
    }
    return weights.logits(prefix + "wte.weight", weights.norm(prefix + "ln_f", x, 1e-3));
  }
};

TEST_CASE("a GPT-2 in the published layout gives the logits of plain loops") {
  for (const std::string prefix : {"", "transformer."}) {
    const TemporaryFolder folder;
    const Gpt2 gpt2(prefix);
    gpt2.weights.write(folder / "model.safetensors");
    write_json(folder / "config.json", gpt2.config());
    PublishedModel files(folder.path);
    const Gpt model = files.gpt();
    const NoGrad no_grad;
    CHECK(worst(model(one_row(text)), gpt2.logits(text)) < tolerance);
    CHECK(files.unused() == std::vector<std::string>{prefix + "h.0.attn.bias", prefix + "h.1.attn.bias"});
  }
}

TEST_CASE("a sharded model is the same model, and so is one that we saved") {
  const TemporaryFolder folder;
  const Gpt2 gpt2;
  const auto first = [](const std::string& name) { return name.starts_with("h.0"); };
  gpt2.weights.write(folder / "model-00001-of-00002.safetensors", first);
  gpt2.weights.write(folder / "model-00002-of-00002.safetensors",
                     [&](const std::string& n) { return !first(n); });
  std::map<std::string, std::string> map;
  for (const auto& [name, array] : gpt2.weights.arrays)
    map[name] = first(name) ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
  write_json(folder / "config.json", gpt2.config());
  write_json(folder / "model.safetensors.index.json", {{"weight_map", map}});
  const NoGrad no_grad;
  const Gpt model = PublishedModel(folder.path).gpt();
  CHECK(worst(model(one_row(text)), gpt2.logits(text)) < tolerance);

  const TemporaryFolder again;
  save_published(again.path, "gpt2", model.config, parameters_of(model));
  const Gpt loaded = PublishedModel(again.path).gpt();
  CHECK(equal(loaded(one_row(text)), model(one_row(text))));
  SafetensorsFile file = SafetensorsFile::open(again / "model.safetensors");
  CHECK(file.shape("h.1.attn.c_attn.weight") == Shape{gpt2.C, 3 * gpt2.C});

  map["ln_f.weight"] = "../elsewhere.safetensors";
  write_json(folder / "model.safetensors.index.json", {{"weight_map", map}});
  CHECK_THROWS_WITH_AS(PublishedModel(folder.path), doctest::Contains("is not the name of a file beside it"),
                       Error);
}

// --- Llama ---
Rows rotated(const Rows& x, Index heads, double base, double stretch) {  // pairs (i, i + D/2)
  Rows y = x;
  const Index D = std::ssize(x[0]) / heads;
  for (Index t = 0; t < std::ssize(x); ++t)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < D / 2; ++i) {
        const double angle = double(t) / stretch * std::pow(base, -2.0 * double(i) / double(D));
        const double a = x[t][h * D + i], b = x[t][h * D + i + D / 2];
        y[t][h * D + i] = a * std::cos(angle) - b * std::sin(angle);
        y[t][h * D + i + D / 2] = a * std::sin(angle) + b * std::cos(angle);
      }
  return y;
}

TEST_CASE("a Llama in the published layout gives the logits of plain loops, tied or not, stretched or not") {
  for (const bool tied : {false, true}) {
    const Index V = 13, C = 16, H = 4, K = 2, F = 20, L = 2, D = C / H;
    const double base = tied ? 500 : 10000, stretch = tied ? 2 : 1;
    Weights weights;
    weights.add("model.embed_tokens.weight", {V, C});
    for (Index l = 0; l < L; ++l) {
      const std::string layer = "model.layers." + std::to_string(l) + ".";
      weights.add_norm(layer + "input_layernorm", C, false);
      weights.add_norm(layer + "post_attention_layernorm", C, false);
      weights.add_dense(layer + "self_attn.q_proj", C, H * D, false);
      weights.add_dense(layer + "self_attn.k_proj", C, K * D, false);
      weights.add_dense(layer + "self_attn.v_proj", C, K * D, false);
      weights.add_dense(layer + "self_attn.o_proj", H * D, C, false);
      weights.add_dense(layer + "mlp.gate_proj", C, F, false);
      weights.add_dense(layer + "mlp.up_proj", C, F, false);
      weights.add_dense(layer + "mlp.down_proj", F, C, false);
    }
    weights.add_norm("model.norm", C, false);
    if (!tied) weights.add("lm_head.weight", {V, C});
    Rows x = weights.embed("model.embed_tokens.weight", text);
    for (Index l = 0; l < L; ++l) {
      const std::string layer = "model.layers." + std::to_string(l) + ".";
      const Rows n = weights.norm(layer + "input_layernorm", x, 1e-5, true);
      const Rows q = rotated(weights.dense(layer + "self_attn.q_proj", n), H, base, stretch),
                 k = rotated(weights.dense(layer + "self_attn.k_proj", n), K, base, stretch),
                 v = weights.dense(layer + "self_attn.v_proj", n);
      x = plus(x, weights.dense(layer + "self_attn.o_proj",
                                attend(q, k, v, {H, K, true, 1 / std::sqrt(double(D))})));
      const Rows m = weights.norm(layer + "post_attention_layernorm", x, 1e-5, true);
      const Rows gate = each(weights.dense(layer + "mlp.gate_proj", m), silu_of);
      x = plus(x,
               weights.dense(layer + "mlp.down_proj", times(gate, weights.dense(layer + "mlp.up_proj", m))));
    }
    const Rows logits = weights.logits(tied ? "model.embed_tokens.weight" : "lm_head.weight",
                                       weights.norm("model.norm", x, 1e-5, true));

    const TemporaryFolder folder;
    weights.write(folder / "model.safetensors");
    Settings config = {{"model_type", "llama"},      {"vocab_size", V},          {"hidden_size", C},
                       {"num_attention_heads", H},   {"num_key_value_heads", K}, {"num_hidden_layers", L},
                       {"intermediate_size", F},     {"rms_norm_eps", 1e-5},     {"rope_theta", base},
                       {"tie_word_embeddings", tied}};
    if (tied) config.emplace("rope_scaling", json_object({{"type", "linear"}, {"factor", stretch}}));
    write_json(folder / "config.json", config);
    PublishedModel files(folder.path);
    const Gpt model = files.gpt();
    const NoGrad no_grad;
    CHECK(worst(model(one_row(text)), logits) < tolerance);
    CHECK(files.unused().empty());

    DecoderCache cache;  // token by token
    Tensor last;
    for (const int token : text) last = model(one_row({token}), cache);
    CHECK(worst(last, {logits.back()}) < tolerance);

    config.insert_or_assign("rope_scaling", json_object({{"rope_type", "llama3"}, {"factor", 8}}));
    write_json(folder / "config.json", config);
    CHECK_THROWS_WITH_AS(PublishedModel(folder.path), doctest::Contains("linear scaling or none is wanted"),
                         Error);
  }
}

// --- BERT ---
TEST_CASE(
    "a BERT in the published layout gives the states and both heads of plain loops, older names included") {
  for (const bool older : {false, true}) {
    const Index V = 13, C = 12, H = 3, F = 20, L = 2, T = 10;
    Weights weights;
    const std::string b = "bert.";
    weights.add(b + "embeddings.word_embeddings.weight", {V, C});
    weights.add(b + "embeddings.position_embeddings.weight", {T, C});
    weights.add(b + "embeddings.token_type_embeddings.weight", {2, C});
    weights.add_norm(b + "embeddings.LayerNorm", C);
    for (Index l = 0; l < L; ++l) {
      const std::string layer = b + "encoder.layer." + std::to_string(l) + ".";
      for (const char* name : {"query", "key", "value"})
        weights.add_dense(layer + "attention.self." + name, C, C);
      weights.add_dense(layer + "attention.output.dense", C, C);
      weights.add_norm(layer + "attention.output.LayerNorm", C);
      weights.add_dense(layer + "intermediate.dense", C, F);
      weights.add_dense(layer + "output.dense", F, C);
      weights.add_norm(layer + "output.LayerNorm", C);
    }
    weights.add_dense(b + "pooler.dense", C, C);
    weights.add_dense("cls.predictions.transform.dense", C, C);
    weights.add_norm("cls.predictions.transform.LayerNorm", C);
    weights.add("cls.predictions.bias", {V});
    weights.add_dense("cls.seq_relationship", C, 2);

    const std::vector<int> segments = {0, 0, 0, 0, 1, 1, 1, 1}, positions = {0, 1, 2, 3, 4, 5, 6, 7};
    Rows x = plus(plus(weights.embed(b + "embeddings.word_embeddings.weight", text),
                       weights.embed(b + "embeddings.position_embeddings.weight", positions)),
                  weights.embed(b + "embeddings.token_type_embeddings.weight", segments));
    x = weights.norm(b + "embeddings.LayerNorm", x, 1e-12);
    for (Index l = 0; l < L; ++l) {
      const std::string layer = b + "encoder.layer." + std::to_string(l) + ".";
      const Rows mixed = attend(weights.dense(layer + "attention.self.query", x),
                                weights.dense(layer + "attention.self.key", x),
                                weights.dense(layer + "attention.self.value", x), {H, H, false, 0.5});
      x = weights.norm(layer + "attention.output.LayerNorm",
                       plus(x, weights.dense(layer + "attention.output.dense", mixed)), 1e-12);
      const Rows hidden = each(weights.dense(layer + "intermediate.dense", x), gelu_erf);
      x = weights.norm(layer + "output.LayerNorm", plus(x, weights.dense(layer + "output.dense", hidden)),
                       1e-12);
    }
    Rows mlm = weights.logits(
        b + "embeddings.word_embeddings.weight",
        weights.norm("cls.predictions.transform.LayerNorm",
                     each(weights.dense("cls.predictions.transform.dense", x), gelu_erf), 1e-12));
    for (Row& row : mlm)
      for (Index v = 0; v < V; ++v) row[v] += weights.at("cls.predictions.bias", v);
    const Rows pooled =
        each(weights.dense(b + "pooler.dense", {x[0]}), [](double v) { return std::tanh(v); });
    const Rows nsp = weights.dense("cls.seq_relationship", pooled);

    Weights written = weights;
    if (older) {
      written.arrays.clear();
      for (const auto& [name, array] : weights.arrays) {
        std::string other = name;
        if (name.find("LayerNorm") != std::string::npos)
          other = name.substr(0, name.rfind('.')) + (name.ends_with("bias") ? ".beta" : ".gamma");
        written.arrays[other] = array;
      }
    }
    const TemporaryFolder folder;
    written.write(folder / "model.safetensors");
    write_json(folder / "config.json", {{"model_type", "bert"},
                                        {"vocab_size", V},
                                        {"hidden_size", C},
                                        {"num_attention_heads", H},
                                        {"num_hidden_layers", L},
                                        {"intermediate_size", F},
                                        {"max_position_embeddings", T},
                                        {"hidden_act", "gelu"},
                                        {"layer_norm_eps", 1e-12}});
    PublishedModel files(folder.path);
    const Bert model = files.bert();
    const NoGrad no_grad;
    const Tensor states = model(one_row(text), one_row(segments));
    CHECK(worst(states, x) < tolerance);
    CHECK(worst(model.mlm_logits(states), mlm) < tolerance);
    CHECK(worst(reshape(model.nsp_logits(states), {1, 1, 2}), nsp) < tolerance);
    CHECK(files.unused().empty());
    CHECK_THROWS_WITH_AS(files.gpt(), doctest::Contains("it is a bert"), Error);
  }
}

// --- T5 ---
// The bucket of a distance by T5's paper: exact up to half of them, then logarithmic.
Index bucket_of(Index distance, bool both, Index buckets, Index furthest) {
  Index first = 0;
  if (both) {
    buckets /= 2;
    first = distance > 0 ? buckets : 0;
    distance = std::abs(distance);
  } else {
    distance = distance < 0 ? -distance : 0;
  }
  const Index exact = buckets / 2;
  if (distance < exact) return first + distance;
  const double share =
      std::log(double(distance) / double(exact)) / std::log(double(furthest) / double(exact));
  return first + std::min(exact + Index(share * double(buckets - exact)), buckets - 1);
}

TEST_CASE("a T5 in the published layout gives the logits of plain loops: v1.0 tied, v1.1 gated and untied") {
  for (const bool gated : {false, true}) {
    const Index V = 13, C = 12, H = 3, D = gated ? 5 : 4, F = 20, L = 2, buckets = 8, furthest = 9;
    const std::vector<int> target = {0, 7, 8, 2, 1};
    Weights weights;
    weights.add("shared.weight", {V, C});
    if (gated) weights.add("lm_head.weight", {V, C});
    const auto add_attention = [&](const std::string& name) {
      for (const char* part : {".q", ".k", ".v"}) weights.add_dense(name + part, C, H * D, false);
      weights.add_dense(name + ".o", H * D, C, false);
    };
    for (const std::string stack : {"encoder", "decoder"}) {
      for (Index l = 0; l < L; ++l) {
        const std::string block = stack + ".block." + std::to_string(l) + ".layer.";
        const bool crosses = stack == "decoder";
        add_attention(block + "0.SelfAttention");
        weights.add_norm(block + "0.layer_norm", C, false);
        if (crosses) add_attention(block + "1.EncDecAttention");
        if (crosses) weights.add_norm(block + "1.layer_norm", C, false);
        const std::string last = block + (crosses ? "2." : "1.");
        for (const char* part : gated ? std::vector{"wi_0", "wi_1"} : std::vector{"wi"})
          weights.add_dense(last + "DenseReluDense." + part, C, F, false);
        weights.add_dense(last + "DenseReluDense.wo", F, C, false);
        weights.add_norm(last + "layer_norm", C, false);
      }
      weights.add(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", {buckets, H});
      weights.add_norm(stack + ".final_layer_norm", C, false);
    }

    const auto run = [&](const std::string& stack, const std::vector<int>& ids, const Rows& memory) {
      const bool decodes = stack == "decoder";
      const auto bias = [&](Index h, Index t, Index j) {
        return weights.at(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                          bucket_of(j - t, !decodes, buckets, furthest) * H + h);
      };
      const auto attention = [&](const std::string& name, const Rows& q, const Rows& kv, const Look& look) {
        return weights.dense(name + ".o",
                             attend(weights.dense(name + ".q", q), weights.dense(name + ".k", kv),
                                    weights.dense(name + ".v", kv), look));
      };
      Rows x = weights.embed("shared.weight", ids);
      for (Index l = 0; l < L; ++l) {
        const std::string block = stack + ".block." + std::to_string(l) + ".layer.";
        const Rows n = weights.norm(block + "0.layer_norm", x, 1e-6, true);
        x = plus(x, attention(block + "0.SelfAttention", n, n, {H, H, decodes, 1, bias}));
        if (decodes)
          x = plus(x,
                   attention(block + "1.EncDecAttention", weights.norm(block + "1.layer_norm", x, 1e-6, true),
                             memory, {H, H, false, 1}));
        const std::string last = block + (decodes ? "2." : "1.");
        const Rows m = weights.norm(last + "layer_norm", x, 1e-6, true);
        const std::string wi = last + "DenseReluDense.wi";
        const Rows hidden =
            gated ? times(each(weights.dense(wi + "_0", m), gelu_new), weights.dense(wi + "_1", m))
                  : each(weights.dense(wi, m), relu_of);
        x = plus(x, weights.dense(last + "DenseReluDense.wo", hidden));
      }
      return weights.norm(stack + ".final_layer_norm", x, 1e-6, true);
    };
    Rows states = run("decoder", target, run("encoder", text, {}));
    if (!gated) states = each(states, [](double v) { return v / std::sqrt(12.0); });
    const Rows logits = weights.logits(gated ? "lm_head.weight" : "shared.weight", states);

    const TemporaryFolder folder;
    weights.write(folder / "model.safetensors");
    write_json(folder / "config.json", {{"model_type", "t5"},
                                        {"vocab_size", V},
                                        {"d_model", C},
                                        {"d_kv", D},
                                        {"num_heads", H},
                                        {"num_layers", L},
                                        {"d_ff", F},
                                        {"relative_attention_num_buckets", buckets},
                                        {"relative_attention_max_distance", furthest},
                                        {"layer_norm_epsilon", 1e-6},
                                        {"feed_forward_proj", gated ? "gated-gelu" : "relu"},
                                        {"tie_word_embeddings", !gated}});
    PublishedModel files(folder.path);
    const Transformer model = files.t5();
    const NoGrad no_grad;
    CHECK(worst(model(one_row(text), one_row(target)), logits) < tolerance);
    CHECK(files.unused().empty());

    const TemporaryFolder again;
    save_published(again.path, "t5", model.config, parameters_of(model));
    const Transformer loaded = PublishedModel(again.path).t5();
    CHECK(equal(loaded(one_row(text), one_row(target)), model(one_row(text), one_row(target))));
  }
}

// --- what is wrong with a folder is said in one line that names it ---
std::string folder_refusal(const std::filesystem::path& folder) {
  try {
    PublishedModel files(folder);
    files.gpt();
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "";
}

TEST_CASE("a folder that is incomplete, foreign or damaged is refused, and the tensor is named") {
  const TemporaryFolder folder;
  CHECK(folder_refusal(folder / "nowhere").find("there is no such folder") != std::string::npos);
  const auto refuses = [&](const char* words) {
    return folder_refusal(folder.path).find(words) != std::string::npos;
  };
  CHECK(refuses("missing: config.json, model.safetensors (or model.safetensors.index.json and the files"));
  CHECK(refuses("the tokenizer (tokenizer.json, or vocab.json and merges.txt, or vocab.txt);"));
  Gpt2 gpt2;
  write_json(folder / "config.json", gpt2.config());
  CHECK(refuses("missing: model.safetensors"));
  std::ofstream(folder / "pytorch_model.bin") << "pickle";
  CHECK(refuses("pytorch_model.bin cannot be read here"));
  write_json(folder / "model.safetensors.index.json",
             {{"weight_map", json_object({{"a", "1.safetensors"}, {"b", "2.safetensors"}})}});
  CHECK(refuses("2 of its 2 files of weights are missing: 1.safetensors, 2.safetensors"));
  gpt2.weights.write(folder / "model.safetensors");
  CHECK(folder_refusal(folder.path).empty());

  const auto with = [&](const char* key, const Json& value) {
    Settings config = gpt2.config();
    config.insert_or_assign(key, value);
    write_json(folder / "config.json", config);
    return folder_refusal(folder.path);
  };
  CHECK(with("model_type", "mamba").find("'mamba'; known here are gpt2, llama, bert, t5") !=
        std::string::npos);
  CHECK(with("n_embd", "many").find("'n_embd' is \"many\"; a whole number is wanted") != std::string::npos);
  CHECK(with("n_layer", 3).find("but its files hold") != std::string::npos);
  CHECK(with("vocab_size", 12).find("\"wte.weight\" has shape (13,12), but (12,12) is expected") !=
        std::string::npos);
  CHECK(with("n_embd", std::uint64_t{1} << 50).find("d_model") != std::string::npos);
  CHECK(with("activation_function", "mish").find("activation_function") != std::string::npos);
  write_json(folder / "config.json", gpt2.config());

  gpt2.weights.arrays.erase("h.1.ln_2.bias");
  gpt2.weights.write(folder / "model.safetensors");
  CHECK(folder_refusal(folder.path).find("the tensor h.1.ln_2.bias is missing") != std::string::npos);
  std::filesystem::resize_file(folder / "model.safetensors", 3000);
  CHECK(folder_refusal(folder.path).find("truncated") != std::string::npos);
  std::ofstream(folder / "config.json") << "{";
  CHECK(folder_refusal(folder.path).find("not a JSON object") != std::string::npos);
}

TEST_CASE("a model of llama2.c is read as it is written, and a short one is refused") {
  Rng rng(3);
  TransformerConfig config{.vocabulary = 11,
                           .d_model = 8,
                           .heads = 4,
                           .kv_heads = 2,
                           .encoder_layers = 0,
                           .decoder_layers = 2,
                           .d_ff = 12,
                           .dropout = 0,
                           .positions = Positions::rope,
                           .max_length = 16,
                           .pre_norm = true,
                           .norm = NormKind::rms,
                           .feed_forward = {.activation = Activation::silu, .gated = true},
                           .bias = false,
                           .scale_embeddings = false};
  Gpt made(config, rng);
  shaken(made);
  std::string bytes;
  for (const int number : {8, 12, 2, 4, 2, 11, 16}) bytes.append(reinterpret_cast<const char*>(&number), 4);
  const auto put = [&](const Tensor& tensor) {
    for (Index i = 0; i < tensor.numel(); ++i) {
      const float value = float(tensor.data()[i]);
      tensor.data()[i] = real(value);
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    }
  };
  put(made.token_embedding.table);
  const auto put_all = [&](auto part) {
    for (const Block& block : made.stack.blocks) put(part(block));
  };
  put_all([](const Block& b) { return b.self_norm.gain; });
  put_all([](const Block& b) { return b.self.query.weight; });
  put_all([](const Block& b) { return b.self.key.weight; });
  put_all([](const Block& b) { return b.self.value.weight; });
  put_all([](const Block& b) { return b.self.output.weight; });
  put_all([](const Block& b) { return b.feed_forward_norm.gain; });
  put_all([](const Block& b) { return b.feed_forward.gate.weight; });
  put_all([](const Block& b) { return b.feed_forward.second.weight; });
  put_all([](const Block& b) { return b.feed_forward.first.weight; });
  put(made.stack.final_norm.gain);
  bytes.append(16 * 2 * 4, '\0');
  const TemporaryFolder folder;
  std::ofstream(folder / "model.bin") << bytes;
  const NoGrad no_grad;
  CHECK(equal(load_llama2c(folder / "model.bin")(one_row(text)), made(one_row(text))));
  std::ofstream(folder / "model.bin") << bytes.substr(0, bytes.size() - 400);
  CHECK_THROWS_WITH_AS(load_llama2c(folder / "model.bin"), doctest::Contains("it ends at number"), Error);
  std::ofstream(folder / "model.bin") << "no model";
  CHECK_THROWS_AS(load_llama2c(folder / "model.bin"), Error);
}

}  // namespace
}  // namespace attn
