// Where pictures and pages go: the folder is made when it is missing, and the file is never seen half
// written. For use inside of core/viz.
#pragma once

#include <filesystem>   // path
#include <string_view>  // string_view

namespace attn::viz {

// Throws Error, in one line that names the file and the reason.
void write_output(const std::filesystem::path& path, std::string_view bytes);

}  // namespace attn::viz
