// MappedFile: a file as it lies in the system's cache, read without a copy.
#pragma once

#include <filesystem>   // path
#include <string_view>  // string_view

namespace attn {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws Error, naming what is wrong
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }
  // False if the file has been cut off before `end` since it was opened: reading there would be fatal.
  bool reaches(std::size_t end) const;

 private:
  int descriptor_ = -1;
  std::string_view bytes_;
};

}  // namespace attn
