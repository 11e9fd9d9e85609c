// SentencePiece: the text is one string in which a space is the letter ▁, and pieces may span what we call
// words. Which pieces, a unigram model or a list of merges decides.
#include "nn/text/tokenizer.hpp"

#include <utf8proc.h>  // utf8proc_map

#include <algorithm>  // max, min_element
#include <array>      // array
#include <cmath>      // isfinite
#include <cstdlib>    // free
#include <iterator>   // ssize
#include <limits>     // numeric_limits
#include <optional>   // optional

#include "core/error.hpp"
#include "core/text.hpp"  // characters

namespace attn {
namespace {

constexpr std::string_view space_letter = "▁";

std::string with_space_letters(std::string_view text) {
  std::string out(space_letter);
  for (const char byte : text) byte == ' ' ? out += space_letter : out += byte;
  return out;
}

// Unicode's compatibility form (NFKC): what most files ask for, but for some characters of their own choice.
std::string compatible(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto flags = utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             utf8proc_ssize_t(text.size()), &mapped, flags);
  const std::string out = size < 0 ? std::string(text)  // not UTF-8: as it is
                                   : std::string(reinterpret_cast<char*>(mapped), std::size_t(size));
  std::free(mapped);
  return out;
}

// One plain space between words and none at the ends.
std::string single_spaced(std::string_view text) {
  std::string out;
  bool space = false;
  for (const char byte : text) {
    if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
      space = !out.empty();
    } else {
      if (space) out += ' ';
      space = false;
      out += byte;
    }
  }
  return out;
}

class SentencePiece : public Tokenizer {
 public:
  SentencePiece(Pieces pieces, int unknown) : Tokenizer(std::move(pieces)), unknown_(unknown) {
    if (unknown < 0 || unknown >= this->pieces().size())
      fail("tokenizer: the unknown token has the id {}, and there are {} pieces", unknown,
           this->pieces().size());
    for (int byte = 0; byte < 256; ++byte)
      byte_ids_[byte] = this->pieces().find(fmt::format("<0x{:02X}>", byte));
  }

  std::string text_of(int id, bool first) const override {
    if (const auto byte = std::find(byte_ids_.begin(), byte_ids_.end(), id); byte != byte_ids_.end())
      return std::string(1, static_cast<char>(byte - byte_ids_.begin()));
    std::string text = pieces().list[id];
    for (std::size_t at = 0; (at = text.find(space_letter, at)) != std::string::npos;)
      text.replace(at, space_letter.size(), " ");
    return first && text.starts_with(' ') ? text.substr(1) : text;
  }

 protected:
  // What stands for a character that has no piece: its bytes, or the unknown token.
  void encode_unknown(std::string_view character, std::vector<int>& ids) const {
    if (byte_ids_[0] >= 0)
      for (const char byte : character) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    else if (ids.empty() || ids.back() != unknown_)
      ids.push_back(unknown_);
  }

 private:
  int unknown_;
  std::array<int, 256> byte_ids_{};  // -1: it has none
};

class Unigram : public SentencePiece {
 public:
  Unigram(Pieces pieces, const std::vector<double>& scores, int unknown, std::optional<CharacterMap> map)
      : SentencePiece(std::move(pieces), unknown),
        scores_(scores),
        map_(std::move(map)),
        end_(this->pieces().find("</s>")) {
    if (std::ssize(scores) != this->pieces().size() || scores.empty())
      fail("tokenizer: {} scores for {} pieces", scores.size(), this->pieces().size());
    for (const double score : scores)
      if (!std::isfinite(score)) fail("tokenizer: a piece has the score {}", score);
    for (const std::string& piece : this->pieces().list) longest_ = std::max(longest_, piece.size());
    unknown_score_ = *std::min_element(scores.begin(), scores.end()) - 10;
  }

  std::vector<int> for_model(std::vector<int> ids) const override {
    if (end_ >= 0) ids.push_back(end_);
    return ids;
  }

 protected:
  // Viterbi: best[i] is the best way to cut the first i bytes, by its score and where its last piece begins.
  void encode_plain(std::string_view given, std::vector<int>& ids) const override {
    const std::string clean = single_spaced(map_ ? (*map_)(given) : compatible(given));
    if (clean.empty()) return;
    const std::string text = with_space_letters(clean);
    struct Cut {
      double score = -std::numeric_limits<double>::infinity();
      std::size_t from = 0;
      int id = -1;  // -1: a character without a piece
    };
    std::vector<Cut> best(text.size() + 1);
    best[0].score = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t character = character_at(text, start).bytes.size();
      const auto offer = [&](std::size_t length, double score, int id) {
        Cut& cut = best[start + length];
        if (best[start].score + score > cut.score) cut = {best[start].score + score, start, id};
      };
      offer(character, unknown_score_, -1);
      for (std::size_t length = 1; length <= std::min(longest_, text.size() - start); ++length) {
        const int id = pieces().find(std::string_view(text).substr(start, length));
        if (id >= 0) offer(length, scores_[id], id);
      }
      start += character;
    }
    std::vector<std::size_t> ends;
    for (std::size_t end = text.size(); end > 0; end = best[end].from) ends.push_back(end);
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Cut& cut = best[*end];
      if (cut.id >= 0)
        ids.push_back(cut.id);
      else
        encode_unknown(std::string_view(text).substr(cut.from, *end - cut.from), ids);
    }
  }

 private:
  std::vector<double> scores_;
  std::optional<CharacterMap> map_;
  int end_;
  std::size_t longest_ = 0;
  double unknown_score_ = 0;
};

class SentenceBpe : public SentencePiece {
 public:
  SentenceBpe(Pieces pieces, MergeTable merges, int unknown)
      : SentencePiece(std::move(pieces), unknown),
        merges_(std::move(merges)),
        start_(this->pieces().find("<s>")) {}

  std::vector<int> for_model(std::vector<int> ids) const override {
    if (start_ >= 0) ids.insert(ids.begin(), start_);
    return ids;
  }

 protected:
  void encode_plain(std::string_view given, std::vector<int>& ids) const override {
    const std::string text = with_space_letters(given);
    std::vector<int> letters;
    for (const Character& c : characters(text)) {
      const int id = pieces().find(c.bytes);
      if (id >= 0)
        letters.push_back(id);
      else
        encode_unknown(c.bytes, letters);
    }
    const std::vector<int> merged = merge_all(letters, merges_);
    ids.insert(ids.end(), merged.begin(), merged.end());
  }

 private:
  MergeTable merges_;
  int start_;
};

}  // namespace

std::unique_ptr<Tokenizer> unigram(Pieces pieces, const std::vector<double>& scores, int unknown,
                                   std::optional<CharacterMap> map) {
  return std::make_unique<Unigram>(std::move(pieces), scores, unknown, std::move(map));
}

std::unique_ptr<Tokenizer> sentence_bpe(Pieces pieces, const MergeTable& merges, int unknown) {
  return std::make_unique<SentenceBpe>(std::move(pieces), merges, unknown);
}

}  // namespace attn
