// Tokenizers of published models, against naive ones written from the published rules.
#include "nn/text/tokenizer.hpp"

#include <doctest/doctest.h>
#include <utf8proc.h>  // utf8proc_category

#include <cstring>     // memcpy
#include <filesystem>  // path, temp_directory_path
#include <fstream>     // ofstream
#include <functional>  // function
#include <map>         // map

#include "core/base64.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/rng.hpp"
#include "core/text.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

struct Folder : TemporaryFolder {
  void write(const char* name, const std::string& text) const { std::ofstream(path / name) << text; }
};

// GPT-2's expression as a backtracking matcher would run it, alternative by alternative, on code points.
using Codes = std::vector<char32_t>;
bool letter(char32_t c) {
  const auto k = utf8proc_category(int(c));
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool digit(char32_t c) {
  const auto k = utf8proc_category(int(c));
  return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}
bool space(char32_t c) {
  const auto k = utf8proc_category(int(c));
  return (c >= 9 && c <= 13) || c == 0x85 || k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL ||
         k == UTF8PROC_CATEGORY_ZP;
}
bool other(char32_t c) { return !space(c) && !letter(c) && !digit(c); }

std::size_t naive_match(const Codes& s, std::size_t at) {
  for (const std::u32string ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"})
    if (std::u32string(s.begin(), s.end()).substr(at).starts_with(ending)) return at + ending.size();
  for (const auto member : {letter, digit, other})
    for (const std::size_t skip : {1, 0}) {
      if (skip && s[at] != ' ') continue;
      std::size_t end = at + skip;
      while (end < s.size() && member(s[end])) ++end;
      if (end > at + skip) return end;
    }
  std::size_t end = at;
  while (end < s.size() && space(s[end])) ++end;
  for (std::size_t stop = end; stop > at; --stop)  // \s+(?!\S), giving back one at a time
    if (stop == s.size() || space(s[stop])) return stop;
  return end;
}

// Bytes, then the pair with the lowest rank everywhere, until none is left.
std::vector<std::string> naive_bpe(const std::string& word,
                                   const std::vector<std::pair<std::string, std::string>>& merges) {
  std::vector<std::string> parts;
  for (const char byte : word) parts.emplace_back(1, byte);
  while (true) {
    std::size_t best = merges.size();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      for (std::size_t rank = 0; rank < best; ++rank)
        if (merges[rank].first == parts[i] && merges[rank].second == parts[i + 1]) best = rank;
    if (best == merges.size()) return parts;
    std::vector<std::string> next;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool pair =
          i + 1 < parts.size() && parts[i] == merges[best].first && parts[i + 1] == merges[best].second;
      next.push_back(pair ? parts[i] + parts[i + 1] : parts[i]);
      i += pair;
    }
    parts = next;
  }
}

struct Made {
  Pieces pieces;
  std::vector<std::pair<std::string, std::string>> merges;
};

// A small byte-level vocabulary with the merges that our own BPE learns from a text.
Made made_gpt2() {
  Made made;
  for (int byte = 0; byte < 256; ++byte) made.pieces.put(std::string(1, char(byte)), 255 - byte);
  const std::vector<std::string> lines(
      3,
      "the theatre there, 's don't we're l'été éternel 나는 나 나는 1234 1212   then\n\n  the there's it'll");
  const BpeVocabulary learned = BpeVocabulary::learn(lines, {.merges = 60});
  for (const auto& merge : learned.merges()) {
    made.merges.emplace_back(learned.token(merge.left), learned.token(merge.right));
    made.pieces.put(made.merges.back().first + made.merges.back().second, made.pieces.size());
  }
  made.pieces.put_special("<|endoftext|>", made.pieces.size());
  return made;
}

std::string random_text(Rng& rng) {
  const std::vector<std::string> common = {" ",   "  ",   "the", "'s", "'ll", "'",
                                           "été", "나는", "12",  "\n", "\t",  " re"};
  std::string text;
  for (Index n = rng.below(20); n >= 0; --n) {
    const Index kind = rng.below(4);
    char32_t code = char32_t(rng.below(kind == 0 ? 0x80 : kind == 1 ? 0x3100 : 0x20000));
    if (kind == 3)
      text += common[rng.below(std::ssize(common))];
    else if (code < 0xD800 || code > 0xDFFF)
      text += to_utf8(code);
  }
  return text;
}

}  // namespace

TEST_CASE("GPT-2's words and pieces are those of the published rules, on 10,000 random texts") {
  const Made made = made_gpt2();
  const auto tokenizer = byte_level_bpe(made.pieces, made.merges);
  Rng rng(1);
  Index merged = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = random_text(rng);
    Codes codes;
    for (const Character& c : characters(text)) codes.push_back(c.code);
    std::vector<std::string> words;
    std::vector<int> ids;
    for (std::size_t at = 0; at < codes.size();) {
      const std::size_t end = naive_match(codes, at);
      std::string word;
      for (; at < end; ++at) word += to_utf8(codes[at]);
      words.push_back(word);
      for (const std::string& part : naive_bpe(word, made.merges)) {
        ids.push_back(made.pieces.at(part));
        merged += part.size() > 1;
      }
    }
    const auto cut = gpt2_words(text);
    REQUIRE(std::vector<std::string>(cut.begin(), cut.end()) == words);
    REQUIRE(tokenizer->encode(text) == ids);
    REQUIRE(tokenizer->decode(ids) == text);
  }
  CHECK(merged > 1000);
}

TEST_CASE(
    "GPT-2's files write bytes as visible characters, and bytes that are not UTF-8 survive the round trip") {
  CHECK(visible_bytes(" \n\xC3\xA9") == "ĠĊÃ©");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += char(byte);
  CHECK(bytes_of_visible(visible_bytes(all)) == all);
  const Made made = made_gpt2();
  const auto tokenizer = byte_level_bpe(made.pieces, made.merges);
  CHECK(tokenizer->decode(tokenizer->encode(all)) == all);
  CHECK(tokenizer->encode("the<|endoftext|>the") ==
        std::vector<int>{made.pieces.at("the"), made.pieces.size() - 1, made.pieces.at("the")});
}

TEST_CASE("vocab.json with merges.txt and tokenizer.json give the same byte-level tokenizer") {
  const Made made = made_gpt2();
  std::map<std::string, int> vocabulary;
  std::string merges = "#version: 0.2\n";
  std::vector<std::vector<std::string>> merge_list;
  for (int id = 0; id + 1 < made.pieces.size(); ++id) vocabulary[visible_bytes(made.pieces.list[id])] = id;
  vocabulary["<|endoftext|>"] = made.pieces.size() - 1;
  for (const auto& [left, right] : made.merges) {
    merges += visible_bytes(left) + " " + visible_bytes(right) + "\n";
    merge_list.push_back({visible_bytes(left), visible_bytes(right)});
  }
  const Folder folder;
  folder.write("vocab.json", Json(vocabulary).text);
  folder.write("merges.txt", merges);
  const std::string text = "then there's the été<|endoftext|> 나는\n";
  const auto two_files = load_tokenizer(folder.path);
  CHECK(two_files->encode(text) == byte_level_bpe(made.pieces, made.merges)->encode(text));
  const Json model = json_object({{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merge_list}});
  const Json special = json_object({{"id", made.pieces.size() - 1}, {"content", "<|endoftext|>"}});
  folder.write("tokenizer.json", json_object({{"model", model},
                                              {"pre_tokenizer", json_object({{"type", "ByteLevel"}})},
                                              {"added_tokens", std::vector{special}}})
                                     .text);
  CHECK(load_tokenizer(folder.path)->encode(text) == two_files->encode(text));
}

TEST_CASE("WordPiece takes the longest known piece, lower case and without accents") {
  const Folder folder;
  folder.write("vocab.txt",
               "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\ncafe\n,\n.\n中\nparis\n");
  const auto tokenizer = load_tokenizer(folder.path);
  const auto words = [&](std::string_view text) {
    std::string out;
    for (const int id : tokenizer->encode(text))
      out += (out.empty() ? "" : " ") + tokenizer->pieces().list[id];
    return out;
  };
  CHECK(words("Unaffable, Café.") == "un ##aff ##able , cafe .");
  CHECK(words("unaffablexyz") == "[UNK]");
  CHECK(words("中paris\u200b[MASK]paris") == "中 paris [MASK] paris");
  CHECK(words(std::string(101, 'a')) == "[UNK]");
  CHECK(tokenizer->for_model(tokenizer->encode("paris")) == std::vector<int>{2, 13, 3});
  CHECK(tokenizer->decode(tokenizer->encode("Unaffable Paris, cafe.")) == "unaffable paris, cafe.");
}

TEST_CASE("a unigram tokenizer finds the likeliest cut: no other cut of the text scores more") {
  Pieces pieces;
  std::vector<double> scores;
  Rng rng(3);
  const auto put = [&](const std::string& piece) {
    if (pieces.find(piece) >= 0) return;
    pieces.put(piece, pieces.size());
    scores.push_back(-1 - 10 * rng.uniform());
  };
  put("<unk>");
  put("</s>");
  for (const char* letter : {"a", "b", "▁"}) put(letter);
  for (int i = 0; i < 12; ++i) {
    std::string piece = rng.below(2) ? "▁" : "";
    for (Index n = 1 + rng.below(4); n > 0; --n) piece += rng.below(2) ? 'a' : 'b';
    put(piece);
  }
  const auto tokenizer = unigram(pieces, scores, 0);
  // Every way to cut, by recursion.
  const std::function<double(const std::string&)> best = [&](const std::string& text) {
    if (text.empty()) return 0.0;
    double most = -1e9;
    for (std::size_t n = 1; n <= text.size(); ++n)
      if (const int id = pieces.find(text.substr(0, n)); id >= 0)
        most = std::max(most, scores[id] + best(text.substr(n)));
    return most;
  };
  for (int i = 0; i < 50; ++i) {
    std::string text, letters = "▁";
    for (Index n = 1 + rng.below(8); n > 0; --n) {
      const bool gap = !text.empty() && text.back() != ' ' && n > 1 && rng.below(4) == 0;
      const char letter = rng.below(2) ? 'a' : 'b';
      text += gap ? ' ' : letter;
      letters += gap ? "▁" : std::string(1, letter);
    }
    double score = 0;
    const std::vector<int> ids = tokenizer->encode(text);
    for (const int id : ids) score += scores[id];
    CHECK(score == doctest::Approx(best(letters)));
    CHECK(tokenizer->decode(ids) == text);
  }
  CHECK(tokenizer->encode("aéé") == std::vector<int>{tokenizer->encode("a")[0], 0});  // unknown ones are one
  CHECK(tokenizer->for_model({5}) == std::vector<int>{5, 1});
}

// A map of characters as tokenizer.json keeps it, before base64: a double array, each offset the first that
// leaves all of a node's units free.
std::string packed_map(const std::map<std::string, std::string>& replacements) {
  struct Node {
    std::map<unsigned char, Node> next;
    int value = -1;
  };
  Node root;
  std::string texts;
  for (const auto& [from, to] : replacements) {
    Node* node = &root;
    for (const char byte : from) node = &node->next[static_cast<unsigned char>(byte)];
    node->value = int(texts.size());
    texts += to + '\0';
  }
  std::vector<std::uint32_t> units(4096);
  std::vector<bool> taken(units.size());
  taken[0] = true;
  const std::function<void(const Node&, std::uint32_t)> place = [&](const Node& node, std::uint32_t at) {
    std::uint32_t offset = 1;
    const auto fits = [&] {
      bool free = node.value < 0 || !taken[at ^ offset];
      for (const auto& [byte, child] : node.next) free = free && !taken[at ^ offset ^ byte];
      return free;
    };
    while (!fits()) ++offset;
    units[at] |= offset << 10 | std::uint32_t(node.value >= 0) << 8;
    if (node.value >= 0)
      taken[at ^ offset] = true, units[at ^ offset] = 0x80000000u | std::uint32_t(node.value);
    for (const auto& [byte, child] : node.next)
      taken[at ^ offset ^ byte] = true, units[at ^ offset ^ byte] = byte;
    for (const auto& [byte, child] : node.next) place(child, at ^ offset ^ byte);
  };
  place(root, 0);
  const std::uint32_t bytes = std::uint32_t(4 * units.size());
  std::string packed(reinterpret_cast<const char*>(&bytes), 4);
  return packed.append(reinterpret_cast<const char*>(units.data()), bytes) + texts;
}

TEST_CASE("a map of characters replaces the longest piece that it knows, and keeps what it does not") {
  const CharacterMap map(
      packed_map({{"ﬁ", "fi"}, {"①", "1"}, {"A", "a"}, {"e\u0301", "é"}, {"e", "E"}, {"\u200b", ""}}));
  CHECK(map("ﬁn ① A\u200bB") == "fin 1 aB");
  CHECK(map("e\u0301e") == "éE");
  CHECK(map("e\xcc") == "E\xcc");  // half of a longer one
  CHECK(map("") == "");
  CHECK(map("한\xff") == "한\xff");

  CHECK_THROWS_WITH_AS(CharacterMap(""), doctest::Contains("damaged"), Error);
  CHECK_THROWS_WITH_AS(CharacterMap(std::string("\0\0\0\0\0", 5)), doctest::Contains("trie of 0"), Error);
  CHECK_THROWS_WITH_AS(CharacterMap(std::string("\x08\0\0\0abcd", 8)), doctest::Contains("trie of 8"), Error);
  CHECK_THROWS_WITH_AS(CharacterMap(std::string("\4\0\0\0abcdx", 9)), doctest::Contains("no end"), Error);
}

TEST_CASE("a tokenizer.json with a map of characters uses it in place of NFKC, alone or in a sequence") {
  const Folder folder;
  const Json map =
      json_object({{"type", "Precompiled"}, {"precompiled_charsmap", base64(packed_map({{"x", "b"}}))}});
  const Json strip = json_object({{"type", "Strip"}});
  const Json model =
      Json::written(R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-1],["a",-2],["b",-3]]})");
  for (const Json& normalizer :
       {map, json_object({{"type", "Sequence"}, {"normalizers", std::vector{strip, map}}})}) {
    folder.write("tokenizer.json", json_object({{"normalizer", normalizer}, {"model", model}}).text);
    CHECK(load_tokenizer(folder.path)->encode("axﬁ") == std::vector<int>{1, 2, 3, 0});
  }
}

TEST_CASE("SentencePiece BPE merges over the whole text and writes what it does not know as bytes") {
  std::map<std::string, int> vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  int next = 259;
  for (const char* piece : {"▁", "a", "b", "▁a", "ab", "▁ab", "a▁"}) vocabulary[piece] = next++;
  const Folder folder;
  const Json model = json_object({{"type", "BPE"},
                                  {"unk_token", "<unk>"},
                                  {"vocab", vocabulary},
                                  {"merges", std::vector{"▁ a", "a b", "▁ ab"}}});
  const Json specials = Json::written(R"([{"id":1,"content":"<s>"},{"id":2,"content":"</s>"}])");
  folder.write("tokenizer.json", json_object({{"model", model}, {"added_tokens", specials}}).text);
  const auto tokenizer = load_tokenizer(folder.path);
  const int at = vocabulary["▁a"], b = vocabulary["b"], ab = vocabulary["ab"];
  CHECK(tokenizer->encode("abab") == std::vector<int>{at, b, ab});
  CHECK(tokenizer->decode(tokenizer->encode("ab é\nab")) == "ab é\nab");
  CHECK(tokenizer->encode("é") == std::vector<int>{vocabulary["▁"], 3 + 0xC3, 3 + 0xA9});
  CHECK(tokenizer->for_model({at}) == std::vector<int>{1, at});
}

TEST_CASE("llama2.c's tokenizer file merges the piece with the highest score first") {
  std::string bytes("\4\0\0\0", 4);
  const auto put = [&](float score, const std::string& piece) {
    const std::int32_t length = std::int32_t(piece.size());
    char head[8];
    std::memcpy(head, &score, 4);
    std::memcpy(head + 4, &length, 4);
    bytes.append(head, 8).append(piece);
  };
  for (const char* name : {"<unk>", "\n<s>\n", "\n</s>\n"}) put(0, name);
  for (const char* letter : {" ", "a", "b"}) put(-100, letter);
  put(-1, "ab");
  put(-2, " a");
  put(-3, " ab");
  const Folder folder;
  folder.write("tok.bin", bytes);
  const auto tokenizer = load_llama2c_tokenizer(folder.path / "tok.bin", 9);
  CHECK(tokenizer->encode("abab") == std::vector<int>{8, 6});
  CHECK(tokenizer->decode({8, 6}) == "abab");
  CHECK_THROWS_AS(load_llama2c_tokenizer(folder.path / "tok.bin", 10), Error);
}

TEST_CASE("a damaged tokenizer is refused in one line") {
  const Folder folder;
  CHECK_THROWS_WITH(load_tokenizer(folder.path), doctest::Contains("vocab.json with merges.txt"));
  const auto refuses = [&](const std::string& text) {
    folder.write("tokenizer.json", text);
    try {
      load_tokenizer(folder.path);
    } catch (const Error& error) {
      return std::string_view(error.what()).find('\n') == std::string_view::npos;
    }
    return false;
  };
  CHECK(refuses("{"));
  CHECK(refuses("[]"));
  CHECK(refuses("{}"));
  CHECK(refuses(R"({"model":{"type":"BPE","vocab":{"a":-1}}})"));
  CHECK(refuses(R"({"model":{"type":"BPE","vocab":{"a":2000000000}}})"));
  CHECK(refuses(R"({"model":{"type":"BPE","vocab":{"a":0,"b":0}}})"));
  CHECK(refuses(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a a"]}})"));
  CHECK(refuses(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[7]}})"));
  CHECK(refuses(R"({"model":{"type":"Unigram","vocab":[["a",0]],"unk_id":5}})"));
  CHECK(refuses(R"({"model":{"type":"Unigram","vocab":[["a","b"]]}})"));
  CHECK(refuses(R"({"model":{"type":"WordPiece","vocab":{"a":0}}})"));
  CHECK(refuses(R"({"model":{"type":"Magic","vocab":{"a":0}}})"));
}
