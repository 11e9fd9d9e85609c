// One page of the book before it gets its frame, and what the search finds on it.
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <utility>     // pair
#include <vector>      // vector

namespace attn::press {

// What the search knows: `name` is searched, `kind` ("function", "lesson", "mistake") and `text` are shown
// with it.
struct Entry {
  std::string name, kind, text, address;
};

struct BookPage {
  std::string address;  // in the book: "lessons/06_self_attention.html"
  std::string title;    // "06 Self-attention"
  std::string chapter;  // "Lessons", "core"
  std::string summary;  // a sentence for the table of contents
  std::string body;     // HTML
  std::string whole;    // or, of a notebook, the whole file as it is
  std::vector<Entry> entries;
  std::vector<std::pair<std::filesystem::path, std::string>>
      copies;  // files to take along: from, address in the book
};

}  // namespace attn::press
