#include "lessons/05_tokens/texts.hpp"

#include <cmath>     // fabs, pow
#include <iterator>  // ssize

#include "core/autograd.hpp"  // NoGrad
#include "core/ops.hpp"
#include "core/viz/chart.hpp"

namespace attn {
namespace {

const std::vector<std::string> stems = {
    "walk",  "talk",  "play",  "paint", "open",  "help",   "work",    "clean",  "lock",   "print",
    "fold",  "pack",  "lift",  "check", "count", "plant",  "cover",   "order",  "answer", "start",
    "turn",  "climb", "cook",  "jump",  "learn", "listen", "follow",  "visit",  "hunt",   "sort",
    "spell", "test",  "train", "wait",  "mark",  "load",   "melt",    "record", "return", "roll",
    "rest",  "point", "pull",  "hook",  "laugh", "shout",  "whisper", "wander"};
constexpr Index forms = 12;

std::string form_of(const std::string& stem, Index form) {
  switch (form) {
    case 0:
      return stem;
    case 1:
      return stem + "s";
    case 2:
      return stem + "ed";
    case 3:
      return stem + "ing";
    case 4:
      return stem + "er";
    case 5:
      return stem + "ers";
    case 6:
      return stem + "able";
    case 7:
      return "un" + stem + "able";
    case 8:
      return "un" + stem + "ed";
    case 9:
      return "re" + stem;
    case 10:
      return "re" + stem + "ed";
    default:
      return "re" + stem + "ing";
  }
}

bool held_out(Index stem, Index form) { return (3 * stem + form) % 8 == 0; }

}  // namespace

std::vector<std::string> inflected_text(Index lines, Rng& rng) {
  // Words as they are, numbers for a form of some stem.
  static const std::vector<std::vector<std::string>> frames = {{"the", "4", "2", "the", "6", "5"},
                                                               {"5", "9", "what", "the", "4", "2"},
                                                               {"we", "0", "the", "8", "5"},
                                                               {"the", "7", "4", "is", "3"},
                                                               {"the", "5", "10", "it"},
                                                               {"they", "are", "11", "the", "6", "4"},
                                                               {"the", "4", "1", "and", "we", "0"},
                                                               {"the", "8", "4", "1"}};
  std::vector<std::string> text;
  for (Index i = 0; i < lines; ++i) {
    std::string line;
    for (std::string word : frames[rng.below(std::ssize(frames))]) {
      if (word[0] <= '9') {
        const Index form = std::stoi(word);
        Index stem;
        do stem = Index(double(std::ssize(stems)) * std::pow(rng.uniform(), 2.0));  // the first most often
        while (held_out(stem, form));
        word = form_of(stems[stem], form);
      }
      line += (line.empty() ? "" : " ") + word;
    }
    text.push_back(line);
  }
  return text;
}

std::vector<std::string> inflected_words(bool unseen) {
  std::vector<std::string> words;
  for (Index stem = 0; stem < std::ssize(stems); ++stem)
    for (Index form = 0; form < forms; ++form)
      if (held_out(stem, form) == unseen) words.push_back(form_of(stems[stem], form));
  return words;
}

std::vector<std::string> text_with_years(Index lines, Rng& rng) {
  std::vector<std::string> text;
  for (Index i = 0; i < lines; ++i)
    text.push_back("in " + std::to_string(2025 - Index(125 * std::pow(rng.uniform(), 3.0))));
  return text;
}

std::vector<WordClass> parts_of_speech() {
  return {
      {"nouns", {"boy",    "girl",  "king", "queen", "doctor", "cat",    "dog",    "horse",
                 "cow",    "bird",  "cats", "dogs",  "girls",  "kings",  "apple",  "cake",
                 "apples", "cakes", "book", "car",   "books",  "garden", "forest", "kitchen"}},
      {"verbs",
       {"see", "sees", "find", "finds", "hear", "want", "wants", "buy", "sleep", "sleeps", "dance", "swim",
        "sing"}},
      {"adjectives",
       {"big", "small", "old", "young", "red", "blue", "green", "black", "happy", "sad", "tired", "clever"}},
      {"determiners", {"the", "this", "these", "my", "your", "his", "her", "a", "some"}},
      {"adverbs", {"always", "often", "never", "sometimes"}}};
}

// Two rounds of power iteration on the covariance of the columns: multiply a direction by it again and again,
// and the direction of the largest spread remains. The second is kept at a right angle to the first.
Tensor flattened(const Tensor& x) {
  const NoGrad no_grad;
  const Tensor centred = x - mean(x, 0, true);                    // (N, C)
  const Tensor covariance = matmul(transpose(centred), centred);  // (C, C)
  std::vector<Tensor> directions;
  for (int axis = 0; axis < 2; ++axis) {
    Rng rng(7);
    Tensor direction = normal({x.size(1), 1}, rng);
    for (int round = 0; round < 200; ++round) {
      direction = matmul(covariance, direction);
      for (const Tensor& before : directions) direction = direction - before * sum(before * direction);
      direction = direction / sqrt(sum(direction * direction));
    }
    directions.push_back(direction);
  }
  return matmul(centred, concat(directions, 1));  // (N, 2)
}

viz::Image word_map(const Tensor& places, const std::vector<WordClass>& classes, const std::string& title) {
  const NoGrad no_grad;
  const Tensor high = max(places, 0), low = -max(-places, 0), extent = high - low;  // (2)
  // A name takes room: it is left out if a word that has its name lies too near.
  std::vector<Index> named;
  const auto has_room = [&](Index row) {
    for (const Index other : named)
      if (std::fabs(places(row, 0) - places(other, 0)) < extent(0) * 0.12 &&
          std::fabs(places(row, 1) - places(other, 1)) < extent(1) * 0.035)
        return false;
    return true;
  };
  std::vector<viz::Series> series;
  Index row = 0;
  for (const WordClass& word_class : classes) {
    viz::Series points{.name = word_class.name, .line = false, .points = true};
    for (const std::string& word : word_class.words) {
      points.x.push_back(places(row, 0));
      points.y.push_back(places(row, 1));
      const bool room = has_room(row);
      points.labels.push_back(room ? word : "");
      if (room) named.push_back(row);
      ++row;
    }
    series.push_back(points);
  }
  return viz::line_chart(series, {.title = title,
                                  .x_title = "first principal component",
                                  .y_title = "second",
                                  .x_low = low(0) - 0.05 * extent(0),
                                  .x_high = high(0) + 0.05 * extent(0),
                                  .y_low = low(1) - 0.05 * extent(1),
                                  .y_high = high(1) + 0.05 * extent(1),
                                  .width = 640,
                                  .height = 620});
}

}  // namespace attn
