// The frame of every page of the book (bar with search, previous and next, style) and its first page.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "notebooks_cpp/press/book_page.hpp"
#include "notebooks_cpp/press/book_sources.hpp"

namespace attn::press {

// The folders that the book shows, in the order of reading: what stands on what.
struct Folder {
  const char *path, *about;
};
extern const std::vector<Folder> library_folders;

// What this is, and the table of contents.
BookPage front_page(const std::vector<BookPage>& pages, const Sources& sources);

// The whole file of page `i`; its neighbours are those in `pages`. A page that is whole already (a notebook)
// only gets the bar.
std::string framed(const std::vector<BookPage>& pages, std::size_t i);

extern const char* const bar_style;   // CSS: of the bar alone
extern const char* const book_style;  // CSS: of all the rest
// JavaScript, behind `const book_index = [[name, kind, text, address], …];`
extern const char* const search_script;

}  // namespace attn::press
