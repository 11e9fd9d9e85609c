#include "nn/text/corpus.hpp"

#include <algorithm>      // count
#include <cstring>        // strerror
#include <filesystem>     // is_directory
#include <fstream>        // ifstream
#include <iterator>       // ssize
#include <string_view>    // string_view
#include <unordered_map>  // unordered_map
#include <utility>        // move

#include "core/error.hpp"
#include "core/rng.hpp"  // philox, shuffle
#include "nn/text/characters.hpp"

namespace attn {
namespace {

class LineReader {
 public:
  explicit LineReader(const std::string& path)
      : path_(path), file_(path, std::ios::binary), line_(longest + 1) {
    std::error_code missing;
    const std::filesystem::file_type type = std::filesystem::status(path, missing).type();
    if (type == std::filesystem::file_type::directory) fail("{}: is a folder, not a file of sentences", path);
    if (type == std::filesystem::file_type::character || type == std::filesystem::file_type::block)
      fail("{}: is a device, not a file of sentences", path);
    if (!file_) fail("{}: cannot be read: {}", path, std::strerror(errno));
  }

  bool next(std::string& line) {
    file_.getline(line_.data(), std::ssize(line_));
    if (file_.bad()) fail("{}:{}: reading failed", path_, number_ + 1);
    if (file_.eof() && file_.gcount() == 0) return false;
    if (file_.fail()) fail("{}:{}: a line of more than {} bytes is no sentence", path_, number_ + 1, longest);
    if (++number_ > most_lines) fail("{}: has more than {} lines", path_, most_lines);
    line.assign(line_.data(), file_.gcount() - (file_.eof() ? 0 : 1));       // the line end counts
    if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // byte order mark
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  std::string place() const { return fmt::format("{}:{}", path_, number_); }

 private:
  // A pipe may never end, and a file may be something else: better a sentence than a full memory.
  static constexpr Index longest = 1'000'000, most_lines = 10'000'000;
  std::string path_;
  std::ifstream file_;
  std::vector<char> line_;
  Index number_ = 0;
};

bool is_blank(std::string_view text) {
  for (const Character& c : characters(text))
    if (kind(c.code) != Kind::space) return false;
  return true;
}

void check_utf8(std::string_view line, const LineReader& reader) {
  const std::size_t invalid = first_invalid_byte(line);
  if (invalid != std::string_view::npos)
    fail("{}: byte {} of the line is not UTF-8 (save the file as UTF-8)", reader.place(), invalid + 1);
}

void for_each_line(const std::string& path, const std::function<void(Pair)>& use) {
  LineReader reader(path);
  std::string line;
  while (reader.next(line)) {
    if (is_blank(line)) continue;
    check_utf8(line, reader);
    const std::string_view all = line;
    const std::size_t tab = all.find('\t');
    if (tab == std::string_view::npos) fail("{}: no tab between the two sentences", reader.place());
    const std::string_view source = all.substr(0, tab), rest = all.substr(tab + 1),
                           target = rest.substr(0, rest.find('\t'));
    Pair pair{normalize_spaces(source), normalize_spaces(target)};
    if (pair.source.empty()) fail("{}: nothing before the tab", reader.place());
    if (pair.target.empty()) fail("{}: nothing after the tab", reader.place());
    use(std::move(pair));
  }
}

void for_each_two_lines(const std::string& source_path, const std::string& target_path,
                        const std::function<void(Pair)>& use) {
  LineReader source_reader(source_path), target_reader(target_path);
  std::string source, target;
  while (true) {
    const bool more_source = source_reader.next(source), more_target = target_reader.next(target);
    if (more_source != more_target)
      fail("{}: ends before {}: the files must have the same number of lines",
           more_source ? target_path : source_path, (more_source ? source_reader : target_reader).place());
    if (!more_source) break;
    check_utf8(source, source_reader);
    check_utf8(target, target_reader);
    Pair pair{normalize_spaces(source), normalize_spaces(target)};
    if (pair.source.empty() && pair.target.empty()) continue;
    if (pair.source.empty()) fail("{}: an empty line, but not in {}", source_reader.place(), target_path);
    if (pair.target.empty()) fail("{}: an empty line, but not in {}", target_reader.place(), source_path);
    use(std::move(pair));
  }
}

std::vector<Pair> all_of(const PairFile& file) {
  std::vector<Pair> pairs;
  file.for_each([&](Pair pair) { pairs.push_back(std::move(pair)); });
  return pairs;
}

}  // namespace

void PairFile::for_each(const std::function<void(Pair)>& use) const {
  bool any = false;
  const auto use_one = [&](Pair pair) {
    any = true;
    use(std::move(pair));
  };
  if (target_path.empty())
    for_each_line(path, use_one);
  else
    for_each_two_lines(path, target_path, use_one);
  if (!any) fail("{}: no {} in it", path, target_path.empty() ? "pair of sentences" : "sentence");
}

std::vector<Pair> read_pairs(const std::string& path) { return all_of({path}); }

std::vector<Pair> read_aligned(const std::string& source_path, const std::string& target_path) {
  return all_of({source_path, target_path});
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

Split split_by_source(std::vector<Pair> pairs, const SplitOptions& options) {
  // The distinct sources in the order of the file, so that the draw does not depend on a hash function. A
  // corpus can be large: its sentences are moved, and only those held out are gathered with all translations.
  constexpr Index in_training = -1;
  std::vector<std::string_view> sources;
  std::unordered_map<std::string_view, Index> place;  // of each source: later, among the held-out sentences
  for (const Pair& pair : pairs)
    if (place.emplace(pair.source, in_training).second) sources.push_back(pair.source);

  std::vector<std::string_view> candidates;
  for (const std::string_view source : sources)
    if (options.max_words == 0 || std::ssize(split_at_spaces(source)) <= options.max_words)
      candidates.push_back(source);
  if (options.test < 0 || options.validation < 0 ||
      options.test + options.validation > std::ssize(candidates))
    fail("split_by_source: {} + {} sentences to hold out, but only {} distinct ones to choose from",
         options.test, options.validation, candidates.size());
  Rng rng(options.seed);
  shuffle(candidates, rng);

  std::vector<TestSentence> held_out;
  for (Index i = 0; i < options.test + options.validation; ++i) {
    held_out.push_back({std::string(candidates[i]), {}});
    place[candidates[i]] = i;
  }
  std::vector<Index> places;
  places.reserve(pairs.size());
  for (const Pair& pair : pairs) places.push_back(place.at(pair.source));
  place.clear();  // its keys point into the sentences that move now

  Split split;
  split.train.reserve(std::count(places.begin(), places.end(), in_training));
  for (Index i = 0; i < std::ssize(pairs); ++i) {
    if (places[i] == in_training)
      split.train.push_back(std::move(pairs[i]));
    else
      held_out[places[i]].references.push_back(std::move(pairs[i].target));
  }
  const auto validation = held_out.begin() + options.test;
  split.test.assign(held_out.begin(), validation);
  split.validation.assign(validation, held_out.end());
  return split;
}

Corpus::Corpus(PairFile file, Index in_memory) : file_(std::move(file)) {
  file_.for_each([&](Pair pair) {
    if (++pairs_ <= in_memory)
      all_.push_back(std::move(pair));
    else
      all_ = {};
  });
  portions_ = (pairs_ + in_memory - 1) / in_memory;
}

Index Corpus::portion_of(Index pair) const { return Index(philox(0, std::uint64_t(pair)) % portions_); }

std::vector<Pair> Corpus::portion(Index number) const {
  std::vector<Pair> chosen = all_;
  if (portions_ == 1) {
    std::erase_if(chosen, [&](const Pair& pair) { return held_out_.contains(pair.source); });
    return chosen;
  }
  Index count = 0;
  file_.for_each([&](Pair pair) {
    if (portion_of(count++) == number && !held_out_.contains(pair.source)) chosen.push_back(std::move(pair));
  });
  return chosen;
}

void Corpus::hold_out(std::vector<TestSentence>& sentences) {
  std::unordered_map<std::string_view, TestSentence*> found;
  for (TestSentence& sentence : sentences) {
    held_out_.insert(sentence.source);
    found[sentence.source] = &sentence;
  }
  if (portions_ == 1) return;
  Index count = 0;
  file_.for_each([&](Pair pair) {
    const auto sentence = found.find(pair.source);
    if (portion_of(count++) != 0 && sentence != found.end())
      sentence->second->references.push_back(std::move(pair.target));
  });
}

}  // namespace attn
