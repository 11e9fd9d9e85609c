#include "nn/text/tokenizer.hpp"

#include <algorithm>  // any_of, find

#include "core/error.hpp"

namespace attn {

int Pieces::find(std::string_view piece) const {
  const auto found = ids.find(piece);
  return found == ids.end() ? -1 : found->second;
}

int Pieces::at(std::string_view piece) const {
  const int id = find(piece);
  if (id < 0) fail("tokenizer: there is no piece '{:.60}' in its vocabulary", piece);
  return id;
}

void Pieces::put(std::string piece, Index id) {
  constexpr std::size_t longest = 1024;
  if (id < 0 || id >= most) fail("tokenizer: the piece '{:.60}' has the id {}", piece, id);
  if (piece.size() > longest)
    fail("tokenizer: piece {} has {} bytes; the most is {}", id, piece.size(), longest);
  if (id >= size()) list.resize(id + 1);
  if (!list[id].empty() && list[id] != piece)
    fail("tokenizer: the id {} is that of '{:.60}' and of '{:.60}'", id, list[id], piece);
  list[id] = piece;
  ids.insert_or_assign(std::move(piece), int(id));
}

void Pieces::put_special(std::string piece, Index id) {
  if (piece.empty()) fail("tokenizer: a special token without a name has the id {}", id);
  put(piece, id);
  if (std::find(specials.begin(), specials.end(), piece) == specials.end()) specials.push_back(piece);
}

bool Tokenizer::is_special(int id) const {
  return std::any_of(pieces_.specials.begin(), pieces_.specials.end(),
                     [&](const std::string& special) { return pieces_.list[id] == special; });
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  std::size_t start = 0;  // of the plain text that waits to be encoded
  const auto flush = [&](std::size_t end) {
    if (end > start) encode_plain(text.substr(start, end - start), ids);
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string* special = nullptr;  // the longest one that begins here
    for (const std::string& each : pieces_.specials)
      if (text.substr(at).starts_with(each) && (!special || each.size() > special->size())) special = &each;
    if (!special) {
      ++at;
      continue;
    }
    flush(at);
    ids.push_back(pieces_.at(*special));
    start = at += special->size();
  }
  flush(text.size());
  return ids;
}

std::string Tokenizer::decode(const std::vector<int>& ids) const {
  std::string text;
  for (const int id : ids) {
    if (id < 0 || id >= pieces_.size())
      fail("tokenizer: the id {} is outside the {} pieces", id, pieces_.size());
    text += is_special(id) ? pieces_.list[id] : text_of(id, text.empty());
  }
  return text;
}

}  // namespace attn
