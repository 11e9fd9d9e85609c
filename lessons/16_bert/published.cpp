#include "lessons/16_bert/published.hpp"

#include <fmt/core.h>  // print

#include <iterator>  // ssize

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "lessons/support/published.hpp"
#include "nn/quantise.hpp"

namespace attn {

int fill_gaps(int argc, char** argv) {
  return run_program("16_bert", [&] {
    PublishedOptions standard;
    Index top = 5;
    Options options("16_bert --weights DIR \"Paris is the capital of [MASK].\" [options]",
                    "Fills the gaps of a text, by a published BERT.");
    options.add("--top", &top,
                {.value = "N", .help = "how many guesses per gap", .at_least = 1, .at_most = 100});
    const std::string text = standard.parse(options, argc, argv);
    if (text.empty()) throw UsageError("a text with [MASK] in it is missing");

    PublishedModel files(standard.weights);
    Bert model = files.bert();
    say_unused(files);
    if (standard.int8) quantise(model);
    const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(standard.weights);
    const std::vector<int> ids = tokenizer->for_model(tokenizer->encode(text));
    if (std::ssize(ids) > model.config.max_length)
      fail("the text has {} tokens, and the model reads at most {}", ids.size(), model.config.max_length);
    const int mask = tokenizer->pieces().at("[MASK]");

    const NoGrad no_grad;
    AttentionMaps maps;
    const IntTensor tokens({1, std::ssize(ids)}, ids),
        segments({1, std::ssize(ids)}, std::vector<int>(ids.size()));
    const Tensor states = model(tokens, segments, {.maps = standard.layer > 0 ? &maps : nullptr});
    const Tensor guesses = softmax(model.mlm_logits(states));  // (1, T, V)
    Index gaps = 0;
    for (Index t = 0; t < std::ssize(ids); ++t) {
      if (ids[t] != mask) continue;
      const TopK best = top_k(guesses[0][t], std::min<Index>(top, guesses.size(2)));
      fmt::print("gap {}:", ++gaps);
      for (Index i = 0; i < best.indices.numel(); ++i)
        fmt::print("  {} {:.1f}%", tokenizer->pieces().list.at(best.indices[i]), 100 * best.values.data()[i]);
      fmt::print("\n");
    }
    if (gaps == 0) fail("the text has no [MASK]: there is nothing to fill");
    if (standard.layer > 0) {
      const std::vector<std::string> labels = labels_of(*tokenizer, ids);
      standard.draw(maps, "encoder", labels, labels, "16_bert");
    }
    return 0;
  });
}

}  // namespace attn
