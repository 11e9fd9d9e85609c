// Writes small models in the published layout, each trained until it knows a few sentences by heart: what the
// programs of lessons 15, 16 and 17 must say with them is known. For tests/weights/run.
//
//   make_weights DIR        DIR/gpt2, DIR/llama, DIR/bert, DIR/t5
#include <fmt/core.h>  // format, print

#include <filesystem>  // create_directories
#include <map>         // map

#include "core/atomic_file.hpp"
#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "nn/t5.hpp"
#include "nn/text/tokenizer.hpp"
#include "optim/optimizer.hpp"
#include "optim/published.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

using Ids = std::vector<int>;
IntTensor row(const Ids& ids) { return {{1, Index(ids.size())}, ids}; }
IntTensor reads(const Ids& ids) { return row({ids.begin(), ids.end() - 1}); }
IntTensor writes(const Ids& ids) { return row({ids.begin() + 1, ids.end()}); }

void write(const fs::path& file, const std::string& text) { write_file_atomically(file.string(), {text}); }

template <class Model, class Loss>
void learn(const fs::path& folder, const Model& model, const Loss& loss) {
  Adam adam(parameters_of(model));
  double now = 1;
  for (Index step = 0; now > 0.02; ++step) {
    if (step == 1000) fail("{}: the loss is still {} after {} steps", folder.string(), now, step);
    const Tensor mean = loss();
    backward(mean);
    adam.step(5e-3);
    now = mean.item();
  }
  const std::string type = folder.filename().string();
  save_published(folder, type, model.config, parameters_of(model));
  fmt::print("{}: loss {:.4f} after {} steps\n", type, now, adam.steps);
}

const std::string story = "Once upon a time a small model learned one sentence by heart.";

void make_gpt2(const fs::path& folder) {
  std::map<std::string, int> pieces;  // all bytes, and what three merges make of them
  for (int byte = 0; byte < 256; ++byte) pieces[visible_bytes(std::string(1, char(byte)))] = byte;
  pieces["Ġt"] = 256, pieces["en"] = 257, pieces["Ġten"] = 258, pieces["<|endoftext|>"] = 259;
  write(folder / "vocab.json", Json(pieces).text);
  write(folder / "merges.txt", "#version: 0.2\nĠ t\ne n\nĠt en\n");
  Ids ids = load_tokenizer(folder)->encode(story);
  ids.push_back(259);
  TransformerConfig config =
      gpt_config({.vocabulary = 260, .d_model = 32, .heads = 2, .layers = 2, .max_length = 80});
  config.feed_forward.activation = Activation::gelu_tanh;
  Rng rng(1);
  const Gpt model(config, rng);
  learn(folder, model, [&] { return cross_entropy(model(reads(ids)), writes(ids)); });
}

void make_llama(const fs::path& folder) {
  std::map<std::string, int> pieces = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) pieces[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  int next = 259;
  for (const char* piece : {"▁", "O", "n", "c", "e", "▁O", "nc", "▁Onc", "▁Once"}) pieces[piece] = next++;
  const Json specials = Json::written(R"([{"id":1,"content":"<s>"},{"id":2,"content":"</s>"}])");
  const Json merges = std::vector{"▁ O", "n c", "▁O nc", "▁Onc e"};
  const Json bpe =
      json_object({{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", pieces}, {"merges", merges}});
  write(folder / "tokenizer.json", json_object({{"model", bpe}, {"added_tokens", specials}}).text);
  const auto tokenizer = load_tokenizer(folder);
  Ids ids = tokenizer->for_model(tokenizer->encode(story));
  ids.push_back(2);
  Rng rng(1);
  const Gpt model({.vocabulary = next,
                   .d_model = 32,
                   .heads = 4,
                   .kv_heads = 2,
                   .encoder_layers = 0,
                   .decoder_layers = 2,
                   .d_ff = 64,
                   .dropout = 0,
                   .positions = Positions::rope,
                   .max_length = 128,
                   .rope = {.halves = true},
                   .pre_norm = true,
                   .norm = NormKind::rms,
                   .feed_forward = {.activation = Activation::silu, .gated = true},
                   .bias = false,
                   .scale_embeddings = false},
                  rng);
  learn(folder, model, [&] { return cross_entropy(model(reads(ids)), writes(ids)); });
}

void make_bert(const fs::path& folder) {
  write(folder / "vocab.txt",
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nis\nthe\ncapital\nof\nparis\nfrance\nrome\nita\n"
        "##ly\ntokyo\njapan\nbogota\ncolombia\n.\nitaly\n");
  const auto tokenizer = load_tokenizer(folder);
  const int mask = tokenizer->pieces().at("[MASK]");
  TransformerConfig config = bert_config(
      {.vocabulary = tokenizer->pieces().size(), .d_model = 32, .heads = 2, .layers = 2, .max_length = 16});
  config.scale_embeddings = false;
  Rng rng(1);
  const Bert model(config, rng);
  struct Question {
    IntTensor gap, answer;
  };
  std::vector<Question> questions;  // each city and each country, hidden in turn
  for (const char* text : {"Paris is the capital of France.", "Rome is the capital of Italy.",
                           "Tokyo is the capital of Japan.", "Bogotá is the capital of Colombia."})
    for (const Index hidden : {1, 6}) {
      Ids ids = tokenizer->for_model(tokenizer->encode(text)),
          answer(ids.size(), -100);  // those do not count
      std::swap(ids.at(hidden), answer[hidden]);
      ids[hidden] = mask;
      questions.push_back({row(ids), row(answer)});
    }
  const IntTensor first = row(Ids(9));  // segment 0
  learn(folder, model, [&] {
    Tensor sum = scalar(0);
    for (const Question& question : questions)
      sum = sum + cross_entropy(model.mlm_logits(model(question.gap, first)), question.answer);
    return sum / real(questions.size());
  });
}

void make_t5(const fs::path& folder) {
  std::vector<std::vector<Json>> pieces = {{"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}};
  for (const char* piece :
       {"▁translate", "▁English", "▁to",         "▁German", "▁French",  ":",      "▁The",    "▁house", "▁is",
        "▁wonder",    "ful",      ".",           "▁Das",    "▁Haus",    "▁ist",   "▁wunder", "bar",    "▁La",
        "▁maison",    "▁est",     "▁magnifique", "▁s",      "ummarize", "▁small", "▁and"})
    pieces.push_back({piece, -3});
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.push_back({std::string(1, letter), -10});
  pieces.push_back({"▁", -10});
  const Json specials = Json::written(R"([{"id":0,"content":"<pad>"},{"id":1,"content":"</s>"}])");
  const Json model_of_pieces = json_object({{"type", "Unigram"}, {"unk_id", 2}, {"vocab", pieces}});
  write(folder / "tokenizer.json",
        json_object({{"model", model_of_pieces}, {"added_tokens", specials}}).text);
  const auto tokenizer = load_tokenizer(folder);
  TransformerConfig config =
      t5_config({.vocabulary = tokenizer->pieces().size(), .d_model = 32, .heads = 2, .layers = 2});
  config.dropout = 0, config.scale_embeddings = false, config.scale_logits = true;
  Rng rng(1);
  const Transformer model(config, rng);
  const std::vector<std::pair<std::string, std::string>> tasks = {
      {"translate English to German: The house is wonderful.", "Das Haus ist wunderbar."},
      {"translate English to French: The house is wonderful.", "La maison est magnifique."},
      {"summarize: The house is small and the house is wonderful.", "The house is wonderful."}};
  learn(folder, model, [&] {
    Tensor sum = scalar(0);
    for (const auto& [text, answer] : tasks) {
      Ids target = tokenizer->for_model(tokenizer->encode(answer));  // ends with </s>
      target.insert(target.begin(), 0);                              // and begins with <pad>
      const IntTensor source = row(tokenizer->for_model(tokenizer->encode(text)));
      sum = sum + cross_entropy(model(source, reads(target)), writes(target));
    }
    return sum / real(tasks.size());
  });
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) fail("make_weights DIR");
  const fs::path folder = argv[1];
  const auto in = [&](const char* family) {
    fs::create_directories(folder / family);
    return folder / family;
  };
  make_gpt2(in("gpt2"));
  make_llama(in("llama"));
  make_bert(in("bert"));
  make_t5(in("t5"));
} catch (const std::exception& problem) {
  fmt::print(stderr, "make_weights: {}\n", problem.what());
  return 1;
}
