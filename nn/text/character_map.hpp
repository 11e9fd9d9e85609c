// CharacterMap: what SentencePiece replaces in a text before it cuts it: "ﬁ" by "fi", "①" by "1", and so on.
//
// A tokenizer.json keeps it as "precompiled_charsmap", in base64: 4 bytes, the length of a trie; the trie, a
// double array (Aoe 1989; as darts-clone packs it); and the replacements, each ending in a zero byte.
#pragma once

#include <cstdint>      // uint32_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

namespace attn {

class CharacterMap {
 public:
  explicit CharacterMap(std::string_view bytes);        // throws if they are no such map
  std::string operator()(std::string_view text) const;  // always the longest piece that has a replacement

 private:
  struct Match {
    std::size_t length = 0;  // 0: none
    const char* replacement = nullptr;
  };
  Match longest(std::string_view text) const;

  std::vector<std::uint32_t> trie_;
  std::string replacements_;
};

}  // namespace attn
