#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "nn/text/metrics.hpp"

using namespace attn;

namespace {

// The example of sacreBLEU's README.
const std::vector<std::string> outputs = {"The dog bit the man.", "It wasn't surprising.",
                                          "The man had just bitten him."};
const References references = {{"The dog bit the man.", "The dog had bit the man."},
                               {"It was not unexpected.", "No one was surprised."},
                               {"The man bit him first.", "The man had bitten the dog."}};

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-6); }

}  // namespace

TEST_CASE("BLEU and chrF2 of sacreBLEU's own example") {
  CHECK(bleu(outputs, references).score == about(48.530827));
  CHECK(chrf(outputs, references) == doctest::Approx(59.73).epsilon(1e-4));
}

TEST_CASE("the parts of BLEU: clipped precisions, closest length and brevity") {
  const Bleu clipped = bleu({"the the the the the the the"}, {{"the cat is on the mat"}});
  CHECK(clipped.precisions[0] == about(100 * 2.0 / 7));
  CHECK(clipped.brevity_penalty == 1);

  const Bleu short_output = bleu({"a b c d"}, {{"a b c d e f g h"}});
  CHECK(short_output.brevity_penalty == about(0.36787944));  // e^(1 - 8/4)
  CHECK(short_output.score == about(36.787944));

  // 4 words lie between references of 3 and 5: the shorter one counts.
  CHECK(bleu({"a b c d"}, {{"a b c d e", "a b c"}}).brevity_penalty == 1);
  // An n-gram may come from any reference.
  CHECK(bleu({"a b c d"}, {{"a b x y", "u v c d"}}).precisions[0] == 100);
  CHECK(bleu({"a b c d"}, {{"a b x y", "u v c d"}}).precisions[1] == about(100 * 2.0 / 3));
}

TEST_CASE("orders without a match are smoothed by halves, then quarters") {
  // 1-grams 4/6, 2-grams 2/5, 3-grams 1/4, 4-grams 0/3.
  const Bleu one = bleu({"am I am a character sequence"}, {{"I am a symbol string sequence a a"}});
  CHECK(one.precisions[0] == about(100 * 4.0 / 6));
  CHECK(one.precisions[2] == about(25));
  CHECK(one.precisions[3] == about(100 / (2 * 3.0)));
  const Bleu two = bleu({"a b x c d"}, {{"a b y c d"}});
  CHECK(two.precisions[2] == about(100 / (2 * 3.0)));
  CHECK(two.precisions[3] == about(100 / (4 * 2.0)));
}

TEST_CASE("a single sentence is a corpus of one, and needs four words") {
  CHECK(bleu({"a test"}, {{"a test"}}).score == 0);
  CHECK(bleu({"a test"}, {{"a test"}}).precisions[1] == about(100));
  CHECK(bleu({"Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"},
             {{"producţia de zahăr brut se exprimă în zahăr alb;"}})
            .score == doctest::Approx(8.493).epsilon(1e-4));
}

TEST_CASE("nothing right, or nothing at all, scores 0") {
  CHECK(bleu({"this is a cat"}, {{"okay thanks"}}).score == 0);
  CHECK(bleu({"", "", ""}, references).score == 0);
  CHECK(chrf({""}, {{"reference"}}) == 0);
  CHECK(chrf({"abc"}, {{"xyz"}}) == 0);
}

TEST_CASE("words are cut as in mteval-v13a") {
  using Words = std::vector<std::string>;
  CHECK(tokenize_13a("Hello, world! It isn't 1,000.5 (yet).") ==
        Words{"Hello", ",", "world", "!", "It", "isn't", "1,000.5", "(", "yet", ")", "."});
  CHECK(tokenize_13a("&quot;a&amp;b&quot; &lt;c&gt; <skipped>") ==
        Words{"\"", "a", "&", "b", "\"", "<", "c", ">"});
  CHECK(tokenize_13a("1990-2000 well-known a-1") == Words{"1990", "-", "2000", "well-known", "a-1"});
  CHECK(tokenize_13a("wait... 5. x.5 .5") == Words{"wait", ".", ".", ".", "5", ".", "x", ".", "5", ".", "5"});
  CHECK(tokenize_13a("Va\u202F! L'été\u00A0:") == Words{"Va", "!", "L'été", ":"});
  CHECK(tokenize_13a("a-\nb c\nd") == Words{"ab", "c", "d"});
}

TEST_CASE("chrF counts characters without spaces, uses the orders there are, and takes the best reference") {
  CHECK(chrf({"a b c"}, {{"abc"}}) == about(100));
  CHECK(chrf({"aa"}, {{"ab"}}) == about(25));
  CHECK(chrf({"a", "b"}, {{"a"}, {"c"}}) == about(50));
  CHECK(chrf({"고양이"}, {{"강아지", "고양이"}}) == about(100));
  // recall counts twice: leaving out costs more than adding
  CHECK(chrf({"abcdefgh"}, {{"abcdefghijkl"}}) < chrf({"abcdefghijkl"}, {{"abcdefgh"}}));
}

TEST_CASE("exact match is the share of outputs that equal a reference") {
  CHECK(exact_match({"a", "b", "c", "d "}, {{"a"}, {"x", "b"}, {"C"}, {"d"}}) == about(50));
}

TEST_CASE("outputs and references must fit") {
  CHECK_THROWS_WITH_AS(bleu({"a"}, {}), "bleu: 1 outputs but references for 0", Error);
  CHECK_THROWS_WITH_AS(chrf({"a"}, {{}}), "chrf: output 0 has no reference", Error);
  CHECK_THROWS_AS(exact_match({}, {}), Error);
}
