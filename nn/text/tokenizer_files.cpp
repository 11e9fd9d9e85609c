// The files that published models keep their tokenizers in.
#include "nn/text/tokenizer.hpp"

#include <algorithm>  // clamp, find, min, stable_sort
#include <cstring>    // memcpy

#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/text.hpp"  // read_file

namespace attn {
namespace {

namespace fs = std::filesystem;
using StringPairs = std::vector<std::pair<std::string, std::string>>;

JsonValue object_in(const fs::path& file) {
  const JsonValue value = parse_json(read_file(file));
  if (!value.is_object()) fail("{}: not a JSON object", file.string());
  return value;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::string text = read_file(file);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t length = end - start - (end > start && text[end - 1] == '\r');
    lines.push_back(text.substr(start, length));
    start = end + 1;
  }
  return lines;
}

// "Ġthe re" or ["Ġthe", "re"], as merges are written.
std::pair<std::string, std::string> merge_of(const std::string& text) {
  const std::size_t space = text.find(' ', 1);
  if (space == std::string::npos || space + 1 == text.size())
    fail("tokenizer: '{:.60}' is not a pair of pieces to merge", shown_json(text));
  return {text.substr(0, space), text.substr(space + 1)};
}
std::pair<std::string, std::string> merge_of(const JsonValue& entry) {
  std::string left, right;
  if (entry.to(left)) return merge_of(left);
  const std::vector<JsonValue> pair = entry.elements();
  if (pair.size() != 2 || !pair[0].to(left) || !pair[1].to(right))
    fail("tokenizer: '{:.60}' is not a pair of pieces to merge", entry.text());
  return {left, right};
}

// Ids may have gaps, but not many more than there are pieces.
Index most_ids(std::size_t pieces) { return 1000 + 4 * Index(pieces); }

Pieces pieces_of(const JsonValue& vocabulary) {
  if (!vocabulary.is_object()) fail("tokenizer: its vocabulary is not an object of pieces and ids");
  const JsonValue::Members all = vocabulary.members();
  Pieces pieces;
  pieces.most = most_ids(all.size());
  for (const auto& [piece, id] : all) {
    Index number = 0;
    if (!id.to(number)) fail("tokenizer: the id of '{:.60}' is not a whole number", piece);
    pieces.put(piece, number);
  }
  return pieces;
}

// The same pieces as the bytes that they stand for.
Pieces as_bytes(const Pieces& visible, const std::vector<std::string>& specials) {
  Pieces bytes;
  for (int id = 0; id < visible.size(); ++id) {
    const std::string& piece = visible.list[id];
    if (std::find(specials.begin(), specials.end(), piece) != specials.end())
      bytes.put_special(piece, id);
    else if (!piece.empty())
      bytes.put(bytes_of_visible(piece), id);
  }
  return bytes;
}

std::unique_ptr<Tokenizer> make_byte_level(const Pieces& pieces, const std::vector<std::string>& specials,
                                           const StringPairs& merges) {
  StringPairs in_bytes;
  for (const auto& [left, right] : merges)
    in_bytes.emplace_back(bytes_of_visible(left), bytes_of_visible(right));
  return byte_level_bpe(as_bytes(pieces, specials), in_bytes);
}

// A normalizer may be a sequence of them.
std::optional<CharacterMap> character_map_of(const JsonValue& normalizer) {
  std::vector<JsonValue> all = normalizer["normalizers"].elements();
  if (all.empty()) all = {normalizer};
  std::string map;
  for (const JsonValue& one : all)
    if (one["precompiled_charsmap"].to(map)) return CharacterMap(decode_base64(map));
  return {};
}

bool mentions_byte_level(const JsonValue& part) {
  return part.text().find("\"ByteLevel\"") != std::string::npos;
}

std::unique_ptr<Tokenizer> from_tokenizer_json(const fs::path& file) {
  const JsonValue all = object_in(file), model = all["model"], vocabulary = model["vocab"];
  std::string type;
  model["type"].to(type);

  Pieces pieces;
  std::vector<double> scores;
  if (vocabulary.is_array()) {  // Unigram: [["▁the", -3.2], …]
    const std::vector<JsonValue> entries = vocabulary.elements();
    pieces.most = most_ids(entries.size());
    for (const JsonValue& entry : entries) {
      const std::vector<JsonValue> pair = entry.elements();
      std::string piece;
      double score = 0;
      if (pair.size() != 2 || !pair[0].to(piece) || !pair[1].to(score))
        fail("{}: '{:.60}' is not a piece and its score", file.string(), entry.text());
      pieces.put(piece, int(scores.size()));
      scores.push_back(score);
    }
  } else {
    pieces = pieces_of(vocabulary);
  }
  std::vector<std::string> specials;
  for (const JsonValue& added : all["added_tokens"].elements()) {
    std::string content;
    Index id = 0;
    if (!added["content"].to(content) || !added["id"].to(id))
      fail("{}: an added token has no content or no id", file.string());
    specials.push_back(content);
    pieces.put_special(content, id);
  }
  scores.resize(pieces.size());  // added tokens are never found by score: encode takes them out first

  StringPairs merges;
  for (const JsonValue& entry : model["merges"].elements()) merges.push_back(merge_of(entry));
  if (type == "WordPiece") {
    bool lower = true;
    all["normalizer"]["lowercase"].to(lower);
    return word_piece(std::move(pieces), lower);
  }
  if (type == "Unigram") {
    Index unknown = 0;
    model["unk_id"].to(unknown);
    unknown = std::clamp<Index>(unknown, -1, pieces.size());
    return unigram(std::move(pieces), scores, int(unknown), character_map_of(all["normalizer"]));
  }
  if (type == "BPE" && (mentions_byte_level(all["pre_tokenizer"]) || mentions_byte_level(all["decoder"])))
    return make_byte_level(pieces, specials, merges);
  if (type == "BPE") {
    MergeTable table;
    for (const auto& [left, right] : merges)
      table.emplace(pair_of(pieces.at(left), pieces.at(right)),
                    RankedMerge{int(table.size()), pieces.at(left + right)});
    std::string unknown;
    const int id = model["unk_token"].to(unknown) ? pieces.find(unknown) : 0;
    return sentence_bpe(std::move(pieces), table, id);
  }
  fail("{}: its model is '{:.40}'; BPE, Unigram and WordPiece are known here", file.string(), type);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder) {
  if (fs::is_regular_file(folder)) return from_tokenizer_json(folder);
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("tokenizer.json")) return from_tokenizer_json(folder / "tokenizer.json");
  if (has("vocab.json") && has("merges.txt")) {
    StringPairs merges;
    for (const std::string& line : lines_of(folder / "merges.txt"))
      if (!line.empty() && !line.starts_with("#version")) merges.push_back(merge_of(line));
    return make_byte_level(pieces_of(object_in(folder / "vocab.json")), {"<|endoftext|>"}, merges);
  }
  if (has("vocab.txt")) {
    Pieces pieces;
    for (std::string& line : lines_of(folder / "vocab.txt")) {
      const bool special = line.size() > 2 && line.front() == '[' && line.back() == ']';
      const int id = pieces.size();
      special ? pieces.put_special(std::move(line), id) : pieces.put(std::move(line), id);
    }
    const fs::path settings = folder / "tokenizer_config.json";
    bool lower = true;
    if (fs::exists(settings)) object_in(settings)["do_lower_case"].to(lower);
    return word_piece(std::move(pieces), lower);
  }
  fail("{}: there is no tokenizer in it: tokenizer.json, or vocab.json with merges.txt, or vocab.txt",
       folder.string());
}

// int32 longest; then for each piece float32 score, int32 length, its bytes. The piece of the pair with the
// highest score is merged first.
std::unique_ptr<Tokenizer> load_llama2c_tokenizer(const fs::path& file, Index vocabulary) {
  const std::string bytes = read_file(file);
  std::size_t at = 4;
  const auto take = [&](void* to, std::size_t size) {
    if (bytes.size() < at || size > bytes.size() - at)
      fail("{}: it ends in the middle of piece; {} were expected", file.string(), vocabulary);
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  Pieces pieces;
  std::vector<float> scores;
  for (Index id = 0; id < vocabulary; ++id) {
    float score = 0;
    std::int32_t length = 0;
    take(&score, 4);
    take(&length, 4);
    if (length < 0 || length > 1024) fail("{}: piece {} has a length of {}", file.string(), id, length);
    std::string piece(std::size_t(length), '\0');
    take(piece.data(), piece.size());
    // The file has plain spaces, and names for its first three pieces that no text spells.
    std::string written;
    for (const char byte : piece) byte == ' ' ? written += "▁" : written += byte;
    if (id < 3)
      pieces.put_special(id == 0 ? "<unk>" : id == 1 ? "<s>" : "</s>", int(id));
    else
      pieces.put(std::move(written), int(id));
    scores.push_back(score);
  }
  std::vector<int> by_score;
  for (int id = 3; id < pieces.size(); ++id) by_score.push_back(id);
  std::stable_sort(by_score.begin(), by_score.end(), [&](int a, int b) { return scores[a] > scores[b]; });
  MergeTable merges;
  for (int rank = 0; rank < int(by_score.size()); ++rank) {
    const std::string& piece = pieces.list[by_score[rank]];
    for (std::size_t cut = 1; cut < piece.size(); ++cut) {
      const int left = pieces.find(piece.substr(0, cut)), right = pieces.find(piece.substr(cut));
      if (left >= 0 && right >= 0) merges.emplace(pair_of(left, right), RankedMerge{rank, by_score[rank]});
    }
  }
  return sentence_bpe(std::move(pieces), merges, 0);
}

}  // namespace attn
