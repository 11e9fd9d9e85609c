#include "lessons/13_translator/show.hpp"

#include <algorithm>  // find, max_element, stable_sort
#include <cmath>      // fabs

#include "core/autograd.hpp"

namespace attn {
namespace {

std::vector<std::string> labels(const Vocabulary& vocabulary, const std::vector<int>& ids) {
  std::vector<std::string> texts;
  for (const int id : ids) texts.push_back(vocabulary.label(id));
  return texts;
}

IntTensor one_row(const std::vector<int>& ids) { return {{1, static_cast<Index>(ids.size())}, ids}; }

std::string log_text(double log_probability) {
  return log_probability > -0.005 ? "0" : fmt::format("{:.2f}", log_probability);
}

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
  viz::Matrix mean(static_cast<Index>(written.size()), static_cast<Index>(read.size()));
  for (const AttentionMap& map : cross) {
    const Index H = map.weights.size(1);
    for (Index head = 0; head < H; ++head)
      for (Index t = 0; t < mean.rows; ++t)
        for (Index s = 0; s < mean.cols; ++s)
          mean(t, s) +=
              static_cast<float>(map.weights(0, head, t, s) / static_cast<real>(H * Index(cross.size())));
  }
  return mean;
}

bool Look::finds(const std::vector<Pair>& dictionary) const {
  const viz::Matrix weights = mean_weights();
  for (const Pair& words : dictionary) {
    const auto row = std::find(written.begin(), written.end(), words.target) - written.begin();
    if (row == weights.rows) return false;
    const float* first = &weights.values[static_cast<std::size_t>(row * weights.cols)];
    const auto brightest = std::max_element(first, first + weights.cols) - first;
    if (read[static_cast<std::size_t>(brightest)] != words.source) return false;
  }
  return true;
}

// One pass, in which the right words are dictated, has the attention of every step; one pass back has the
// gradient of the loss on each weight.
Look look_at(const Translator& translator, const Pair& pair) {
  const EncodedPair ids = encode_pairs({pair}, *translator.source, *translator.target)[0];
  const std::vector<int> reads(ids.target.begin(), ids.target.end() - 1),
      writes(ids.target.begin() + 1, ids.target.end());
  AttentionMaps maps;
  Context context{.maps = &maps};
  const TranslationBatch batch{one_row(ids.source), {}, one_row(reads), {}, one_row(writes)};
  const Tensor loss = translator.loss(batch, context);
  backward(loss);
  parameters_of(translator.model).zero_grad();
  Look look{labels(*translator.source, ids.source), labels(*translator.target, writes), {}, loss.item()};
  for (const AttentionMap& map : maps)
    if (map.name == "cross") look.cross.push_back(map);
  return look;
}

void show_curve(Lesson& lesson, const std::string& name, const History& history) {
  viz::Series training{.name = "training", .smooth = 0.9}, validation{.name = "validation", .points = true};
  for (const TrainPoint& point : history.steps) {
    training.x.push_back(static_cast<double>(point.step));
    training.y.push_back(point.loss);
  }
  for (const ValidationPoint& point : history.validations) {
    validation.x.push_back(static_cast<double>(point.step));
    validation.y.push_back(point.loss);
  }
  lesson.picture(name + "-loss.png",
                 viz::line_chart({training, validation}, {.title = "Learning to translate, " + name,
                                                          .x_title = "step",
                                                          .y_title = "cross-entropy a token (nats)",
                                                          .y_scale = viz::Scale::Log10}),
                 "The losses while it learned, " + name,
                 "The training loss is taken with dropout (and label smoothing, if any), the validation loss "
                 "without, on sentences that were kept from training.");
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
  const viz::HeatmapOptions mean = map_options(look, "Where it looks, all heads together");
  lesson.heatmap(look.mean_weights(), mean);
  lesson.picture(
      name + "-attention.png",
      viz::column(rows,
                  {.title = "Cross-attention, head by head: where each word looks while it is written"}),
      "Cross-attention by head, " + name,
      "Each row is a word being written and sums to 1. Follow the bright cells from top to bottom: where the "
      "languages order their words alike they run down the diagonal, and where they do not, they turn back. "
      "Heads share the work.");
}

void show_gradient(Lesson& lesson, const std::string& name, const Look& early, const Look& now) {
  const Tensor weights = early.cross.back().weights, gradient = weights.grad();  // (1, H, T, S)
  Index best = 0;  // the head of the last layer on whose weights the loss hung most
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
  pull.colors = viz::Colors::Diverging;
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
  const BeamResult result = translator.beam(sentence, search);
  std::vector<bool> chosen(result.tree.size(), false), shown(result.tree.size(), false);
  for (int node = result.hypotheses[0].node; node >= 0;
       node = result.tree[static_cast<std::size_t>(node)].parent)
    chosen[static_cast<std::size_t>(node)] = true;
  // Of what was dropped, the two best of each step are enough to see.
  std::vector<std::size_t> dropped;
  for (std::size_t i = 0; i < result.tree.size(); ++i) {
    shown[i] = result.tree[i].kept;
    if (!shown[i]) dropped.push_back(i);
  }
  std::stable_sort(dropped.begin(), dropped.end(), [&](std::size_t a, std::size_t b) {
    return result.tree[a].log_probability > result.tree[b].log_probability;
  });
  std::vector<int> taken(static_cast<std::size_t>(translator.model.config.max_length) + 2, 0);
  for (const std::size_t i : dropped) shown[i] = taken[static_cast<std::size_t>(result.tree[i].depth)]++ < 2;

  std::vector<viz::TreeNode> nodes;
  std::vector<int> place(result.tree.size(), -1);
  for (std::size_t i = 0; i < result.tree.size(); ++i) {
    if (!shown[i]) continue;
    const BeamNode& node = result.tree[i];
    place[i] = static_cast<int>(nodes.size());
    nodes.push_back({.label = translator.target->label(node.token),
                     .detail = i == 0 ? "" : log_text(node.log_probability),
                     .parent = node.parent < 0 ? -1 : place[static_cast<std::size_t>(node.parent)],
                     .branch = chosen[i]   ? viz::Branch::Best
                               : node.kept ? viz::Branch::Kept
                                           : viz::Branch::Pruned});
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
      "The number behind a word is the log-probability of everything up to it. Grey branches were considered "
      "and dropped; the chosen one ends with the best score.");
}

}  // namespace attn
