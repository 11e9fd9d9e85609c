#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "nn/text/corpus.hpp"
#include "tests/unit/temporary_folder.hpp"

using namespace attn;

namespace {

class Files {
 public:
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  TemporaryFolder folder_;
};

// The error of reading this file, without its folder; "" if there is none.
std::string error_of(Files& files, const std::string& content) {
  const std::string path = files.write("c.tsv", content);
  try {
    read_pairs(path);
  } catch (const Error& error) {
    return std::string(error.what()).substr(path.size() - 5);
  }
  return "";
}

}  // namespace

TEST_CASE("an endless line, a device or a folder is refused") {
  Files files;
  const std::string million(1'000'000, 'x');
  CHECK(read_pairs(files.write("a.tsv", million.substr(2) + "\ty")).size() == 1);
  CHECK(read_pairs(files.write("a.tsv", million.substr(2) + "\ty\n\na\tb")).size() == 2);
  CHECK_THROWS_WITH_AS(read_pairs(files.write("a.tsv", "a\tb\n" + million + "\ty\n")),
                       doctest::Contains("a.tsv:2: a line of more than 1000000 bytes"), Error);
  CHECK_THROWS_WITH_AS(read_pairs("/dev/zero"), "/dev/zero: is a device, not a file of sentences", Error);
}

TEST_CASE("tab-separated pairs are read, further columns ignored") {
  Files files;
  const auto pairs = read_pairs(files.write("c.tsv", "Go.\tVa !\tCC-BY\tmore\nHi.\tSalut !\n"));
  CHECK(pairs == std::vector<Pair>{{"Go.", "Va !"}, {"Hi.", "Salut !"}});
  CHECK(source_lines(pairs) == std::vector<std::string>{"Go.", "Hi."});
  CHECK(target_lines(pairs) == std::vector<std::string>{"Va !", "Salut !"});
}

TEST_CASE("a byte order mark, CRLF, blank lines and a missing last newline are no trouble") {
  Files files;
  const auto pairs =
      read_pairs(files.write("c.tsv", "\xEF\xBB\xBFGo.\tVa !\r\n\r\n   \n\t\nHi.\tSalut !\tCC\r\nA\tB"));
  CHECK(pairs == std::vector<Pair>{{"Go.", "Va !"}, {"Hi.", "Salut !"}, {"A", "B"}});
}

TEST_CASE("Unicode spaces become plain ones") {
  Files files;
  const std::string path = files.write("c.tsv", " Go. \tVa\u202F!\u00A0 Oui\n");
  CHECK(read_pairs(path) == std::vector<Pair>{{"Go.", "Va ! Oui"}});
}

TEST_CASE("a bad line is refused by its number") {
  Files files;
  CHECK(error_of(files, "a\tb\n\nno tab here\n") == "c.tsv:3: no tab between the two sentences");
  CHECK(error_of(files, "\tb\n") == "c.tsv:1: nothing before the tab");
  CHECK(error_of(files, "a\t \u00A0\n") == "c.tsv:1: nothing after the tab");
  CHECK(error_of(files, "a\tb\na\tb\xFF\n") ==
        "c.tsv:2: byte 4 of the line is not UTF-8 (save the file as UTF-8)");
  CHECK(error_of(files, "\n\n") == "c.tsv: no pair of sentences in it");
}

TEST_CASE("a line of 100,000 characters is read") {
  Files files;
  const std::string longest(100000, 'x');
  CHECK(read_pairs(files.write("c.tsv", longest + "\ty\n")) == std::vector<Pair>{{longest, "y"}});
}

TEST_CASE("a file that is missing, or is a folder, is named") {
  Files files;
  CHECK_THROWS_WITH_AS(read_pairs("no/such/file"), "no/such/file: cannot be read: No such file or directory",
                       Error);
  CHECK_THROWS_AS(read_pairs(files.path(".")), Error);
}

TEST_CASE("two aligned files are read line by line") {
  Files files;
  const std::string english = files.write("a.en", "Go.\r\n\nHi.\n"),
                    french = files.write("a.fr", "Va !\n\r\nSalut !");
  CHECK(read_aligned(english, french) == std::vector<Pair>{{"Go.", "Va !"}, {"Hi.", "Salut !"}});
}

TEST_CASE("aligned files that do not fit are refused by file and line") {
  Files files;
  const auto error = [&](const std::string& english, const std::string& french) -> std::string {
    const std::string a = files.write("a.en", english), b = files.write("a.fr", french);
    try {
      read_aligned(a, b);
    } catch (const Error& thrown) {
      std::string text = thrown.what();
      const std::string folder = a.substr(0, a.size() - 4);
      for (std::size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
      return text;
    }
    return "";
  };
  CHECK(error("a\nb\n", "a\n") == "a.fr: ends before a.en:2: the files must have the same number of lines");
  CHECK(error("a\n", "a\nb\n") == "a.en: ends before a.fr:2: the files must have the same number of lines");
  CHECK(error("a\n\n", "a\nb\n") == "a.en:2: an empty line, but not in a.fr");
  CHECK(error("a\nb\n", "a\n\n") == "a.fr:2: an empty line, but not in a.en");
  CHECK(error("a\nb\n", "a\nb\xFF\n") == "a.fr:2: byte 2 of the line is not UTF-8 (save the file as UTF-8)");
  CHECK(error("", "") == "a.en: no sentence in it");
}

namespace {

std::vector<Pair> many_pairs() {
  std::vector<Pair> pairs;
  for (int i = 0; i < 300; ++i) {
    const std::string source =
        "sentence" + std::string(i % 3 == 0 ? " with more words" : "") + std::to_string(i / 2);
    pairs.push_back({source, "translation " + std::to_string(i)});
  }
  return pairs;
}

}  // namespace

TEST_CASE("a split keeps all translations of a sentence on one side and loses none") {
  const auto pairs = many_pairs();
  const Split split = split_by_source(pairs, {.test = 40, .validation = 11, .seed = 5});
  CHECK(split.test.size() == 40);
  CHECK(split.validation.size() == 11);

  std::multiset<std::string> translations;
  std::set<std::string> trained;
  for (const Pair& pair : split.train) {
    trained.insert(pair.source);
    translations.insert(pair.target);
  }
  std::set<std::string> held_out;
  for (const auto* part : {&split.test, &split.validation})
    for (const TestSentence& sentence : *part) {
      CHECK(trained.count(sentence.source) == 0);
      CHECK(held_out.insert(sentence.source).second);
      std::vector<std::string> expected;
      for (const Pair& pair : pairs)
        if (pair.source == sentence.source) expected.push_back(pair.target);
      CHECK(sentence.references == expected);
      translations.insert(sentence.references.begin(), sentence.references.end());
    }
  CHECK(translations.size() == pairs.size());
}

TEST_CASE("a split repeats by its seed, can be kept to short sentences, and says when it cannot be made") {
  const auto pairs = many_pairs();
  const auto sentences = [&](std::uint64_t seed, Index max_words) {
    std::vector<std::string> result;
    for (const auto& sentence :
         split_by_source(pairs, {.test = 30, .max_words = max_words, .seed = seed}).test)
      result.push_back(sentence.source);
    return result;
  };
  CHECK(sentences(1, 0) == sentences(1, 0));
  CHECK(sentences(1, 0) != sentences(2, 0));
  for (const std::string& source : sentences(1, 1)) CHECK(source.find(' ') == std::string::npos);
  CHECK_THROWS_AS(split_by_source(pairs, {.test = 300}), Error);
  CHECK_THROWS_AS(split_by_source(pairs, {.test = -1}), Error);
}

TEST_CASE("a corpus that does not fit into memory comes in portions, which together have every pair once") {
  Files files;
  std::string text;
  for (const Pair& pair : many_pairs()) text += pair.source + '\t' + pair.target + '\n';
  const PairFile file{files.write("c.tsv", text)};
  std::multiset<std::string> expected;
  for (const Pair& pair : many_pairs()) expected.insert(pair.target);

  for (const Index in_memory : {300, 299, 70, 1}) {
    Corpus corpus(file, in_memory);
    CAPTURE(in_memory);
    CHECK(corpus.pairs() == 300);
    CHECK(corpus.portions() == (300 + in_memory - 1) / in_memory);
    std::multiset<std::string> targets;
    for (Index p = 0; p < corpus.portions(); ++p)
      for (const Pair& pair : corpus.portion(p)) targets.insert(pair.target);
    CHECK(targets == expected);
    CHECK(corpus.portion(0) == corpus.portion(0));
  }
  CHECK(Corpus(file, 300).portion(0) == many_pairs());
  const std::vector<Pair> portion = Corpus(file, 70).portion(1);  // neither the first pairs nor the last
  CHECK(portion.size() > 30);
  CHECK(portion.size() < 90);
}

TEST_CASE("what is held out of a corpus is in no portion, and has all translations of the file") {
  Files files;
  std::string text;
  for (const Pair& pair : many_pairs()) text += pair.source + '\t' + pair.target + '\n';
  for (const Index in_memory : {300, 100}) {
    CAPTURE(in_memory);
    Corpus corpus({files.write("c.tsv", text)}, in_memory);
    Split split = split_by_source(corpus.portion(0), {.test = 15});
    corpus.hold_out(split.test);
    std::map<std::string, std::multiset<std::string>> expected, found;
    for (const TestSentence& sentence : split.test)
      found[sentence.source].insert(sentence.references.begin(), sentence.references.end());
    std::multiset<std::string> rest, expected_rest;
    for (const Pair& pair : many_pairs())
      (found.contains(pair.source) ? expected[pair.source] : expected_rest).insert(pair.target);
    CHECK(found == expected);
    for (Index p = 0; p < corpus.portions(); ++p)
      for (const Pair& pair : corpus.portion(p)) rest.insert(pair.target);
    CHECK(rest == expected_rest);
    CHECK(corpus.portion(0) == split.train);
  }
}
