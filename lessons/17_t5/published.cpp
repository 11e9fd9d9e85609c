#include "lessons/17_t5/published.hpp"

#include <fmt/core.h>  // print

#include <iterator>  // ssize

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "lessons/support/published.hpp"
#include "nn/decode.hpp"
#include "nn/quantise.hpp"

namespace attn {

int do_task(int argc, char** argv) {
  return run_program("17_t5", [&] {
    PublishedOptions standard;
    BeamOptions beam{.width = 4};
    Options options("17_t5 --weights DIR \"translate English to German: The house is wonderful.\" [options]",
                    "Does what the text asks for, by a published T5.");
    options.add("--beam", &beam.width,
                {.value = "N", .help = "width of the search", .at_least = 1, .at_most = 64});
    options.add("--tokens", &beam.max_length,
                {.value = "N", .help = "the most to write", .at_least = 1, .at_most = 10'000});
    const std::string text = standard.parse(options, argc, argv);
    if (text.empty()) throw UsageError("a text is missing, such as \"summarize: …\"");

    PublishedModel files(standard.weights);
    Transformer model = files.t5();
    say_unused(files);
    if (standard.int8) quantise(model);
    const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(standard.weights);
    beam.start = std::max(tokenizer->pieces().find("<pad>"), 0);  // T5 begins with it
    beam.end = tokenizer->pieces().at("</s>");
    const std::vector<int> ids = tokenizer->for_model(tokenizer->encode(text));
    const IntTensor source({1, std::ssize(ids)}, ids);

    const NoGrad no_grad;
    TransformerWriter writer(model, source);
    const std::vector<int> written = beam_search(writer, beam).hypotheses.at(0).tokens;
    fmt::print("{}\n", tokenizer->decode(written));
    if (standard.layer > 0) {
      std::vector<int> target{beam.start};
      target.insert(target.end(), written.begin(), written.end());
      AttentionMaps maps;
      model(source, IntTensor({1, std::ssize(target)}, target), {.maps = &maps});
      std::vector<std::string> rows = labels_of(*tokenizer, written);
      rows.push_back("</s>");
      standard.draw(maps, "cross", rows, labels_of(*tokenizer, ids), "17_t5");
    }
    return 0;
  });
}

}  // namespace attn
