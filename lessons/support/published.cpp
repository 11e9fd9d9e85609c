#include "lessons/support/published.hpp"

#include <fmt/core.h>  // format, print

#include <algorithm>  // any_of
#include <iterator>   // ssize

#include "core/error.hpp"
#include "core/viz/viz.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of
#include "nn/text/characters.hpp"      // printable

namespace attn {

bool asks_for_weights(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](const std::string& argument) {
    return argument == "--weights" || argument.starts_with("--weights=");
  });
}

std::string PublishedOptions::parse(Options& options, int argc, char** argv) {
  options.add("--weights", &weights, {.value = "DIR", .help = "the folder of a published model"});
  options.add("--layer", &layer,
              {.value = "N", .help = "draw the attention of this layer, from 1", .at_most = 1000});
  options.add("--head", &head, {.value = "N", .help = "and of this head, from 1", .at_most = 1000});
  options.add("--int8", &int8, {.help = "round the weights to int8: a quarter of the memory, and quicker"});
  const std::vector<std::string> words = StandardOptions::parse(options, {argv + 1, argv + argc}, 1);
  if (weights.empty()) throw UsageError("--weights needs a folder");
  if ((layer > 0) != (head > 0)) throw UsageError("--layer and --head go together");
  return words.empty() ? "" : words[0];
}

void PublishedOptions::draw(const AttentionMaps& maps, const char* kind, const std::vector<std::string>& rows,
                            const std::vector<std::string>& columns, const std::string& lesson) const {
  Index layers = 0;
  for (const AttentionMap& map : maps) {
    if (map.name != kind) continue;
    layers = map.layer + 1;
    if (map.layer != layer - 1) continue;
    if (head > map.weights.size(1))
      throw UsageError(fmt::format("--head {}: there are {} heads", head, map.weights.size(1)));
    const std::filesystem::path file = out / lesson / fmt::format("attention-{}-{}.png", layer, head);
    viz::write_png(file, viz::heatmap(matrix_of(map.weights, {0, head - 1}),
                                      {.title = fmt::format("layer {}, head {}", layer, head),
                                       .row_labels = rows,
                                       .column_labels = columns,
                                       .low = 0,
                                       .high = 1}));
    fmt::print(stderr, "[picture] {}\n", file.string());
    return;
  }
  throw UsageError(fmt::format("--layer {}: there are {} layers", layer, layers));
}

void say_unused(const PublishedModel& files) {
  const std::vector<std::string> names = files.unused();
  if (names.empty()) return;
  fmt::print(stderr, "not needed: {} tensors of the file, {}{}\n", names.size(), names.front(),
             names.size() > 1 ? " and so on" : "");
}

std::vector<std::string> labels_of(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  std::vector<std::string> labels;
  for (const int id : ids) labels.push_back(viz::visible(tokenizer.pieces().list.at(id)));
  return labels;
}

}  // namespace attn
