// The wrong answers to exercise 13 that the grader knows by name: the part about batches and masks.
#pragma once

#include "lessons/13_translator/types.hpp"
#include "lessons/coach/grading.hpp"

namespace exercise {
Dictation dictate(const std::vector<Sentence>& targets);
ThreeMasks three_masks(const IntTensor& source, const IntTensor& reads);
}  // namespace exercise

namespace mistakes {

using namespace attn;
using exercise::bos, exercise::eos, exercise::pad;
using exercise::Dictation, exercise::Model, exercise::Sentence, exercise::ThreeMasks;

using Rows = std::vector<std::vector<int>>;

// Rows of one length or cut to it, filled up at the end with `fill`.
inline IntTensor table(const Rows& rows, Index T, int fill = pad) {
  IntTensor out({Index(rows.size()), T});
  for (Index b = 0; b < out.shape()[0]; ++b)
    for (Index t = 0; t < T; ++t) {
      const std::vector<int>& row = rows[std::size_t(b)];
      out(b, t) = t < Index(row.size()) ? row[std::size_t(t)] : fill;
    }
  return out;
}

inline Index longest(const Rows& rows) {
  std::size_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.size());
  return Index(most);
}

// Each sentence with tokens put in front of it and behind it.
inline Rows framed(const std::vector<Sentence>& targets, const std::vector<int>& front,
                   const std::vector<int>& back) {
  Rows rows;
  for (const Sentence& words : targets) {
    rows.push_back(front);
    rows.back().insert(rows.back().end(), words.begin(), words.end());
    rows.back().insert(rows.back().end(), back.begin(), back.end());
  }
  return rows;
}

inline Dictation dictation(const Rows& reads, const Rows& writes, int fill = pad) {
  const Index T = std::max(longest(reads), longest(writes));
  return {table(reads, T, fill), table(writes, T, fill)};
}

inline const coach::Mistakes<decltype(exercise::dictate)> dictate = {
    {.name = "no shift",
     .why = "The decoder reads the very word it has to write beside it. It learns to copy, its loss is "
            "falsely near 0, and when nobody dictates it can say nothing.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           const Rows rows = framed(targets, {}, {eos});
           return dictation(rows, rows);
         }},
    {.name = "shifted the wrong way",
     .why = "reads and writes have changed places: the decoder would have to write what came before, and bos "
            "first of all.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return dictation(framed(targets, {}, {eos}), framed(targets, {bos}, {}));
         }},
    {.name = "no end to write",
     .why = "eos is never among what is to be written, so the model never learns to stop.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return dictation(framed(targets, {bos}, {}), framed(targets, {}, {}));
         }},
    {.name = "the end is read",
     .why = "eos is also among what the decoder reads. Nothing comes after it: that place asks for nothing, "
            "and each row is one longer than it need be.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return dictation(framed(targets, {bos}, {eos}), framed(targets, {}, {eos}));
         }},
    {.name = "the start is written",
     .why = "bos is among what is to be written: the whole sequence stands on both sides, without a shift.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           const Rows rows = framed(targets, {bos}, {eos});
           return dictation(rows, rows);
         }},
    {.name = "filled up with eos",
     .why = "Short rows are filled with eos instead of pad. The loss cannot tell this filling from a real "
            "end and would learn from it.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return dictation(framed(targets, {bos}, {}), framed(targets, {}, {eos}), eos);
         }},
    {.name = "padding in front",
     .why = "Short rows are filled up at their beginning. Then their first word is not at position 0, and "
            "the causal mask lets every word see the filling.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           Rows reads = framed(targets, {bos}, {}), writes = framed(targets, {}, {eos});
           const std::size_t T = std::size_t(longest(reads));
           for (Rows* rows : {&reads, &writes})
             for (auto& row : *rows) row.insert(row.begin(), T - row.size(), pad);
           return dictation(reads, writes);
         }},
    {.name = "cut to the shortest",
     .why = "The rows end where the shortest sentence ends; the rest of the longer ones is lost. The batch "
            "has to be as long as the longest.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           Index shortest = longest(targets);
           for (const Sentence& words : targets) shortest = std::min(shortest, Index(words.size()));
           return Dictation{table(framed(targets, {bos}, {}), shortest + 1),
                            table(framed(targets, {}, {eos}), shortest + 1)};
         }},
    {.name = "no room for eos",
     .why = "T is the length of the longest sentence, without the one place more that its eos (or its bos) "
            "needs: the longest row loses its end.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return Dictation{table(framed(targets, {bos}, {}), longest(targets)),
                            table(framed(targets, {}, {eos}), longest(targets))};
         }},
    {.name = "eos at the end of the row",
     .why = "eos stands behind the padding, in the last column. It belongs right behind the last word: there "
            "the sentence ends.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           const Dictation batch = dictation(framed(targets, {bos}, {}), framed(targets, {}, {}));
           for (Index b = 0; b < batch.writes.shape()[0]; ++b)
             batch.writes(b, batch.writes.shape()[1] - 1) = eos;
           return batch;
         }},
    {.name = "padding written as eos",
     .why = "reads is padded, but in writes the padding is eos: the loss would teach to say eos once more "
            "behind the end.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const std::vector<Sentence>& targets) {
           return Dictation{dictation(framed(targets, {bos}, {}), {}).reads,
                            dictation(framed(targets, {}, {eos}), {}, eos).reads};
         }},
};

// May query i see key j, given whether each of the two is real?
using Rule = bool (*)(bool real_query, bool real_key, Index i, Index j);
inline bool keys_only(bool, bool real_key, Index, Index) { return real_key; }
inline bool causal(bool, bool real_key, Index i, Index j) { return real_key && j <= i; }

inline Tensor mask(const IntTensor& queries, const IntTensor& keys, Rule rule) {
  const Index B = queries.shape()[0], T = queries.shape()[1], S = keys.shape()[1];
  Tensor out = zeros({B, T, S});
  for (Index b = 0; b < B; ++b)
    for (Index i = 0; i < T; ++i)
      for (Index j = 0; j < S; ++j) out(b, i, j) = rule(queries(b, i) != pad, keys(b, j) != pad, i, j);
  return out;
}

inline ThreeMasks masks(const IntTensor& source, const IntTensor& reads, Rule encoder, Rule decoder,
                        Rule cross) {
  return {mask(source, source, encoder), mask(reads, reads, decoder), mask(reads, source, cross)};
}

inline const coach::Mistakes<decltype(exercise::three_masks)> three_masks = {
    {.name = "target mask without causality",
     .why = "The decoder sees the words that it has yet to write. Training looks perfect, and at translating "
            "time, where the future is missing, the model is lost.",
     .where = "Two sentences, one batch, three masks",
     .answer = [](const IntTensor& source,
                  const IntTensor& reads) { return masks(source, reads, keys_only, keys_only, keys_only); }},
    {.name = "decoder padding not hidden",
     .why = "The decoder's mask is causal and nothing else. Padding has to be hidden there as well; that it "
            "comes last saves the real words only by luck.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(
               source, reads, keys_only, [](bool, bool, Index i, Index j) { return j <= i; }, keys_only);
         }},
    {.name = "source padding not hidden",
     .why = "Encoder and cross-attention see everything. Words then depend on how much filling their batch "
            "happened to need.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const Rule all = [](bool, bool, Index, Index) { return true; };
           return masks(source, reads, all, causal, all);
         }},
    {.name = "cross-attention not masked",
     .why = "The encoder hides its padding, but cross-attention looks at the same source and needs the same "
            "mask.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(source, reads, keys_only, causal, [](bool, bool, Index, Index) { return true; });
         }},
    {.name = "rows hidden instead of columns",
     .why = "This hides what padding looks at. It is the keys, the columns, that must not be seen; what a "
            "padding query computes is thrown away.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const Rule rows = [](bool real_query, bool, Index, Index) { return real_query; };
           return masks(
               source, reads, rows,
               [](bool real_query, bool, Index i, Index j) { return real_query && j <= i; }, rows);
         }},
    {.name = "cross-attention masked by the target",
     .why = "The cross mask follows the padding of the target. There the target asks; the keys are the "
            "source's, and it is the source's padding that must not be seen.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(source, reads, keys_only, causal,
                        [](bool real_query, bool, Index, Index) { return real_query; });
         }},
    {.name = "rows and columns hidden",
     .why = "Padding is hidden as a key and also as a query. A query that sees nothing is asking for a "
            "softmax over nothing; the contract leaves such rows alone.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const Rule both = [](bool real_query, bool real_key, Index, Index) {
             return real_query && real_key;
           };
           return masks(
               source, reads, both,
               [](bool real_query, bool real_key, Index i, Index j) {
                 return real_query && real_key && j <= i;
               },
               both);
         }},
    {.name = "a causal encoder",
     .why = "The source is known as a whole before the first word is written: in the encoder every word may "
            "see those after it.",
     .where = "Two sentences, one batch, three masks",
     .answer = [](const IntTensor& source,
                  const IntTensor& reads) { return masks(source, reads, causal, causal, keys_only); }},
    {.name = "causal cross-attention",
     .why =
         "The third word to be written may need the last word of the source: verbs stand elsewhere in other "
         "languages. There is no future to hide in a sentence that has been read.",
     .where = "Two sentences, one batch, three masks",
     .answer = [](const IntTensor& source,
                  const IntTensor& reads) { return masks(source, reads, keys_only, causal, causal); }},
    {.name = "a token that cannot see itself",
     .why = "Query i sees only what is before it. Its own place holds the word that was just read: that one "
            "is known.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(
               source, reads, keys_only,
               [](bool, bool real_key, Index i, Index j) { return real_key && j < i; }, keys_only);
         }},
    {.name = "the diagonal off by one",
     .why = "Query i also sees the place after its own, and there stands the very word that it has to write.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(
               source, reads, keys_only,
               [](bool, bool real_key, Index i, Index j) { return real_key && j <= i + 1; }, keys_only);
         }},
    {.name = "the past hidden instead of the future",
     .why = "The decoder's triangle is the wrong one: each word sees itself and what comes after.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           return masks(
               source, reads, keys_only,
               [](bool, bool real_key, Index i, Index j) { return real_key && j >= i; }, keys_only);
         }},
    {.name = "eos hidden with the padding",
     .why = "Only pad is filling. eos ends the source, it is read like a word, and the model uses it: many "
            "heads look there when they have nothing to look for.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           IntTensor words(source.shape(), source.values());
           for (Index i = 0; i < words.numel(); ++i)
             if (words[i] == eos) words[i] = pad;
           ThreeMasks out = masks(source, reads, keys_only, causal, keys_only);
           out.encoder = mask(source, words, keys_only);
           out.cross = mask(reads, words, keys_only);
           return out;
         }},
    {.name = "1 and 0 swapped",
     .why = "Here 1 marks what is hidden. The contract has 1 for what may be seen (other libraries do it the "
            "other way round; read which).",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const ThreeMasks right = masks(source, reads, keys_only, causal, keys_only);
           return ThreeMasks{1 - right.encoder, 1 - right.decoder, 1 - right.cross};
         }},
    {.name = "the first sentence's padding for all",
     .why =
         "Every sentence of the batch is masked by the padding of sentence 0. Each has a length of its own.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const auto repeated = [](const IntTensor& ids) {
             const IntTensor out(ids.shape());
             for (Index b = 0; b < ids.shape()[0]; ++b)
               for (Index t = 0; t < ids.shape()[1]; ++t) out(b, t) = ids(0, t);
             return out;
           };
           return masks(repeated(source), repeated(reads), keys_only, causal, keys_only);
         }},
    {.name = "minus infinity instead of 0",
     .why = "This is what is added to the scores later: 0 and −∞. Here a mask is asked for: 1 where a key is "
            "seen, 0 where it is not.",
     .where = "Two sentences, one batch, three masks",
     .answer =
         [](const IntTensor& source, const IntTensor& reads) {
           const ThreeMasks right = masks(source, reads, keys_only, causal, keys_only);
           for (const Tensor* mask : {&right.encoder, &right.decoder, &right.cross})
             for (Index i = 0; i < mask->numel(); ++i)
               mask->data()[i] = mask->data()[i] ? 0 : -std::numeric_limits<real>::infinity();
           return right;
         }},
};

}  // namespace mistakes
