#include "nn/text/corpus.hpp"

#include <cstring>        // strerror
#include <filesystem>     // is_directory
#include <fstream>        // ifstream
#include <string_view>    // string_view
#include <unordered_map>  // unordered_map
#include <utility>        // move

#include "core/error.hpp"
#include "core/rng.hpp"  // shuffle
#include "nn/text/utf8.hpp"

namespace attn {
namespace {

class LineReader {
 public:
  explicit LineReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (std::filesystem::is_directory(path)) fail("{}: is a folder, not a file of sentences", path);
    if (!file_) fail("{}: cannot be read: {}", path, std::strerror(errno));
  }

  bool next(std::string& line) {
    if (!std::getline(file_, line)) {
      if (file_.bad()) fail("{}:{}: reading failed", path_, number_ + 1);
      return false;
    }
    ++number_;
    if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // byte order mark
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  std::string place() const { return fmt::format("{}:{}", path_, number_); }

 private:
  std::string path_;
  std::ifstream file_;
  Index number_ = 0;
};

bool is_blank(std::string_view text) {
  for (const Character& c : characters(text))
    if (kind(c.code) != Kind::space) return false;
  return true;
}

// What is wrong with a line, or "".
std::string trouble(std::string_view line, const ReadOptions& options) {
  const std::size_t invalid = first_invalid_byte(line);
  if (invalid != std::string_view::npos)
    return fmt::format("byte {} of the line is not UTF-8 (save the file as UTF-8)", invalid + 1);
  if (options.max_characters == 0 || static_cast<Index>(line.size()) <= options.max_characters) return "";
  Index length = 0;
  for ([[maybe_unused]] const Character& c : characters(line)) ++length;
  if (length <= options.max_characters) return "";
  return fmt::format("{} characters, more than the {} allowed", length, options.max_characters);
}

// Keeps the pair unless something is wrong with it; then it is reported, or thrown.
void keep(std::vector<Pair>& pairs, std::string_view source, std::string_view target,
          const std::string& wrong, const std::string& place, const ReadOptions& options) {
  if (wrong.empty()) {
    if (options.plain_spaces)
      pairs.push_back({normalize_spaces(source), normalize_spaces(target)});
    else
      pairs.push_back({std::string(source), std::string(target)});
    return;
  }
  if (!options.bad_lines) fail("{}: {}", place, wrong);
  options.bad_lines->push_back(fmt::format("{}: {}", place, wrong));
}

}  // namespace

std::vector<Pair> read_pairs(const std::string& path, const ReadOptions& options) {
  LineReader reader(path);
  std::vector<Pair> pairs;
  std::string line;
  while (reader.next(line)) {
    if (is_blank(line)) continue;
    const std::string_view all = line;
    const std::size_t tab = all.find('\t');
    const std::string_view source = all.substr(0, tab);
    std::string_view target = tab == std::string_view::npos ? "" : all.substr(tab + 1);
    target = target.substr(0, target.find('\t'));

    std::string wrong = trouble(line, options);
    if (wrong.empty() && tab == std::string_view::npos) wrong = "no tab between the two sentences";
    if (wrong.empty() && is_blank(source)) wrong = "nothing before the tab";
    if (wrong.empty() && is_blank(target)) wrong = "nothing after the tab";
    keep(pairs, source, target, wrong, reader.place(), options);
  }
  if (pairs.empty()) fail("{}: no pair of sentences in it", path);
  return pairs;
}

std::vector<Pair> read_aligned(const std::string& source_path, const std::string& target_path,
                               const ReadOptions& options) {
  LineReader source_reader(source_path), target_reader(target_path);
  std::vector<Pair> pairs;
  std::string source, target;
  while (true) {
    const bool more_source = source_reader.next(source), more_target = target_reader.next(target);
    if (more_source != more_target)
      fail("{}: no line here to go with {}: the files must have as many lines",
           more_source ? target_path : source_path, (more_source ? source_reader : target_reader).place());
    if (!more_source) break;
    if (is_blank(source) && is_blank(target)) continue;

    std::string wrong = trouble(source, options), place = source_reader.place();
    if (wrong.empty() && is_blank(source)) wrong = "an empty line, but not in " + target_path;
    if (wrong.empty()) {
      wrong = trouble(target, options);
      place = target_reader.place();
    }
    if (wrong.empty() && is_blank(target)) wrong = "an empty line, but not in " + source_path;
    keep(pairs, source, target, wrong, place, options);
  }
  if (pairs.empty()) fail("{}: no sentence in it", source_path);
  return pairs;
}

std::vector<std::string> source_lines(const std::vector<Pair>& pairs) {
  std::vector<std::string> lines;
  for (const Pair& pair : pairs) lines.push_back(pair.source);
  return lines;
}

std::vector<std::string> target_lines(const std::vector<Pair>& pairs) {
  std::vector<std::string> lines;
  for (const Pair& pair : pairs) lines.push_back(pair.target);
  return lines;
}

Split split_by_source(const std::vector<Pair>& pairs, const SplitOptions& options) {
  // The distinct sources in the order of the file, so that the draw does not hang on a hash function.
  std::vector<TestSentence> sentences;
  std::unordered_map<std::string_view, std::size_t> place;
  for (const Pair& pair : pairs) {
    const auto [found, is_new] = place.emplace(pair.source, sentences.size());
    if (is_new) sentences.push_back({pair.source, {}});
    sentences[found->second].references.push_back(pair.target);
  }

  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const Index words = static_cast<Index>(split_at_spaces(sentences[i].source).size());
    if (options.max_words == 0 || words <= options.max_words) candidates.push_back(i);
  }
  if (options.test < 0 || options.validation < 0 ||
      options.test + options.validation > static_cast<Index>(candidates.size()))
    fail("split_by_source: {} + {} sentences to hold out, but only {} distinct ones to draw from",
         options.test, options.validation, candidates.size());
  Rng rng(options.seed);
  shuffle(candidates, rng);

  Split split;
  std::vector<bool> held_out(sentences.size(), false);
  for (Index i = 0; i < options.test + options.validation; ++i) {
    const std::size_t chosen = candidates[static_cast<std::size_t>(i)];
    held_out[chosen] = true;
    (i < options.test ? split.test : split.validation).push_back(sentences[chosen]);
  }
  for (const Pair& pair : pairs)
    if (!held_out[place.at(pair.source)]) split.train.push_back(pair);
  return split;
}

}  // namespace attn
