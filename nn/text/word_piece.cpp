// BERT's tokenizer: the text is cleaned and cut at spaces and punctuation, then each word into pieces.
#include "nn/text/tokenizer.hpp"

#include <utf8proc.h>  // utf8proc_category, utf8proc_decompose_char, utf8proc_tolower

#include "core/error.hpp"
#include "core/text.hpp"  // characters

namespace attn {
namespace {

bool is_punctuation(char32_t code) {
  if (code < 0x80) return code > ' ' && code < 0x7F && !std::isalnum(int(code));  // BERT counts $ and ^, too
  const utf8proc_category_t category = utf8proc_category(utf8proc_int32_t(code));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// Chinese has no spaces: each character is a word of its own.
bool is_chinese(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0x2F800 && code <= 0x2FA1F);
}

// The character in lower case and without its accents, as UTF-8.
std::string folded(char32_t code) {
  utf8proc_int32_t parts[32];
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(utf8proc_tolower(utf8proc_int32_t(code)), parts, 32,
                                                         UTF8PROC_DECOMPOSE, &boundary);
  std::string text;
  for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, 32); ++i)
    if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) text += to_utf8(char32_t(parts[i]));
  return text;
}

class WordPiece : public Tokenizer {
 public:
  WordPiece(Pieces pieces, bool lower_case)
      : Tokenizer(std::move(pieces)),
        lower_case_(lower_case),
        unknown_(this->pieces().at("[UNK]")),
        start_(this->pieces().at("[CLS]")),
        end_(this->pieces().at("[SEP]")) {}

  std::vector<int> for_model(std::vector<int> ids) const override {
    ids.insert(ids.begin(), start_);
    ids.push_back(end_);
    return ids;
  }

  std::string text_of(int id, bool first) const override {
    const std::string& piece = pieces().list[id];
    if (piece.starts_with("##")) return piece.substr(2);
    const bool closes = piece.size() == 1 && std::string_view(".,;:!?)]}%").find(piece) != std::string::npos;
    return first || closes ? piece : " " + piece;
  }

 protected:
  void encode_plain(std::string_view text, std::vector<int>& ids) const override {
    for (const std::string& word : words(text)) encode_word(word, ids);
  }

 private:
  std::vector<std::string> words(std::string_view text) const {
    std::vector<std::string> found(1);
    const auto cut = [&] {
      if (!found.back().empty()) found.emplace_back();
    };
    for (const Character& c : characters(text)) {
      const utf8proc_category_t category = utf8proc_category(utf8proc_int32_t(c.code));
      if (c.code == '\t' || c.code == '\n' || c.code == '\r' || category == UTF8PROC_CATEGORY_ZS) {
        cut();
      } else if (c.code == 0xFFFD || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF) {
        continue;
      } else if (is_punctuation(c.code) || is_chinese(c.code)) {
        cut();
        found.back() = c.bytes;
        cut();
      } else {
        found.back() += lower_case_ ? folded(c.code) : std::string(c.bytes);
      }
    }
    if (found.back().empty()) found.pop_back();
    return found;
  }

  void encode_word(const std::string& word, std::vector<int>& ids) const {
    constexpr Index longest = 100;  // characters; BERT gives up on longer ones
    Index count = 0;
    for ([[maybe_unused]] const Character& c : characters(word)) ++count;
    std::vector<int> cut;
    for (std::size_t start = 0; start < word.size() && count <= longest;) {
      std::size_t end = word.size();
      int id = -1;
      for (; end > start; --end) {
        if (end < word.size() && (word[end] & 0xC0) == 0x80) continue;  // inside a character
        id = pieces().find((start ? "##" : "") + word.substr(start, end - start));
        if (id >= 0) break;
      }
      if (id < 0) {
        cut.clear();
        break;
      }
      cut.push_back(id);
      start = end;
    }
    if (cut.empty()) cut.push_back(unknown_);
    ids.insert(ids.end(), cut.begin(), cut.end());
  }

  bool lower_case_;
  int unknown_, start_, end_;
};

}  // namespace

std::unique_ptr<Tokenizer> word_piece(Pieces pieces, bool lower_case) {
  return std::make_unique<WordPiece>(std::move(pieces), lower_case);
}

}  // namespace attn
