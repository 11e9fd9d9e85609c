#include "nn/text/bpe.hpp"

#include <algorithm>   // max, min
#include <functional>  // greater
#include <iterator>    // ssize
#include <mutex>       // lock_guard, mutex
#include <queue>       // priority_queue
#include <set>         // set
#include <tuple>       // tie

#include "core/error.hpp"
#include "nn/text/characters.hpp"

namespace attn {
namespace {

// In bytes: keeps the cost of one word small, however long a line without spaces is. A character of up to
// four bytes may begin before this and end after it.
constexpr std::size_t longest_word = 64, longest_token = longest_word + 3;

}  // namespace

std::vector<int> merge_pair(const std::vector<int>& ids, int left, int right, int merged) {
  std::vector<int> result;
  result.reserve(ids.size());
  for (Index i = 0; i < std::ssize(ids); ++i) {
    const bool pair = ids[i] == left && i + 1 < std::ssize(ids) && ids[i + 1] == right;
    result.push_back(pair ? merged : ids[i]);
    if (pair) ++i;
  }
  return result;
}

std::vector<int> merge_all(std::vector<int> ids, const MergeTable& merges) {
  const Index n = std::ssize(ids);
  std::vector<Index> next(n), previous(n);  // neighbours among what is left; a merged token has id -1
  for (Index i = 0; i < n; ++i) next[i] = i + 1, previous[i] = i - 1;

  struct Candidate {
    int rank;
    Index at;
    int left, right, merged;
    bool operator>(const Candidate& other) const {
      return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](Index i) {
    if (i < 0 || next[i] >= n) return;
    const auto found = merges.find(pair_of(ids[i], ids[next[i]]));
    if (found != merges.end()) queue.push({found->second.rank, i, ids[i], ids[next[i]], found->second.id});
  };
  for (Index i = 0; i < n; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const Index i = best.at;
    if (ids[i] != best.left || next[i] >= n || ids[next[i]] != best.right) continue;  // merged since
    const Index gone = next[i];
    ids[i] = best.merged;
    ids[gone] = -1;
    next[i] = next[gone];
    if (next[i] < n) previous[next[i]] = i;
    offer(previous[i]);
    offer(i);
  }
  std::erase(ids, -1);
  return ids;
}

// A word is a run of one kind of character, with the one plain space before it. An apostrophe after letters
// belongs to them (l', don').
std::vector<std::string_view> bpe_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t start = 0, at = 0;
  Kind run = Kind::space;
  bool ended = false;
  const auto goes_on = [&](const Character& c, bool apostrophe) {
    if (ended || at - start >= longest_word) return false;
    if (run == Kind::space) return kind(c.code) != Kind::space && text.substr(start, at - start) == " ";
    return kind(c.code) == run || apostrophe;
  };
  for (const Character& c : characters(text)) {
    const bool apostrophe = run == Kind::letter && (c.code == '\'' || c.code == U'’');
    const bool same_word = goes_on(c, apostrophe);
    if (!same_word && at > start) {
      words.push_back(text.substr(start, at - start));
      start = at;
    }
    ended = same_word && apostrophe;
    if (!ended) run = kind(c.code);
    at += c.bytes.size();
  }
  if (at > start) words.push_back(text.substr(start));
  return words;
}

struct BpeVocabulary::Cache {
  std::mutex mutex;
  StringMap<std::vector<int>> words;
};

BpeVocabulary::BpeVocabulary(const std::vector<std::string>& specials, const std::vector<Merge>& merges)
    : Vocabulary(specials), first_byte_(size()), merges_(merges), cache_(std::make_shared<Cache>()) {
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
  for (const auto [left, right] : merges_) {
    if (std::min(left, right) < first_byte_ || std::max(left, right) >= size())
      fail("bpe: merge of {} and {} before both exist (ids {} to {})", left, right, first_byte_, size() - 1);
    if (token(left).size() + token(right).size() >
        longest_token)  // 60 that each double would fill the memory
      fail("bpe: the merge of {} and {} is a token of {} bytes; no word has more than {}", left, right,
           token(left).size() + token(right).size(), longest_token);
    table_.emplace(pair_of(left, right), RankedMerge{size(), size()});
    add(token(left) + token(right));
  }
}

BpeVocabulary BpeVocabulary::with_merges(Index count) const {
  if (count < 0 || count > std::ssize(merges_))
    fail("bpe: {} merges asked for, {} learned", count, merges_.size());
  std::vector<std::string> specials;
  for (int id = unk + 1; id < first_byte_; ++id) specials.push_back(token(id));
  return BpeVocabulary(specials, {merges_.begin(), merges_.begin() + count});
}

std::vector<int> BpeVocabulary::encode(std::string_view text) const {
  constexpr std::size_t most_words = 1 << 20;
  std::vector<int> ids;
  const std::lock_guard lock(cache_->mutex);
  for (const std::string_view word : bpe_words(text)) {
    auto found = cache_->words.find(word);
    if (found == cache_->words.end()) {
      if (cache_->words.size() == most_words) cache_->words.clear();
      std::vector<int> bytes;
      for (const char byte : word) bytes.push_back(first_byte_ + static_cast<unsigned char>(byte));
      found = cache_->words.emplace(word, merge_all(std::move(bytes), table_)).first;
    }
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  return ids;
}

void BpeVocabulary::save_tokens(std::string& saved) const {
  for (const auto [left, right] : merges_) saved += fmt::format("merge {} {}\n", left, right);
}

namespace {

// The distinct words of a text and, for every pair of neighbours in them, how often it occurs and where.
class PairCounts {
 public:
  explicit PairCounts(int first_byte, const std::vector<std::string>& lines) {
    StringMap<Index> counts;
    for (const std::string& line : lines) {
      for (const std::string_view word : bpe_words(line)) {
        const auto found = counts.find(word);
        if (found == counts.end())
          counts.emplace(word, 1);
        else
          ++found->second;
      }
    }
    for (const auto& [word, count] : counts) {
      words_.push_back({{}, count});
      for (const char byte : word) words_.back().ids.push_back(first_byte + static_cast<unsigned char>(byte));
    }
    std::set<std::uint64_t> changed;
    for (Index w = 0; w < std::ssize(words_); ++w) add_pairs(w, -1, changed);
    offer(changed);
  }

  // The most frequent pair, or a count of 0.
  struct Best {
    Index count;
    int left, right;
    bool operator<(const Best& other) const {  // the heap's top is its largest
      if (count != other.count) return count < other.count;
      return left != other.left ? left > other.left : right > other.right;
    }
  };
  Best best() {
    while (!heap_.empty()) {
      const Best top = heap_.top();
      const Index now = pairs_[pair_of(top.left, top.right)].count;
      if (top.count == now) return top;
      heap_.pop();  // merges have used some of them up: queue again by how many are left
      if (now > 0) heap_.push({now, top.left, top.right});
    }
    return {0, 0, 0};
  }

  void merge(int left, int right, int merged) {
    std::set<std::uint64_t> changed;
    for (const Index w : std::vector(std::move(pairs_[pair_of(left, right)].words))) {
      Word& word = words_[w];
      std::vector<int> ids = merge_pair(word.ids, left, right, merged);
      if (ids.size() == word.ids.size()) continue;  // listed twice, or merged away since
      for (Index i = 0; i + 1 < std::ssize(word.ids); ++i)
        pairs_[pair_of(word.ids[i], word.ids[i + 1])].count -= word.count;
      word.ids = std::move(ids);
      add_pairs(w, merged, changed);
    }
    pairs_.erase(pair_of(left, right));
    offer(changed);
  }

 private:
  struct Word {
    std::vector<int> ids;
    Index count;
  };
  struct Pair {
    Index count = 0;
    std::vector<Index> words;
  };

  // Counts the pairs of a word. Only pairs with the new token (-1: all pairs) can have become more frequent.
  void add_pairs(Index w, int merged, std::set<std::uint64_t>& changed) {
    const Word& word = words_[w];
    for (Index i = 0; i + 1 < std::ssize(word.ids); ++i) {
      const int left = word.ids[i], right = word.ids[i + 1];
      Pair& pair = pairs_[pair_of(left, right)];
      pair.count += word.count;
      if (merged != -1 && left != merged && right != merged) continue;
      pair.words.push_back(w);
      changed.insert(pair_of(left, right));
    }
  }

  void offer(const std::set<std::uint64_t>& changed) {
    for (const std::uint64_t key : changed)
      heap_.push({pairs_[key].count, int(key >> 32), int(key & 0xFFFFFFFF)});
  }

  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<Best> heap_;
};

}  // namespace

BpeVocabulary BpeVocabulary::learn(const std::vector<std::string>& lines, const Options& options) {
  const int first_byte = unk + 1 + int(options.specials.size());
  PairCounts counts(first_byte, lines);
  std::vector<Merge> merges;
  while (std::ssize(merges) < options.merges) {
    const auto best = counts.best();
    if (best.count < 2) break;
    counts.merge(best.left, best.right, first_byte + 256 + int(merges.size()));
    merges.push_back({best.left, best.right});
  }
  return BpeVocabulary(options.specials, merges);
}

}  // namespace attn
