#include "lessons/13_translator/show.hpp"

#include <algorithm>  // find, stable_sort
#include <cmath>      // fabs
#include <iterator>   // ssize

#include "core/autograd.hpp"
#include "core/viz/terminal.hpp"
#include "core/viz/tree.hpp"
#include "lessons/support/figures.hpp"

namespace attn {
namespace {

std::vector<std::string> labels(const Vocabulary& vocabulary, const IntTensor& ids) {
  std::vector<std::string> texts;
  for (const int id : ids.values()) texts.push_back(vocabulary.label(id));
  return texts;
}

std::string log_text(double log_probability) {
  return log_probability > -0.005 ? "0" : fmt::format("{:.2f}", log_probability);
}

const std::string all_heads = "Where it looks, all heads together";

viz::HeatmapOptions map_options(const Look& look, const std::string& title) {
  return {.title = title,
          .x_title = "keys: the word that is read",
          .y_title = "queries: the word being written",
          .row_labels = look.written,
          .column_labels = look.read,
          .low = 0,
          .value_title = "weight"};
}

}  // namespace

viz::Matrix Look::mean_weights() const {
  viz::Matrix mean(std::ssize(written), std::ssize(read));
  for (const AttentionMap& map : cross) {
    const Index H = map.weights.size(1);
    for (Index head = 0; head < H; ++head)
      for (Index t = 0; t < mean.rows; ++t)
        for (Index s = 0; s < mean.cols; ++s)
          mean(t, s) += float(map.weights(0, head, t, s) / real(H * std::ssize(cross)));
  }
  return mean;
}

bool Look::finds(const std::vector<Pair>& dictionary) const {
  for (const Pair& words : dictionary) {
    const Index row = std::find(written.begin(), written.end(), words.target) - written.begin();
    if (row == std::ssize(written)) return false;
    bool found = false;
    for (const AttentionMap& map : cross)
      for (Index head = 0; head < map.weights.size(1); ++head)
        found |= read[argmax(map.weights[0][head][row])[0]] == words.source;
    if (!found) return false;
  }
  return true;
}

// One forward pass with teacher forcing gives the attention of every step; one backward pass gives the
// gradient of the loss with respect to each weight.
Look look_at(const Translator& translator, const Pair& pair) {
  const Batch batch = make_batch(encode_pairs({pair}, *translator.source, *translator.target), {0});
  AttentionMaps maps;
  const Tensor loss = translator.loss(batch, {.maps = &maps});
  backward(loss);
  parameters_of(translator.model).zero_grad();
  Look look{labels(*translator.source, batch.source.ids),
            labels(*translator.target, batch.targets),
            {},
            loss.item()};
  for (const AttentionMap& map : maps)
    if (map.name == "cross") look.cross.push_back(map);
  return look;
}

std::vector<WrittenWord> written_words(const Translator& translator, const std::string& sentence) {
  TransformerWriter writer(translator.model, translator.encode(sentence));
  std::vector<WrittenWord> written;
  int newest = Vocabulary::bos;
  do {
    const TopK top = top_k(softmax(writer.next({{1, 1}, {newest}})), 2);  // (1, 2)
    newest = top.indices(0, 0);
    written.push_back({newest, translator.target->label(newest), translator.target->label(top.indices(0, 1)),
                       top.values(0, 0), top.values(0, 1)});
  } while (newest != Vocabulary::eos && std::ssize(written) < translator.model.config.max_length);
  return written;
}

std::string most_puzzling(const Translator& translator, const std::vector<std::string>& sentences) {
  std::string puzzle;
  double least = 2;
  for (const std::string& sentence : sentences)
    for (const WrittenWord& word : written_words(translator, sentence))
      if (word.probability < least) least = word.probability, puzzle = sentence;
  return puzzle;
}

std::string terminal_look(const Look& look, Index columns) {
  return viz::terminal_heatmap(look.mean_weights(), map_options(look, all_heads), viz::Terminal::detect,
                               columns);
}

void show_curve(Lesson& lesson, const std::string& name, const History& history) {
  viz::Series training{.name = "training", .smooth = 0.9}, validation{.name = "validation", .points = true};
  for (const TrainPoint& point : history.steps) {
    training.x.push_back(double(point.step));
    training.y.push_back(point.loss);
  }
  for (const ValidationPoint& point : history.validations) {
    validation.x.push_back(double(point.step));
    validation.y.push_back(point.loss);
  }
  lesson.picture(
      name + "-loss.png",
      viz::line_chart({training, validation}, {.title = "Learning to translate, " + name,
                                               .x_title = "step",
                                               .y_title = "cross-entropy per token (nats)",
                                               .y_scale = viz::Scale::log10}),
      "The losses while it learned, " + name,
      "The training loss is that of the batch just learned from (with dropout and label smoothing, "
      "if any), the validation loss that of sentences that were held out.");
}

void show_attention(Lesson& lesson, const std::string& name, const Look& look) {
  std::vector<viz::Image> rows;
  for (const AttentionMap& map : look.cross) {
    std::vector<viz::Image> heads;
    for (Index head = 0; head < map.weights.size(1); ++head) {
      viz::HeatmapOptions options =
          map_options(look, fmt::format("layer {}, head {}", map.layer + 1, head + 1));
      options.high = 1;
      options.color_bar = head + 1 == map.weights.size(1);
      options.cell = 22;
      heads.push_back(viz::heatmap(matrix_of(map.weights, {0, head}), options));
    }
    rows.push_back(viz::row(heads));
  }
  lesson.heatmap(look.mean_weights(), map_options(look, all_heads));
  lesson.picture(
      name + "-attention.png",
      viz::column(rows,
                  {.title = "Cross-attention, head by head: where each word looks while it is written"}),
      "Cross-attention by head, " + name,
      "Each row is a word being written and sums to 1. Follow the bright cells from top to bottom: where the "
      "languages have the same word order they run down the diagonal, elsewhere they turn back. Heads share "
      "the work.");
  lesson.data("maps", heads_figure(look.written, look.read, look.cross));
}

void show_gradient(Lesson& lesson, const std::string& name, const Look& early, const Look& now) {
  const Tensor weights = early.cross.back().weights, gradient = weights.grad();  // (1, H, T, S)
  Index best = 0;  // the head of the last layer with the largest gradient
  double most = -1;
  for (Index head = 0; head < weights.size(1); ++head) {
    double size = 0;
    for (const float value : matrix_of(gradient, {0, head}).values) size += std::fabs(value);
    if (size > most) most = size, best = head;
  }
  viz::HeatmapOptions attention = map_options(early, "early: it looked"), pull = attention;
  attention.high = 1;
  attention.cell = pull.cell = 30;
  pull.title = "gradient of the loss on it";
  pull.colors = viz::Colors::diverging;
  pull.value_title = "∂ loss / ∂ weight";
  pull.low.reset();
  viz::HeatmapOptions in_the_end = attention;
  in_the_end.title = "now: it looks";
  lesson.picture(
      name + "-gradient.png",
      viz::row({viz::heatmap(matrix_of(weights, {0, best}), attention),
                viz::heatmap(matrix_of(gradient, {0, best}), pull),
                viz::heatmap(matrix_of(now.cross.back().weights, {0, best}), in_the_end)},
               {.title = fmt::format("How head {} of the last layer learned where to look", best + 1)}),
      "Attention and its gradient, " + name,
      "Blue in the middle: more weight there would have lowered the loss; red: it would have raised it. This "
      "pull, through the softmax, is all that ever taught the head where to look.");
}

void show_beam(Lesson& lesson, const std::string& name, const Translator& translator,
               const std::string& sentence, const Search& search) {
  const BeamResult result = translator.beam(translator.encode(sentence), search);
  const std::vector<BeamNode>& tree = result.tree;
  std::vector<bool> chosen(tree.size(), false), shown(tree.size(), false);
  for (Index node = result.hypotheses[0].node; node >= 0; node = tree[node].parent) chosen[node] = true;
  // Of what was dropped, the two best of each step are enough to see.
  std::vector<Index> dropped;
  for (Index i = 0; i < std::ssize(tree); ++i) {
    shown[i] = tree[i].kept;
    if (!shown[i]) dropped.push_back(i);
  }
  std::stable_sort(dropped.begin(), dropped.end(),
                   [&](Index a, Index b) { return tree[a].log_probability > tree[b].log_probability; });
  std::vector<int> taken(translator.model.config.max_length + 2, 0);
  for (const Index i : dropped) shown[i] = taken[tree[i].depth]++ < 2;

  std::vector<viz::TreeNode> nodes;
  std::vector<int> position(tree.size(), -1);  // of a node of the tree, in the picture
  // A model that is at a loss may go on and on, and never say <eos>.
  const Index last_step = std::min<Index>(30, tree[result.hypotheses[0].node].depth + 2);
  bool cut = false;
  for (Index i = 0; i < std::ssize(tree); ++i) {
    cut = cut || (shown[i] && tree[i].depth > last_step);
    shown[i] = shown[i] && tree[i].depth <= last_step;
    if (!shown[i]) continue;
    const BeamNode& node = tree[i];
    position[i] = int(nodes.size());
    nodes.push_back({.label = translator.target->label(node.token),
                     .detail = i == 0 ? "" : log_text(node.log_probability),
                     .parent = node.parent < 0 ? -1 : position[node.parent],
                     .branch = chosen[i]   ? viz::Branch::best
                               : node.kept ? viz::Branch::kept
                                           : viz::Branch::pruned});
  }
  std::vector<std::vector<std::string>> rows;
  for (const Hypothesis& hypothesis : result.hypotheses)
    rows.push_back({translator.target->decode(hypothesis.tokens),
                    fmt::format("{:.3f}", hypothesis.log_probability),
                    fmt::format("{:.3f}", hypothesis.score)});
  lesson.table({"hypothesis", "log P", "÷ length penalty"}, rows);
  lesson.picture(
      name + "-beam.png",
      viz::tree(nodes, {.title = fmt::format("Beam search, {} hypotheses: {}", search.beam, sentence)}),
      "The beam, " + name,
      std::string("The number after a word is the log-probability of everything up to it. Grey branches were "
                  "considered and dropped; the chosen one ends with the best score.") +
          (cut ? " What is much longer than that one is cut off." : ""));
}

}  // namespace attn
