// The sources that have a page in the book, and text and code with links to them.
//
// A name in code is looked up by what stands around it: `viz::heatmap` in viz, `x.detach()` among members,
// `softmax(` among functions, and types anywhere. Where several fit and nothing tells which (`size` of a
// Tensor, or of a Shape?) there is no link: none is better than a wrong one.
#pragma once

#include <map>          // map
#include <memory>       // unique_ptr
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/highlight.hpp"  // NameLinker
#include "notebooks_cpp/press/source.hpp"     // Declaration

namespace attn::press {

struct SourceFile {
  std::string path;  // "core/ops.hpp"
  std::string page;  // "core/ops.hpp.html"
  std::string text;
  std::vector<Declaration> declared;
};

// The way from one page of the book to an address in it: relative, so that the book can lie anywhere.
std::string link_from(const std::string& page, const std::string& address);

class Sources {
 public:
  // `page`: where it is shown, if that is not a page of its own.
  void add(const std::string& path, std::string text, const std::string& page = {});
  const SourceFile* find(const std::string& path) const;
  const std::vector<std::unique_ptr<SourceFile>>& files() const { return files_; }

  struct Target {
    const SourceFile* file;
    const Declaration* declaration;
    std::string address() const;  // "core/ops.hpp.html#L12"
  };
  // Where what `path` declares has its body, or null if that is here or nowhere.
  const Target* body_of(const Declaration& declaration, const std::string& path) const;
  std::string address(std::string_view name) const;  // "softmax", "Rng::split"; "" if unknown
  std::string note(const std::string& title) const;  // of Note [title]
  std::map<std::string, std::string> lessons;        // "06" to its page
  std::map<std::string, std::string> notebooks;      // "01_attention_by_hand" to its page

  // For highlight_cpp: of a whole file, or of code from elsewhere that is shown on `page`.
  NameLinker linker(const SourceFile& file) const;
  NameLinker linker(const std::string& page) const;

 private:
  using Targets = std::map<std::string, std::vector<Target>, std::less<>>;
  const Target* best(const std::vector<Token>& code, Index at, const std::string& page) const;

  std::vector<std::unique_ptr<SourceFile>> files_;
  Targets named_;   // what others may use
  Targets bodies_;  // by qualified name
  std::map<std::string, std::string> notes_;
};

// Writes text and code for one page, with links from there.
struct PageText {
  const Sources& sources;
  std::string page;

  std::string link(const std::string& address,
                   const std::string& html) const;  // html alone if it leads nowhere
  // A comment: paragraphs, lists, indented lines as they are; `names`, files, notes and lessons are links.
  std::string prose(std::string_view comment) const;
  std::string sentence(std::string_view text) const;  // the same, for part of a paragraph
  std::string code(std::string_view text) const;
  std::string linked(const std::string& html) const;  // with links at names in <code>, lessons and notebooks
};

// A file in colours, line by line: HTML, each line complete in itself.
using Listing = std::vector<std::string>;
Listing listing(const SourceFile& file, const Sources& sources);
// Lines `first` to `last`, from 1, with their numbers; each has the id L and its number.
std::string code_block(const Listing& lines, Index first, Index last);
std::string code_block(const Listing& lines, const std::vector<Index>& numbers);  // some of them

std::string manual_of(std::string_view source);  // the comment that a file begins with
std::string first_sentence(std::string_view text);

}  // namespace attn::press
