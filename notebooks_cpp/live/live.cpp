#include "notebooks_cpp/live/live.hpp"

#include <algorithm>  // find
#include <cmath>      // isfinite, sqrt
#include <iterator>   // ssize
#include <utility>    // move

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/json.hpp"
#include "lessons/13_translator/talk.hpp"  // known_words, nearest_words
#include "nn/text/characters.hpp"          // normalize_spaces
#include "nn/text/toy_languages.hpp"

namespace attn {
namespace {

std::string quote(const std::string& text) { return Json(text).text; }

// A list in JSON, of what `write` makes of each element.
template <class List, class Write>
std::string list(const List& elements, const Write& write) {
  std::string text = "[";
  for (const auto& element : elements) {
    if (text.size() > 1) text += ',';
    text += write(element);
  }
  return text + "]";
}

const std::string& as_is(const std::string& text) { return text; }
std::string strings(const std::vector<std::string>& texts) { return list(texts, quote); }

// A number in as few digits as give it back; null for what JSON has no word for, -inf of a hidden key.
std::string number(real x) { return std::isfinite(x) ? fmt::format("{}", x) : "null"; }
std::string numbers(const Tensor& x) { return x ? list(x.values(), number) : "null"; }

std::vector<std::string> labels(const Vocabulary& vocabulary, const std::vector<int>& ids) {
  std::vector<std::string> texts;
  for (const int id : ids) texts.push_back(vocabulary.label(id));
  return texts;
}

// The layers of attention with what they computed. The gradients are there after the backward pass.
std::string layers_text(const Transformer& model, const std::vector<AttentionSteps>& layers) {
  return list(layers, [&](const AttentionSteps& steps) {
    const Tensor& gradients = steps.weights.has_grad() ? steps.weights.grad() : Tensor();
    return fmt::format(R"({{"name":"{}","layer":{},"heads":{},"rows":{},"columns":{},"size":{},"scale":{},)"
                       R"("q":{},"k":{},"v":{},"scores":{},"weights":{},"gradients":{}}})",
                       steps.name, steps.layer, steps.q.size(1), steps.q.size(2), steps.k.size(2),
                       steps.q.size(3), model.encoder.blocks[0].self.scale, numbers(steps.q),
                       numbers(steps.k), numbers(steps.v), numbers(steps.scores), numbers(steps.weights),
                       numbers(gradients));
  });
}

// At each position of `next` the word that follows and the likeliest words, with probabilities and logits.
std::vector<std::string> guesses(const Translator& translator, const Tensor& logits,
                                 const std::vector<int>& next, real temperature) {
  const Tensor probabilities = softmax(logits / (temperature > 0 ? temperature : 1));  // (1, T, V)
  const TopK top = top_k(probabilities, std::min<Index>(5, logits.size(2)));
  std::vector<std::string> texts;
  for (Index t = 0; t < std::ssize(next); ++t) {
    const auto guess = [&](int id) {
      return fmt::format("[{},{},{}]", quote(translator.target->label(id)), number(probabilities(0, t, id)),
                         number(logits(0, t, id)));
    };
    std::vector<int> best;
    for (Index i = 0; i < top.values.size(2); ++i) best.push_back(top.indices(0, t, i));
    texts.push_back(fmt::format(R"({{"word":{},"best":{}}})", guess(next[t]), list(best, guess)));
  }
  return texts;
}

// The residual stream of position t through the decoder. After each sublayer the model is asked what it would
// write if that were the last one: the logit lens (nostalgebraist, 2020).
std::string way_text(const Translator& translator, const ResidualStream& stream, Index t,
                     const std::vector<int>& next, real temperature) {
  const Stack& decoder = translator.model.decoder;
  const auto at_t = [t](const Tensor& x) { return numbers(select(x, 1, t)); };
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const StreamStep& step = stream[i];
    std::string neurons = "null";
    if (step.name == std::string("feed_forward")) {
      const Block& block = decoder.blocks[step.layer];
      const Tensor& x = stream[i - 1].state;
      neurons = at_t(block.feed_forward.hidden(block.pre_norm ? block.feed_forward_norm(x) : x));
    }
    const Tensor logits =
        translator.model.logits(decoder.final_norm.gain ? decoder.final_norm(step.state) : step.state);
    steps.push_back(fmt::format(R"({{"name":"{}","layer":{},"added":{},"state":{},"neurons":{},"guess":{}}})",
                                step.name, step.layer, at_t(step.added), at_t(step.state), neurons,
                                guesses(translator, logits, next, temperature)[t]));
  }
  return list(steps, as_is);
}

std::string beam_text(const Translator& translator, const BeamResult& result) {
  const std::string nodes = list(result.tree, [&](const BeamNode& node) {
    return fmt::format(R"({{"parent":{},"word":{},"score":{},"depth":{},"kept":{},"ended":{}}})", node.parent,
                       quote(translator.target->label(node.token)), real(node.log_probability), node.depth,
                       node.kept, node.finished);
  });
  const std::string hypotheses = list(result.hypotheses, [&](const Hypothesis& hypothesis) {
    return fmt::format(R"({{"text":{},"log":{},"score":{},"node":{}}})",
                       quote(translator.target->decode(hypothesis.tokens)), real(hypothesis.log_probability),
                       real(hypothesis.score), hypothesis.node);
  });
  return fmt::format(R"({{"nodes":{},"hypotheses":{}}})", nodes, hypotheses);
}

// The ids of a sentence, or an error that names the words it does not know and the nearest known ones.
std::vector<int> read(const Translator& translator, const std::string& sentence) {
  const std::vector<int> ids = translator.encode(sentence);
  if (std::ssize(ids) < 2) fail("there is nothing to translate");
  if (std::ssize(ids) > translator.model.config.max_length)
    fail("the sentence has {} tokens, and the model was made for {}", ids.size(),
         translator.model.config.max_length);
  if (std::find(ids.begin(), ids.end(), Vocabulary::unk) == ids.end()) return ids;
  std::string unknown;
  const std::vector<std::string> known = known_words(translator);
  for (const std::string& word : translator.source->unknown(sentence)) {
    std::string near;
    for (const std::string& other : nearest_words(word, known, 3)) near += (near.empty() ? "" : ", ") + other;
    unknown += (unknown.empty() ? "" : "; ") + word + (near.empty() ? "" : " (near: " + near + ")");
  }
  fail("The model has never seen {}", unknown);
}

}  // namespace

// What was asked, and where nothing was said the default.
struct Live::Request {
  JsonValue json;

  template <class Value>
  Value get(const char* name, Value value) const {
    if (json.has(name) && !json[name].to(value)) fail("{}: {:.60} cannot be", name, json[name].text());
    return value;
  }
  Index count(const char* name, Index otherwise, Index most) const {
    const Index value = get(name, otherwise);
    if (value < 1 || value > most) fail("{}: {} is not between 1 and {}", name, value, most);
    return value;
  }
};

std::string Live::answer(const std::string& text) {
  try {
    const JsonValue request = parse_json(text);
    if (!request.is_object()) fail("{:.60} is no request", text);
    return respond({request});
  } catch (const std::exception& problem) {
    return fmt::format(R"({{"error":{}}})", quote(problem.what()));
  }
}

std::string Live::respond(const Request& request) {
  const std::string what = request.get<std::string>("do", "");
  if (what == "start") return start(request);
  if (what == "load") return load(request);
  if (what == "save") return save(request);
  if (what == "switch") return apply_switches(request);
  if (what == "train") return train(request);
  if (what == "score") return score(request);
  if (what == "examples") return examples(request);
  if (what == "translate") return translate(request);
  if (what == "weights") return weights();
  fail("'{}' is nothing that can be asked for", what);
}

Translator& Live::translator() {
  if (run_) return run_->translator;
  if (!loaded_) fail("there is no model yet: load one or start one");
  return *loaded_;
}

Run& Live::run() {
  if (!run_) {
    if (!loaded_) fail("there is no model yet: load one or start one");
    if (!settings_.is_toy()) fail("this model learned from a corpus, which the page does not have");
    run_ = Run::start(settings_, std::move(*loaded_));
    loaded_.reset();
  }
  return *run_;
}

// The old run ends first: its optimizer holds the weights.
void Live::restart() {
  if (run_) loaded_ = std::move(run_->translator);
  run_.reset();
  run();
}

std::string Live::start(const Request& request) {
  Settings settings;
  settings.pair = request.get<std::string>("pair", "en-fr");
  if (settings.pair != "en-fr" && settings.pair != "en-ko")
    fail("the pairs are en-fr and en-ko, not {}", settings.pair);
  settings.seed = std::uint64_t(request.count("seed", 1, 1'000'000));
  settings.steps = request.count("steps", 900, 100'000);
  settings.layers = request.count("layers", 1, 6);
  settings.heads = request.count("heads", 2, 32);
  settings.positions = request.get<std::string>("positions", "rope");
  settings.pairs = request.count("pairs", settings.pairs, 100'000);
  TransformerConfig config = settings.config();
  config.vocabulary = 1;
  config.check();
  run_ = Run::start(settings);
  settings_ = settings;
  loaded_.reset();
  off_.clear();
  return apply_switches(request);
}

std::string Live::load(const Request& request) {
  Checkpoint file(request.get<std::string>("path", ""));
  const Settings settings = with_stored({}, file.entry("settings"));
  Translator translator = Translator::load(std::move(file));
  loaded_ = std::move(translator);
  settings_ = settings;
  run_.reset();
  off_.clear();
  return about();
}

std::string Live::save(const Request& request) {
  Metadata metadata = translator().metadata();
  metadata["settings"] = run_settings_json(settings_);
  save_model(request.get<std::string>("path", ""), parameters_of(translator().model), metadata);
  return about();
}

// The weights stay as they are; only how they are used changes. A scheme of positions with weights of its own
// (learned, t5) begins with random ones, and the optimizer anew.
std::string Live::apply_switches(const Request& request) {
  Transformer& model = translator().model;
  TransformerConfig config = model.config;
  config.positions = positions_from_name(request.get<std::string>("positions", name_of(config.positions)));
  config.heads = request.get("heads", config.heads);
  config.scale_scores = request.get("scale", config.scale_scores);
  config.check();
  if (config.kv_heads || config.head_dim) fail("the heads of this model cannot be counted anew");
  const bool other_positions =
      config.positions != model.config.positions || config.heads != model.config.heads;
  const Index parameters = parameters_of(model).size();
  model.config = config;
  model.decoder.causal = request.get("causal", model.decoder.causal);
  Rng rng(settings_.seed);
  for (Stack* stack : {&model.encoder, &model.decoder}) {
    if (other_positions) stack->positions = PositionScheme(config, stack->kind == BlockKind::encoder, rng);
    for (Block& block : stack->blocks)
      for (MultiHeadAttention* layer : {&block.self, &block.cross}) {
        layer->heads = layer->kv_heads = config.heads;
        layer->scale = config.scale_scores ? 1 / std::sqrt(real(config.head_size())) : 1;
        layer->rotates = !layer->role.cross && config.positions == Positions::rope;
      }
  }
  settings_.positions = name_of(config.positions);
  settings_.heads = config.heads;
  if (run_ && parameters_of(model).size() != parameters) restart();
  if (request.json.has("off")) {
    off_.clear();
    for (const JsonValue& each : request.json["off"].elements()) {
      const std::vector<JsonValue> parts = each.elements();
      decltype(off_)::key_type head;
      auto& [name, layer, number] = head;
      if (parts.size() != 3 || !parts[0].to(name) || !parts[1].to(layer) || !parts[2].to(number))
        fail("off: {:.60} is no head", each.text());
      off_.insert(head);
    }
  }
  return about();
}

void Live::silence(AttentionSteps& steps) const {
  const Index H = steps.weights.size(1);
  const Tensor on = ones({1, H, 1, 1});
  for (Index h = 0; h < H; ++h)
    if (off_.count({steps.name, steps.layer, h})) on(0, h, 0, 0) = 0;
  steps.weights = steps.weights * on;
}

std::string Live::train(const Request& request) {
  if (request.get("restart", false)) {
    settings_.steps = request.count("of", 900, 100'000);
    restart();
    if (!request.json.has("steps")) return about();
  }
  const std::size_t before = run().history.steps.size();
  run().advance(request.count("steps", 1, 100'000), ablation());
  const std::vector<TrainPoint>& points = run().history.steps;
  const std::vector<TrainPoint> fresh(points.begin() + Index(before), points.end());
  return fmt::format(R"({{"step":{},"total":{},"losses":{},"rate":{}}})", run().steps_taken(),
                     run().total_steps(),
                     list(fresh, [](const TrainPoint& point) { return number(real(point.loss)); }),
                     fresh.empty() ? "null" : number(real(fresh.back().learning_rate)));
}

std::vector<std::vector<int>> Live::write(const std::vector<std::vector<int>>& sources) const {
  const Transformer& model = run_ ? run_->translator.model : loaded_->model;
  TransformerWriter writer(model, pad_batch(sources), {.cached = true, .context = {.probe = ablation()}});
  return greedy(writer,
                {.start = Vocabulary::bos, .end = Vocabulary::eos, .max_length = model.config.max_length});
}

std::string Live::score(const Request& request) {
  const Translator& translator = this->translator();
  const std::vector<Pair> pairs = held_out(request.count("count", 100, 1000));
  std::vector<std::vector<int>> sources;
  for (const Pair& pair : pairs) sources.push_back(translator.encode(pair.source));
  const std::vector<std::vector<int>> written = write(sources);
  Index right = 0;
  for (Index i = 0; i < std::ssize(pairs); ++i)
    right += translator.target->decode(written[i]) == pairs[i].target;
  return fmt::format(R"({{"right":{},"of":{}}})", right, pairs.size());
}

std::string Live::examples(const Request& request) {
  const std::vector<Pair> pairs =
      settings_.is_toy() ? held_out(request.count("count", 6, 1000)) : std::vector<Pair>();
  return fmt::format(R"({{"pairs":{}}})", list(pairs, [](const Pair& pair) {
                       return strings({pair.source, pair.target});
                     }));
}

// Each has a combination of words that no training sentence has.
std::vector<Pair> Live::held_out(Index count) const {
  if (!settings_.is_toy()) fail("this model learned from a corpus, which the page does not have");
  const Grammar& grammar = settings_.pair == "en-ko" ? english_korean() : english_french();
  return grammar.generate(count, settings_.seed + 7, Grammar::Part::held_out);
}

std::string Live::translate(const Request& request) {
  const Translator& translator = this->translator();
  const Transformer& model = translator.model;
  std::string text = normalize_spaces(request.get<std::string>("text", ""));
  if (settings_.is_toy()) text = tidy_sentence(text, *translator.source);
  const std::vector<int> source = read(translator, text);
  const Index beam = request.count("beam", 1, 16);
  const double temperature = request.get("temperature", 0.0);

  std::vector<int> written;
  std::string tree = "null";
  if (beam > 1) {
    TransformerWriter writer(model, pad_batch({source}), {.cached = true, .context = {.probe = ablation()}});
    const BeamResult result = beam_search(writer, {.start = Vocabulary::bos,
                                                   .end = Vocabulary::eos,
                                                   .max_length = model.config.max_length,
                                                   .width = beam,
                                                   .never = {Vocabulary::pad, Vocabulary::bos}});
    written = result.hypotheses.at(0).tokens;
    tree = beam_text(translator, result);
  } else if (temperature > 0) {
    TransformerWriter writer(model, pad_batch({source}), {.cached = true, .context = {.probe = ablation()}});
    Rng rng(request.get<std::uint64_t>("seed", 1));
    written = sample(
        writer, {{1, 1}, {Vocabulary::bos}},
        {.end = Vocabulary::eos, .max_length = model.config.max_length, .temperature = temperature}, rng)[0];
  } else {
    written = write({source})[0];
  }

  // Then all of it at once with teacher forcing, for what each layer computes and for the gradients. The loss
  // is that of the expected translation or, if none is given, of its own.
  const std::string expected = normalize_spaces(request.get<std::string>("expected", ""));
  std::vector<int> next = expected.empty() ? written : translator.target->encode(expected);
  constexpr Index most_shown = 24;  // a broken model may never stop
  if (expected.empty() && std::ssize(next) > most_shown)
    next.resize(most_shown);
  else
    next.push_back(Vocabulary::eos);
  std::vector<int> so_far{Vocabulary::bos};
  so_far.insert(so_far.end(), next.begin(), next.end() - 1);
  std::vector<AttentionSteps> layers;
  const AttentionProbe look = [&](AttentionSteps& steps) {
    if (!off_.empty()) silence(steps);
    steps.weights.retain_grad();
    layers.push_back(steps);
  };
  ResidualStream stream;
  const Memory memory = model.encode(pad_batch({source}), {.probe = &look});
  const Tensor logits =
      model.decode(pad_batch({so_far}), memory, {.probe = &look, .stream = &stream});  // (1, T, V)
  const Tensor loss = cross_entropy(logits, IntTensor({1, std::ssize(next)}, next));
  backward(loss);
  parameters_of(model).zero_grad();
  const NoGrad no_grad;
  const Index word = std::min<Index>(request.count("word", 1, 1000), std::ssize(next)) - 1;
  return fmt::format(
      R"({{"text":{},"translation":{},"read":{},"written":{},"loss":{},"words":{},"word":{},"way":{},"layers":{},"tree":{}}})",
      quote(text), quote(translator.target->decode(written)), strings(labels(*translator.source, source)),
      strings(labels(*translator.target, so_far)), number(loss.item()),
      list(guesses(translator, logits, next, real(temperature)), as_is), word,
      way_text(translator, stream, word, next, real(temperature)), layers_text(model, layers), tree);
}

std::string Live::weights() {
  std::uint64_t hash = fnv1a("");
  for (const Parameter& parameter : parameters_of(translator().model))
    hash = fnv1a({reinterpret_cast<const char*>(parameter.tensor.data()),
                  std::size_t(parameter.tensor.numel()) * sizeof(real)},
                 hash);
  return fmt::format(R"({{"weights":"{:016x}"}})", hash);
}

std::string Live::about() {
  const Transformer& model = translator().model;
  const TransformerConfig& config = model.config;
  return fmt::format(
      R"({{"name":{},"pair":{},"toy":{},"step":{},"total":{},"parameters":{},"layers":{},"heads":{},"channels":{},)"
      R"("positions":"{}","scale":{},"causal":{},"off":{},"words":{}}})",
      quote(settings_.name()), quote(settings_.pair), settings_.is_toy(), run_ ? run_->steps_taken() : 0,
      run_ ? run_->total_steps() : 0, parameters_of(model).count(), config.decoder_layers, config.heads,
      config.d_model, name_of(config.positions), config.scale_scores, model.decoder.causal,
      list(off_,
           [](const auto& head) {
             return fmt::format(R"(["{}",{},{}])", std::get<0>(head), std::get<1>(head), std::get<2>(head));
           }),
      translator().source->name() == "word" ? strings(known_words(translator())) : "[]");
}

}  // namespace attn
