// TemporaryFolder: an empty folder of a test's own, removed with everything in it at the end of the scope.
#pragma once

#include <cstdlib>     // mkdtemp
#include <filesystem>  // path, remove_all, temp_directory_path
#include <string>      // string

#include "core/error.hpp"

namespace attn {

struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "attn-test-XXXXXX").string();
    if (!mkdtemp(name.data())) fail("temporary folder: cannot create {}", name);
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
};

}  // namespace attn
