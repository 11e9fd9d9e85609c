#include "lessons/15_gpt/published.hpp"

#include <fmt/core.h>  // print

#include <algorithm>  // min
#include <cmath>      // exp
#include <iterator>   // ssize
#include <optional>   // optional

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/text.hpp"  // character_at, read_file
#include "lessons/support/output.hpp"
#include "lessons/support/published.hpp"
#include "nn/decode.hpp"
#include "nn/quantise.hpp"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  Gpt model;
  std::unique_ptr<Tokenizer> tokenizer;
};

// A folder from Hugging Face's hub, or a file of llama2.c with its tokenizer.
Loaded load(const fs::path& weights, fs::path tokenizer) {
  if (fs::is_regular_file(weights)) {
    Gpt model = load_llama2c(weights);
    if (tokenizer.empty()) tokenizer = weights.parent_path() / "tokenizer.bin";
    if (!fs::exists(tokenizer))
      fail("{} is missing: a model of llama2.c needs its tokenizer; say where it is with --tokenizer FILE",
           tokenizer.string());
    std::unique_ptr<Tokenizer> pieces = load_llama2c_tokenizer(tokenizer, model.config.vocabulary);
    return {std::move(model), std::move(pieces)};
  }
  PublishedModel files(weights);
  Gpt model = files.gpt();
  say_unused(files);
  std::unique_ptr<Tokenizer> pieces = load_tokenizer(tokenizer.empty() ? weights : tokenizer);
  if (pieces->pieces().size() > model.config.vocabulary)
    fail("{}: the tokenizer has {} pieces, the model {}", weights.string(), pieces->pieces().size(),
         model.config.vocabulary);
  return {std::move(model), std::move(pieces)};
}

// Writes text as it comes, but no half of a character: its other bytes may be in the next token.
class Stream {
 public:
  void write(const std::string& text) {
    waiting_ += text;
    std::size_t done = 0;
    while (done < waiting_.size()) {
      const Character next = character_at(waiting_, done);
      if (!next.valid && waiting_.size() - done < 4) break;
      done += next.bytes.size();
    }
    write_out(waiting_.substr(0, done));
    waiting_.erase(0, done);
  }
  void end() { write_out(waiting_ + "\n"); }

 private:
  std::string waiting_;
};

// exp of the mean surprise at each next token: among how many equally likely ones it has to guess, so to say.
double perplexity(const Gpt& model, const std::vector<int>& ids) {
  const NoGrad no_grad;
  double surprise = 0;
  Index count = 0;
  const Index window = std::min<Index>(model.config.max_length, 256), last = std::ssize(ids) - 1;
  for (Index begin = 0; begin < last; begin += window) {
    const Index T = std::min(window, last - begin);
    const auto from = ids.begin() + begin;
    const IntTensor reads({1, T}, {from, from + T}), writes({1, T}, {from + 1, from + T + 1});
    surprise += double(T) * cross_entropy(model(reads), writes).item();
    count += T;
  }
  return std::exp(surprise / double(count));
}

// What rounding to int8 costs, on a text.
void compare_perplexities(Gpt& model, const Tokenizer& tokenizer, const fs::path& file) {
  const std::vector<int> ids = tokenizer.for_model(tokenizer.encode(read_file(file)));
  if (std::ssize(ids) < 2) fail("{}: it has {} tokens, and at least 2 are needed", file.string(), ids.size());
  const double exact = perplexity(model, ids);
  quantise(model);
  const double rounded = perplexity(model, ids);
  fmt::print("perplexity of {} tokens: {:.3f} with float weights, {:.3f} with int8 ({:+.2f}%)\n", ids.size(),
             exact, rounded, 100 * (rounded / exact - 1));
}

}  // namespace

int continue_text(int argc, char** argv) {
  return run_program("15_gpt", [&] {
    PublishedOptions standard;
    SampleOptions sampling{.end = -1, .max_length = 200, .temperature = 0.8, .top_p = 0.95};
    fs::path tokenizer_file, text_file;
    Options options("15_gpt --weights DIR [\"the beginning of a text\"] [options]",
                    "Goes on with a text, by a published GPT-2 or Llama, or a model of llama2.c.");
    options.add("--tokens", &sampling.max_length,
                {.value = "N", .help = "how many to write", .at_most = 100'000});
    options.add("--temperature", &sampling.temperature,
                {.value = "T", .help = "below 1 more likely words, 0 always the likeliest", .at_most = 100});
    options.add("--top-k", &sampling.top_k, {.value = "K", .help = "of the K likeliest only; 0: all"});
    options.add("--top-p", &sampling.top_p,
                {.value = "P", .help = "of the likeliest that together reach P", .at_most = 1});
    options.add("--tokenizer", &tokenizer_file, {.value = "FILE", .help = "if it is not beside the weights"});
    options.add("--perplexity", &text_file,
                {.value = "FILE",
                 .help = "only measure how well it predicts this text, with float and with int8 weights"});
    const std::string prompt = standard.parse(options, argc, argv);

    auto [model, tokenizer] = load(standard.weights, tokenizer_file);
    if (!text_file.empty()) {
      compare_perplexities(model, *tokenizer, text_file);
      return 0;
    }
    if (standard.int8) quantise(model);
    const Pieces& pieces = tokenizer->pieces();
    std::vector<int> ids = tokenizer->for_model(tokenizer->encode(prompt));
    if (ids.empty()) ids.push_back(std::max(pieces.find("<|endoftext|>"), 0));  // how GPT-2's texts begin
    const int end = std::max(pieces.find("<|endoftext|>"), pieces.find("</s>"));

    const NoGrad no_grad;
    Rng rng(standard.seed);
    GptWriter writer(model);
    Stream screen;
    screen.write(prompt);
    bool first = prompt.empty();
    Tensor logits = writer.next(IntTensor({1, std::ssize(ids)}, ids));
    for (Index i = 0; i < sampling.max_length; ++i) {
      const int next = draw(sampling_distribution(logits.data(), pieces.size(), sampling), rng);
      if (next == end) break;
      ids.push_back(next);
      screen.write(tokenizer->text_of(next, first));
      first = false;
      if (i + 1 < sampling.max_length) logits = writer.next(IntTensor({1, 1}, {next}));
    }
    screen.end();

    if (standard.layer > 0) {
      constexpr Index most = 64;  // labels that a picture can show
      ids.resize(std::min({std::ssize(ids), most, model.config.max_length}));
      AttentionMaps maps;
      model(IntTensor({1, std::ssize(ids)}, ids), {.maps = &maps});
      const std::vector<std::string> labels = labels_of(*tokenizer, ids);
      standard.draw(maps, "decoder", labels, labels, "15_gpt");
    }
    return 0;
  });
}

}  // namespace attn
