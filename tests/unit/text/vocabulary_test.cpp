#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>    // steady_clock
#include <iterator>  // ssize
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/characters.hpp"
#include "nn/text/vocabulary.hpp"

using namespace attn;

namespace {

const std::vector<std::string> lines = {"L'homme n'est-il pas ici ?",   "J'ai vu l'homme, n'est-ce pas ?",
                                        "A-t-elle mangé aujourd'hui ?", "It isn't 3.50 € (or is it?)",
                                        "the dog's bone: 100% \"his\"", "고양이는 사과를 먹어요.",
                                        "고양이가 사과 두 개를 봐요.",  "우리 고양이를 봤어요?"};

std::string random_bytes(std::mt19937_64& random, int length) {
  std::string text;
  for (int i = 0; i < length; ++i) text += static_cast<char>(random() % 256);
  return text;
}

std::vector<std::string> labels(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<std::string> result;
  for (const int id : vocabulary.encode(text)) result.push_back(vocabulary.label(id));
  return result;
}

std::vector<std::unique_ptr<Vocabulary>> one_of_each(const std::vector<std::string>& specials) {
  std::vector<std::unique_ptr<Vocabulary>> all;
  all.push_back(std::make_unique<WordVocabulary>(WordVocabulary::learn(lines, specials)));
  all.push_back(std::make_unique<CharacterVocabulary>(CharacterVocabulary::learn(lines, specials)));
  all.push_back(std::make_unique<ByteVocabulary>(specials));
  all.push_back(
      std::make_unique<BpeVocabulary>(BpeVocabulary::learn(lines, {.merges = 50, .specials = specials})));
  return all;
}

// Byte pair encoding as it is defined: count everything again after every merge.
std::vector<BpeVocabulary::Merge> slow_merges(const std::vector<std::string>& text, int first_byte,
                                              int count) {
  std::vector<std::vector<int>> words;
  for (const std::string& line : text)
    for (const std::string_view word : bpe_words(line)) {
      words.emplace_back();
      for (const char byte : word) words.back().push_back(first_byte + static_cast<unsigned char>(byte));
    }
  std::vector<BpeVocabulary::Merge> merges;
  while (int(merges.size()) < count) {
    std::map<std::pair<int, int>, int> pairs;
    for (const auto& word : words)
      for (Index i = 0; i + 1 < std::ssize(word); ++i) ++pairs[{word[i], word[i + 1]}];
    std::pair<int, int> best;
    int most = 1;
    for (const auto& [pair, times] : pairs)  // in the order of the ids: the first of equals stays
      if (times > most) {
        best = pair;
        most = times;
      }
    if (most < 2) break;
    const int merged = first_byte + 256 + int(merges.size());
    for (auto& word : words) word = merge_pair(word, best.first, best.second, merged);
    merges.push_back({best.first, best.second});
  }
  return merges;
}

}  // namespace

TEST_CASE("merges that double a token end where words do") {
  std::string saved = "vocabulary bpe\nmerge 4 4\n";
  for (int id = 260; id < 320; ++id) saved += fmt::format("merge {} {}\n", id, id);
  CHECK_THROWS_WITH_AS(load_vocabulary(saved),
                       "bpe: the merge of 265 and 265 is a token of 128 bytes; no word has more than 67",
                       Error);
}

TEST_CASE("hundreds of thousands of unknown or odd words are listed in a moment") {
  std::string words, elisions, particles;
  for (int i = 0; i < 150'000; ++i) words += fmt::format("w{} ", i), elisions += "ab'", particles += "는";
  const auto start = std::chrono::steady_clock::now();
  const WordVocabulary vocabulary = WordVocabulary::learn({"나 나는", particles});
  CHECK(vocabulary.unknown(words).size() == 150'000);
  CHECK(vocabulary.unknown(elisions).size() > 0);
  CHECK(vocabulary.encode(particles).size() > 0);
  std::string specials = "vocabulary byte\n";
  for (int i = 0; i < 50'000; ++i) specials += fmt::format("special s{}\n", i);
  CHECK(load_vocabulary(specials)->size() == 50'260);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("every vocabulary starts with pad, bos, eos, unk and the special tokens asked for") {
  for (const auto& vocabulary : one_of_each({"[MASK]", "<extra_id_0>"})) {
    CAPTURE(vocabulary->name());
    CHECK(vocabulary->token(Vocabulary::pad) == "<pad>");
    CHECK(vocabulary->token(Vocabulary::bos) == "<bos>");
    CHECK(vocabulary->token(Vocabulary::eos) == "<eos>");
    CHECK(vocabulary->token(Vocabulary::unk) == "<unk>");
    CHECK(vocabulary->special("[MASK]") == 4);
    CHECK(vocabulary->special("<extra_id_0>") == 5);
    CHECK(vocabulary->is_special(5));
    CHECK_FALSE(vocabulary->is_special(6));
    CHECK_THROWS_WITH_AS(vocabulary->special("[CLS]"),
                         "vocabulary: there is no special token [CLS]; name it when the vocabulary is made",
                         Error);
    CHECK_THROWS_AS(vocabulary->token(vocabulary->size()), Error);
    CHECK_THROWS_AS(vocabulary->decode({-1}), Error);
  }
  CHECK_THROWS_AS(ByteVocabulary({"[MASK]", "[MASK]"}), Error);
}

TEST_CASE("text that spells a special token does not become one") {
  for (const auto& vocabulary : one_of_each({"[MASK]"})) {
    for (const int id : vocabulary->encode("<eos> [MASK] <pad>"))
      if (id != Vocabulary::unk) CHECK_FALSE(vocabulary->is_special(id));
  }
}

TEST_CASE("decoding leaves out padding and bos, stops at eos and names the other special tokens") {
  const WordVocabulary words = WordVocabulary::learn({"a b c"}, {"[MASK]"});
  const int a = words.id("a"), c = words.id("c"), mask = words.special("[MASK]");
  CHECK(words.decode({0, 1, a, mask, 3, 0, c, 2, a}) == "a [MASK] <unk> c");
  CHECK(words.decode({}) == "");
}

TEST_CASE("every vocabulary gives its training text back to the byte") {
  for (const auto& vocabulary : one_of_each({})) {
    for (const std::string& line : lines) {
      CAPTURE(vocabulary->name());
      CHECK(vocabulary->decode(vocabulary->encode(line)) == line);
      CHECK(vocabulary->unknown(line).empty());
    }
  }
}

TEST_CASE("bytes and bpe give back any bytes, valid UTF-8 or not") {
  const ByteVocabulary bytes;
  const BpeVocabulary pieces = BpeVocabulary::learn(lines, {.merges = 60});
  std::mt19937_64 random(3);
  for (int length = 0; length < 300; ++length) {
    const std::string text = random_bytes(random, length);
    CHECK(bytes.decode(bytes.encode(text)) == text);
    CHECK(pieces.decode(pieces.encode(text)) == text);
  }
  for (const std::string& text :
       {std::string(1, '\0'), std::string("  two  spaces \n\t end  "), std::string("l'’'")})
    CHECK(pieces.decode(pieces.encode(text)) == text);
}

TEST_CASE("a saved vocabulary loads as the same vocabulary, and saves as valid UTF-8") {
  for (const auto& vocabulary : one_of_each({"[MASK]", "odd \\ name\n"})) {
    const std::string saved = vocabulary->save();
    const auto loaded = load_vocabulary(saved);
    CAPTURE(saved);
    CHECK(first_invalid_byte(saved) == std::string::npos);
    CHECK(loaded->name() == vocabulary->name());
    CHECK(loaded->save() == saved);
    REQUIRE(loaded->size() == vocabulary->size());
    for (int id = 0; id < loaded->size(); ++id) CHECK(loaded->token(id) == vocabulary->token(id));
    for (const std::string& line : lines) CHECK(loaded->encode(line) == vocabulary->encode(line));
  }
  const CharacterVocabulary stray = CharacterVocabulary::learn({"a\xFF\\ \n"});
  CHECK(load_vocabulary(stray.save())->encode("\xFF\\ \n") == stray.encode("\xFF\\ \n"));
}

TEST_CASE("what is not a saved vocabulary is refused with its line") {
  CHECK_THROWS_WITH_AS(load_vocabulary(""),
                       "load_vocabulary: '' is not a kind of vocabulary: word, character, byte or bpe",
                       Error);
  CHECK_THROWS_AS(load_vocabulary("vocabulary pictures\n"), Error);
  CHECK_THROWS_WITH_AS(load_vocabulary("vocabulary word\nrubbish\n"),
                       "load_vocabulary: line 2: 'rubbish' is not a line of a saved vocabulary", Error);
  CHECK_THROWS_AS(load_vocabulary("vocabulary word\ntoken \\4"), Error);
  CHECK_THROWS_WITH_AS(load_vocabulary("vocabulary bpe\nmerge 4\n"),
                       "load_vocabulary: line 2: a merge is two ids, not '4'", Error);
  CHECK_THROWS_AS(load_vocabulary("vocabulary bpe\nmerge 4 900\n"), Error);
  CHECK_THROWS_AS(load_vocabulary("vocabulary bpe\nmerge 4 5 6\n"), Error);
}

TEST_CASE("words are cut at elisions, hyphens and punctuation") {
  using Words = std::vector<std::string>;
  CHECK(split_words("L'homme n'est-il pas ici ?") ==
        Words{"L'", "homme", "n'", "est", "-il", "pas", "ici", "_?"});
  CHECK(split_words("Isn't it? (No.)") == Words{"Isn't", "it", "?", "(", "No", ".", ")"});
  CHECK(split_words("aujourd'hui qu’il") == Words{"aujourd'hui", "qu’", "il"});
  CHECK(split_words("3.5 + 1_0") == Words{"3", ".", "+5", "+", "1", "+_", "+0"});
  CHECK(split_words("") == Words{});
}

TEST_CASE("odd spacing is remembered by marks, so that words give it back") {
  const std::vector<std::string> odd = {"a+b _c_ + _", "( a )",    "x - y--z -w", "« oui »",
                                        "'quoted'",    "l' homme", "a.b . c",     "++ __ +_",
                                        "100 %",       "n'",       "…et puis…"};
  const WordVocabulary words = WordVocabulary::learn(odd);
  for (const std::string& text : odd) CHECK(words.decode(words.encode(text)) == text);
}

TEST_CASE("Korean particles are cut off a stem that occurs with another ending, and only then") {
  const WordVocabulary words = WordVocabulary::learn(lines);
  using Words = std::vector<std::string>;
  CHECK(labels(words, "고양이를 봐요.") == Words{"고양이", "+를", "봐요", "."});
  CHECK(words.id("고양") == Vocabulary::unk);      // 고양이 is no 고양 + 이
  CHECK(words.id("고양이는") == Vocabulary::unk);  // it is never needed whole
  CHECK(labels(words, "사과가 두 개를") ==
        Words{"사과", "+가", "두", "개를"});  // a combination not seen in the text
}

TEST_CASE("words that were never seen become unk and can be asked for") {
  const WordVocabulary words = WordVocabulary::learn({"the cat sleeps.", "l'homme"});
  CHECK(words.encode("the dog sleeps") ==
        std::vector<int>{words.id("the"), Vocabulary::unk, words.id("sleeps")});
  CHECK(words.unknown("the dog, l'été, the dog!") == std::vector<std::string>{"dog", ",", "été", "!"});
  CHECK(words.decode(words.encode("the dog sleeps.")) == "the <unk> sleeps.");
  CHECK(CharacterVocabulary::learn({"abc"}).unknown("abéa é") == std::vector<std::string>{"é", " "});
  CHECK(ByteVocabulary().unknown("é").empty());
}

TEST_CASE("words are numbered by frequency, then by spelling") {
  const WordVocabulary words = WordVocabulary::learn({"c b a c b c d"});
  CHECK(words.size() == 8);
  CHECK(words.encode("c b a d") == std::vector<int>{4, 5, 6, 7});
}

TEST_CASE("a merge uses every id once, from left to right") {
  CHECK(merge_pair({1, 1, 1}, 1, 1, 9) == std::vector<int>{9, 1});
  CHECK(merge_pair({1, 1, 1, 1}, 1, 1, 9) == std::vector<int>{9, 9});
  CHECK(merge_pair({1, 2, 1, 2, 1}, 1, 2, 9) == std::vector<int>{9, 9, 1});
  CHECK(merge_pair({2, 1}, 1, 2, 9) == std::vector<int>{2, 1});
  CHECK(merge_pair({}, 1, 2, 9).empty());
}

TEST_CASE("the fast way of learning merges finds those of the definition") {
  std::vector<std::string> text = lines;
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {  // few letters, so that pairs overlap and tie
    std::string line;
    for (int j = 0; j < 40; ++j) line += "aab c"[random() % 5];
    text.push_back(line);
  }
  const auto expected = slow_merges(text, 4, 120);
  CHECK(expected.size() == 120);
  CHECK(BpeVocabulary::learn(text, {.merges = 120}).merges() == expected);
  const auto all = slow_merges(lines, 5, 10000);  // until no pair occurs twice
  CHECK(BpeVocabulary::learn(lines, {.merges = 10000, .specials = {"[MASK]"}}).merges() == all);
}

TEST_CASE("a word that was learned is encoded as learning left it") {
  const BpeVocabulary pieces =
      BpeVocabulary::learn({"low low low lower lower newest newest newest widest"}, {.merges = 20});
  CHECK(labels(pieces, " lower") == std::vector<std::string>{"␣lower"});
  CHECK(labels(pieces.with_merges(0), "low") == std::vector<std::string>{"l", "o", "w"});
  const Index learned = std::ssize(pieces.merges());
  CHECK(pieces.with_merges(learned).save() == pieces.save());
  CHECK_THROWS_AS(pieces.with_merges(learned + 1), Error);
  Index longest = 99;
  for (Index merges = 0; merges <= learned; ++merges) {  // every merge shortens, or leaves
    const Index length = std::ssize(pieces.with_merges(merges).encode("lower newest widest"));
    CHECK(length <= longest);
    longest = length;
  }
}

TEST_CASE("merges are applied in the order they were learned") {
  const int a = 4 + 'a', b = 4 + 'b', c = 4 + 'c', first = 4 + 256;
  CHECK(BpeVocabulary({}, {{a, b}, {b, c}}).encode("abc") == std::vector<int>{first, c});
  CHECK(BpeVocabulary({}, {{b, c}, {a, b}}).encode("abc") == std::vector<int>{a, first});
}

TEST_CASE("bpe words put together are the text, and none is long") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    const std::string text = random_bytes(random, 500) + std::string(300, 'x') + lines[0];
    std::string again;
    for (const std::string_view word : bpe_words(text)) {
      CHECK(!word.empty());
      CHECK(word.size() <= 67);
      again += word;
    }
    CHECK(again == text);
  }
  CHECK(bpe_words("the dogs  don't\n42") ==
        std::vector<std::string_view>{"the", " dogs", " ", " don'", "t", "\n", "42"});
}

TEST_CASE("a line of a million letters is encoded and given back") {
  const BpeVocabulary pieces = BpeVocabulary::learn(lines, {.merges = 60});
  const std::string text(1000000, 'a');
  CHECK(pieces.decode(pieces.encode(text)) == text);
}

TEST_CASE("threads may share a bpe vocabulary") {
  const BpeVocabulary pieces = BpeVocabulary::learn(lines, {.merges = 60});
  std::vector<std::vector<int>> results(2);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&pieces, &result] {
      for (int round = 0; round < 50; ++round)
        for (const std::string& line : lines) result = pieces.encode(line);
    });
  for (auto& thread : threads) thread.join();
  CHECK(results[0] == results[1]);
}
