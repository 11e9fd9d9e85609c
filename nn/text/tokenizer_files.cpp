// The files that published models keep their tokenizers in.
#include "nn/text/tokenizer.hpp"

#include <algorithm>          // clamp, find, min, stable_sort
#include <cstring>            // memcpy
#include <nlohmann/json.hpp>  // json

#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/text.hpp"  // read_file

namespace attn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using StringPairs = std::vector<std::pair<std::string, std::string>>;

json read_json(const fs::path& file) {
  const json value = parse_json(read_file(file));
  if (!value.is_object()) fail("{}: not a JSON object", file.string());
  return value;
}

// The value at a path of keys, or null where one is missing.
const json& within(const json& value, std::initializer_list<const char*> keys) {
  static const json missing;
  const json* at = &value;
  for (const char* key : keys) {
    if (!at->is_object() || !at->contains(key)) return missing;
    at = &(*at)[key];
  }
  return *at;
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
std::pair<std::string, std::string> merge_of(const json& entry) {
  if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string())
    return {entry[0], entry[1]};
  const std::string text = entry.is_string() ? entry.get<std::string>() : "";
  const std::size_t space = text.find(' ', 1);
  if (space == std::string::npos || space + 1 == text.size())
    fail("tokenizer: '{:.60}' is not a pair of pieces to merge", entry.dump(-1, ' ', true));
  return {text.substr(0, space), text.substr(space + 1)};
}

// Ids may have gaps, but not many more than there are pieces.
Index most_ids(const json& vocabulary) { return 1000 + 4 * Index(vocabulary.size()); }

Pieces pieces_of(const json& vocabulary) {
  if (!vocabulary.is_object()) fail("tokenizer: its vocabulary is not an object of pieces and ids");
  Pieces pieces;
  pieces.most = most_ids(vocabulary);
  for (const auto& [piece, id] : vocabulary.items()) {
    if (!id.is_number_integer()) fail("tokenizer: the id of '{:.60}' is not a whole number", piece);
    pieces.put(piece, id.get<Index>());
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
std::optional<CharacterMap> character_map_of(const json& normalizer) {
  json all = within(normalizer, {"normalizers"});
  if (!all.is_array()) all = json::array({normalizer});
  for (const json& one : all)
    if (const json& text = within(one, {"precompiled_charsmap"}); text.is_string())
      return CharacterMap(decode_base64(text.get_ref<const std::string&>()));
  return {};
}

bool mentions_byte_level(const json& part) { return part.dump().find("\"ByteLevel\"") != std::string::npos; }

std::unique_ptr<Tokenizer> from_tokenizer_json(const fs::path& file) {
  const json all = read_json(file);
  const json& model = within(all, {"model"});
  const std::string type = within(model, {"type"}).is_string() ? model["type"].get<std::string>() : "";
  const json& vocabulary = within(model, {"vocab"});

  Pieces pieces;
  std::vector<double> scores;
  pieces.most = most_ids(vocabulary);
  if (vocabulary.is_array()) {  // Unigram: [["▁the", -3.2], …]
    for (const json& entry : vocabulary) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        fail("{}: '{:.60}' is not a piece and its score", file.string(), entry.dump(-1, ' ', true));
      pieces.put(entry[0], int(scores.size()));
      scores.push_back(entry[1]);
    }
  } else {
    pieces = pieces_of(vocabulary);
  }
  std::vector<std::string> specials;
  for (const json& added : within(all, {"added_tokens"})) {
    if (!within(added, {"content"}).is_string() || !within(added, {"id"}).is_number_integer())
      fail("{}: an added token has no content or no id", file.string());
    specials.push_back(added["content"]);
    pieces.put_special(added["content"], added["id"].get<Index>());
  }
  scores.resize(pieces.size());  // added tokens are never found by score: encode takes them out first

  StringPairs merges;
  for (const json& entry : within(model, {"merges"})) merges.push_back(merge_of(entry));
  if (type == "WordPiece") {
    const json& lower = within(all, {"normalizer", "lowercase"});
    return word_piece(std::move(pieces), !lower.is_boolean() || lower.get<bool>());
  }
  const json& unknown = within(model, {type == "Unigram" ? "unk_id" : "unk_token"});
  if (type == "Unigram")
    return unigram(
        std::move(pieces), scores,
        unknown.is_number_integer() ? int(std::clamp<Index>(unknown.get<Index>(), -1, pieces.size())) : 0,
        character_map_of(within(all, {"normalizer"})));
  if (type == "BPE" &&
      (mentions_byte_level(within(all, {"pre_tokenizer"})) || mentions_byte_level(within(all, {"decoder"}))))
    return make_byte_level(pieces, specials, merges);
  if (type == "BPE") {
    MergeTable table;
    for (const auto& [left, right] : merges)
      table.emplace(pair_of(pieces.at(left), pieces.at(right)),
                    RankedMerge{int(table.size()), pieces.at(left + right)});
    return sentence_bpe(std::move(pieces), table,
                        unknown.is_string() ? pieces.find(unknown.get<std::string>()) : 0);
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
    return make_byte_level(pieces_of(read_json(folder / "vocab.json")), {"<|endoftext|>"}, merges);
  }
  if (has("vocab.txt")) {
    Pieces pieces;
    for (std::string& line : lines_of(folder / "vocab.txt")) {
      const bool special = line.size() > 2 && line.front() == '[' && line.back() == ']';
      const int id = pieces.size();
      special ? pieces.put_special(std::move(line), id) : pieces.put(std::move(line), id);
    }
    const fs::path settings = folder / "tokenizer_config.json";
    const json lower = fs::exists(settings) ? within(read_json(settings), {"do_lower_case"}) : json(true);
    return word_piece(std::move(pieces), !lower.is_boolean() || lower.get<bool>());
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
