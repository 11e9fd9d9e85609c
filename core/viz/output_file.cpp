#include "core/viz/output_file.hpp"

#include <system_error>  // error_code

#include "core/atomic_file.hpp"
#include "core/error.hpp"

namespace attn::viz {

void write_output(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code problem;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), problem);
  if (problem) fail("cannot write {}: its folder cannot be made: {}", path.string(), problem.message());
  write_file_atomically(path, {bytes});
}

}  // namespace attn::viz
