// The sources that have a page in the book, and where a name in one of them leads.
//
// A name in code is looked up by how it stands there: `viz::heatmap` in viz, `x.detach()` among members,
// `softmax(` among functions, and types anywhere. Where several would fit and nothing tells which (`size` of
// a Tensor, or of a Shape?) there is no link: none is better than a wrong one.
#pragma once

#include <map>          // map
#include <memory>       // unique_ptr
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/highlight.hpp"  // Linker
#include "notebooks_cpp/press/lines.hpp"
#include "notebooks_cpp/press/source.hpp"
#include "notebooks_cpp/press/tokens.hpp"

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

  // The address of the body of what `file` declares, or "" if it has none elsewhere.
  std::string definition(const SourceFile& file, const Declaration& declaration) const;
  const Declaration* defined_as(const Declaration& declaration) const;  // the same with its body, or null
  std::string address(std::string_view name) const;     // "softmax", "Rng::split"; "" if unknown
  std::string note(const std::string& title) const;     // of Note [title]
  std::string lesson(const std::string& number) const;  // "06"
  std::map<std::string, std::string> lessons;           // number to page

  // For highlight_cpp(file.text, …), or of a part of that text.
  Linker linker(const SourceFile& file) const;
  // For code from elsewhere that is shown on `page`.
  Linker linker(std::string_view code, const std::string& page) const;

 private:
  struct Target {
    const SourceFile* file;
    const Declaration* declaration;
  };
  std::string target_at(const SourceFile* file, std::string_view code, std::string_view name,
                        const std::string& page) const;
  const Target* best(std::string_view code, std::string_view name, const std::string& page) const;
  const Target* body_of(const Declaration& declaration, const std::string& path) const;

  std::vector<std::unique_ptr<SourceFile>> files_;
  std::map<std::string, std::vector<Target>, std::less<>> named_;   // what others may use
  std::map<std::string, std::vector<Target>, std::less<>> bodies_;  // by qualified name
  std::map<std::string, std::string> notes_;
};

// A file in colours, line by line.
struct Listing {
  std::vector<std::string> lines;  // HTML, each complete in itself

  // Lines `first` to `last`, from 1, as a block with their numbers; each has the id L and its number.
  std::string block(int first, int last) const;
};
Listing listing(const SourceFile& file, const Sources& sources);

// A comment as text: paragraphs; indented lines stay as they are; `names`, files, notes and lessons become
// links.
std::string prose(std::string_view comment, const Sources& sources, const std::string& page);
// The same for a sentence inside of something.
std::string inline_prose(std::string_view text, const Sources& sources, const std::string& page);

// The comment that a file begins with.
std::string manual_of(std::string_view source);
std::string first_sentence(std::string_view text);

}  // namespace attn::press
