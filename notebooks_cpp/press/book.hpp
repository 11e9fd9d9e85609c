// The book: the whole course as pages, `build/press book`.
//
//   write_book({.out = "out", .book = "out/book"});
//
// A lesson's page has the comments of lesson.cpp beside its code and, under each section, what that section
// printed and drew (out/NN_name/output.txt and pictures.tsv, as the lesson wrote them), then its exercise
// with hints, known mistakes and our answer, folded. Each source of the library is a page with numbered
// lines, where names lead to their declarations; reference pages list what the headers declare. Links are
// relative and pages need nothing from elsewhere: the folder can be opened, moved, or put on a server.
//
// The book is made in a folder beside it and then moved into place, so nobody sees half of it and no page of
// a deleted file stays. Not good at: sources that are not written as ours are (see source.hpp).
#pragma once

#include <filesystem>  // path

namespace attn::press {

struct BookOptions {
  std::filesystem::path root = ".";   // the project
  std::filesystem::path out = "out";  // what the lessons made; out/notebooks/*.html are pages of it, too
  std::filesystem::path book = "out/book";  // replaced as a whole; refused if something else is there
};

// Throws if the output of a lesson is missing, saying which.
void write_book(const BookOptions& options);

}  // namespace attn::press
