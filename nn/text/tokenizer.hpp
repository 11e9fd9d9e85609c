// Tokenizers of published models: text to the ids that their weights were trained on, and back.
//
//   const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer("gpt2");   the folder with its files
//   std::vector<int> ids = tokenizer->encode("Hello world");               {15496, 995}
//   tokenizer->decode(ids)                                                 "Hello world"
//
//   byte-level BPE    vocab.json and merges.txt, or tokenizer.json    GPT-2: any bytes, exact round trip
//   WordPiece         vocab.txt, or tokenizer.json                    BERT: words and ##endings
//   SentencePiece     tokenizer.json (Unigram or BPE)                 T5, Llama: a space is a letter, ▁
//   llama2.c's file   tokenizer.bin                                   SentencePiece BPE by score
//
// They are apart from nn/text/vocabulary.hpp, which learns vocabularies of our own, because here the ids
// belong to somebody else. A special token that the text spells ("[MASK]", "<|endoftext|>") becomes its own
// id. Files are not trusted: one that is damaged gets a one-line Error that names it.
#pragma once

#include <filesystem>   // path
#include <memory>       // unique_ptr
#include <optional>     // optional
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/shape.hpp"   // Index
#include "nn/text/bpe.hpp"  // MergeTable
#include "nn/text/character_map.hpp"
#include "nn/text/vocabulary.hpp"  // StringMap

namespace attn {

// All pieces of a tokenizer by their id, and those among them that are special.
struct Pieces {
  std::vector<std::string> list;
  StringMap<int> ids;
  std::vector<std::string> specials;
  Index most = 1 << 20;  // ids below this only: the file decides, so that no id asks for memory without end

  int size() const { return int(list.size()); }
  int find(std::string_view piece) const;  // -1 if there is none
  int at(std::string_view piece) const;    // throws if there is none
  void put(std::string piece, Index id);   // throws if another piece has this id
  void put_special(std::string piece, Index id);
};

class Tokenizer {
 public:
  explicit Tokenizer(Pieces pieces) : pieces_(std::move(pieces)) {}
  virtual ~Tokenizer() = default;

  std::vector<int> encode(std::string_view text) const;
  // With the special tokens around it that the model was trained to expect: [CLS] … [SEP], <s> …, … </s>.
  virtual std::vector<int> for_model(std::vector<int> ids) const { return ids; }
  std::string decode(const std::vector<int>& ids) const;
  // What one id adds to a text. `first`: nothing was written before it, so it begins without a space.
  virtual std::string text_of(int id, bool first) const = 0;

  const Pieces& pieces() const { return pieces_; }

 protected:
  virtual void encode_plain(std::string_view text, std::vector<int>& ids) const = 0;  // without specials
  bool is_special(int id) const;

 private:
  Pieces pieces_;
};

// GPT-2 (Radford et al. 2019). Pieces are bytes; `merges` in the order in which they were learned.
std::unique_ptr<Tokenizer> byte_level_bpe(Pieces pieces,
                                          const std::vector<std::pair<std::string, std::string>>& merges);
// The words inside which GPT-2 merges:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::vector<std::string_view> gpt2_words(std::string_view text);
// GPT-2's files write each byte as a visible character: 'Ġ' is a space.
std::string bytes_of_visible(std::string_view piece);
std::string visible_bytes(std::string_view bytes);

// BERT (Devlin et al. 2018): the longest known piece first; what continues a word begins with ##.
std::unique_ptr<Tokenizer> word_piece(Pieces pieces, bool lower_case);

// SentencePiece (Kudo and Richardson 2018) with a unigram model: the likeliest way to cut the text. Without a
// map of characters the text is brought to NFKC.
std::unique_ptr<Tokenizer> unigram(Pieces pieces, const std::vector<double>& scores, int unknown,
                                   std::optional<CharacterMap> map = {});
// SentencePiece with BPE; characters without a piece are written as bytes, <0x0A>.
std::unique_ptr<Tokenizer> sentence_bpe(Pieces pieces, const MergeTable& merges, int unknown);

// Reads the files of a model's folder, or one tokenizer.json; throws, listing the names it looked for, if
// there are none.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& place);
// llama2.c's tokenizer.bin, which does not say how many pieces it has.
std::unique_ptr<Tokenizer> load_llama2c_tokenizer(const std::filesystem::path& file, Index vocabulary);

}  // namespace attn
