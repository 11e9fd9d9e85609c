// The library in the book: a page for each source, and a reference of what its headers declare.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "notebooks_cpp/press/book_page.hpp"
#include "notebooks_cpp/press/book_sources.hpp"

namespace attn::press {

// A source with its comments beside it, what it declares, and who includes it.
BookPage source_page(const SourceFile& file, const Sources& sources);

// What the headers directly in `folder` declare for others, in the order of the source: signature, comment,
// where it is declared and where it is defined. `about`: one sentence on the folder.
BookPage reference_page(const std::string& folder, const std::string& about, const Sources& sources);

std::string folder_of(const std::string& path);  // "core/viz" of "core/viz/axis.hpp"

}  // namespace attn::press
