// config.json: the settings of a published model, in its family's words.
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <utility>     // pair

#include "nn/config.hpp"

namespace attn {

// The type, "gpt2", and the settings; throws, naming the entry, where one is missing or not known here.
std::pair<std::string, TransformerConfig> read_settings(const std::filesystem::path& file);
std::string settings_for(const std::string& type,
                         const TransformerConfig& config);  // the text of such a file

// The numbers in the largest matrices of such a model: no fewer can be in its files.
Index least_numbers(const TransformerConfig& config);

}  // namespace attn
