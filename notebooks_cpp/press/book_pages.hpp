// The pages of the book before they get their frame, and the frame.
//
// A lesson's page is what the lesson said when it ran, prose, tables, claims and pictures, with the code
// under the prose that it follows in the source; then its exercise. A source of the library has a page of
// the same form. A reference page lists what the headers of a folder declare.
#pragma once

#include <filesystem>   // path
#include <map>          // map
#include <string>       // string
#include <string_view>  // string_view
#include <utility>      // pair
#include <vector>       // vector

#include "notebooks_cpp/press/book_sources.hpp"
#include "notebooks_cpp/press/html.hpp"  // Ids

namespace attn::press {

// What the search knows by name; the text of pages is found besides. `kind` ("function", "exercise") and
// `text` are shown; `full` is searched as well, and shown where it was found.
struct Entry {
  std::string name, kind, text,
      id;  // the id of its place on the page, "" for the page, or an address in the book
  std::string full{};
};

struct BookPage {
  std::string address;               // in the book: "lessons/06_self_attention.html"
  std::string title;                 // "06 Self-attention"
  std::string chapter{};             // "Lessons", "core"
  std::string kind{};                // "lesson": for the search
  std::string summary{};             // a sentence for the table of contents
  std::string body{};                // HTML
  std::string whole{};               // or, of a notebook, the whole file as it is
  bool has_contents = false;         // its headings are listed beside it
  bool has_text = false;             // the search knows every word of it
  std::filesystem::path cover{};     // the picture on its card
  std::vector<std::string> tasks{};  // the functions of its exercise
  std::vector<Entry> entries{};
  std::vector<std::pair<std::filesystem::path, std::string>> copies{};  // files to copy: from, address
};

std::string text_of(std::string_view html);  // what a reader sees of it, but for code and equations

// A page in parts: what comes before the first heading (without id), and under each heading.
struct PageSection {
  std::string id, title, html;
};
std::vector<PageSection> sections_of(const BookPage& page);

// The folders that the book shows, each after those it builds on.
struct Folder {
  const char *path, *about;
};
extern const std::vector<Folder> library_folders;
std::string reference_address(const std::string& folder);  // "reference/core-viz.html"

// Where the book keeps a picture: "pictures/06_self_attention/attention.png".
std::string picture_address(const std::filesystem::path& picture);

// Pages beside the book that are there to link to: out/live/index.html and out/bench/index.html.
struct Neighbours {
  bool live = false, bench = false;
};
// What the book is, and its table of contents.
BookPage front_page(const std::vector<BookPage>& pages, const Sources& sources, const Neighbours& beside);
// A lesson or a milestone, whose name is that of `folder`. Its sources must have been added to `sources`, or
// its page shows no code. `output` is its folder in out/.
BookPage lesson_page(const std::filesystem::path& folder, const std::filesystem::path& output,
                     const std::filesystem::path& grader, const Sources& sources);
std::string milestone_source(const std::string& name);  // "lessons/mine/mine_1_gradients.cpp"
// A source with its comments beside it, what it declares, and who includes it.
BookPage source_page(const SourceFile& file, const Sources& sources);
// What the headers directly in `folder` declare for others, in the order of the source: signature, comment,
// where it is declared and where it is defined.
BookPage reference_page(const Folder& folder, const Sources& sources);

// What each term means and the section that explains it: the one of the lesson named in the glossary that has
// the term in its title, or else defines or uses it most.
BookPage glossary_page(std::string_view glossary, const std::vector<BookPage>& pages, const Sources& sources);

// The whole file of page `i` in its frame: bar, search, course, contents, previous and next.
std::string framed(const std::vector<BookPage>& pages, Index i);

// The file search-index.js: `const book_index = [[name, kind, text, address, full], …];`
std::string search_index(const std::vector<BookPage>& pages);

// A source as rows: a comment on one side, the code that it is about on the other. A comment at the left
// margin stands beside the code below it, up to the next such comment; indented ones stay in the code. A line
// alone that is no sentence is a heading. The comment at the top of the file and the includes are no rows.
struct Row {
  std::string heading{};      // above it, or empty
  std::string comment{};      // beside it
  Index first = 0, last = 0;  // the lines of code, from 1; none if last < first
};

Row preamble_of(std::string_view source);  // the includes
std::vector<Row> rows_of(std::string_view source);
std::string row_html(const Row& row, const Listing& code, const PageText& text, Ids& ids);
std::string preamble_html(std::string_view source, const Listing& code);  // folded

// The files of a lesson that have pages of their own: all but the lesson and its exercise.
bool is_extra_file(const std::string& file);

// Appends the exercise of the lesson to its page: each function with its contract, hints, the mistakes
// that the grader knows by name, as diffs, and our answer, the last three folded. Nothing if the
// lesson has no exercise.
void add_exercise(BookPage& page, const std::filesystem::path& folder, const std::filesystem::path& grader,
                  const Sources& sources);

template <class Value>
using ByFunction = std::map<std::string, Value>;
// From a hints.md: `## function`, then numbered hints.
ByFunction<std::vector<std::string>> hints_of(std::string_view markdown);
// From the grader: the sentence shown when a function passes.
ByFunction<std::string> notices_of(std::string_view grader);

}  // namespace attn::press
