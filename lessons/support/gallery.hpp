// The gallery: one page with all pictures of all lessons.
//
//   record_picture("out/06_self_attention", "weights.png", "Who looks at whom", "Each row is a word ...");
//   write_gallery("out");
//
// write_gallery makes out/index.html from every out/*/pictures.tsv, in the order of the folders' names.
// pictures.tsv has a line for each picture: file, title, caption, separated by tabs. The page needs nothing
// from elsewhere, its links are relative (so the folder can be moved or served), and it suits phones.
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

namespace attn {

struct PictureRecord {
  std::string file, title, caption;
};

// Adds a picture to `folder`/pictures.tsv, or replaces the line of the same file.
void record_picture(const std::filesystem::path& folder, const std::string& file, const std::string& title,
                    const std::string& caption);
// What is recorded there; empty when nothing is.
std::vector<PictureRecord> recorded_pictures(const std::filesystem::path& folder);

// The title of a folder: "06_self_attention" is "Self attention", "15_gpt" is "GPT".
std::string folder_title(const std::string& folder);

// Pictures whose file is missing are left out.
void write_gallery(const std::filesystem::path& out);

}  // namespace attn
