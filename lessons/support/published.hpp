// What the programs that run published weights have in common (lessons 15, 16 and 17 with --weights DIR).
//
//   if (const auto words = published_arguments(argc, argv)) return run_program("15_gpt", [&] { … });
#pragma once

#include <filesystem>  // path
#include <string>      // string
#include <vector>      // vector

#include "lessons/support/standard_options.hpp"
#include "nn/context.hpp"
#include "nn/text/tokenizer.hpp"
#include "optim/published.hpp"

namespace attn {

bool asks_for_weights(int argc, char** argv);  // --weights is among the arguments

// The options of such a program, besides what it adds itself.
struct PublishedOptions : StandardOptions {
  std::filesystem::path weights;
  Index layer = 0, head = 0;  // counted from 1; the attention of this head becomes a picture
  bool int8 = false;          // quantise the model

  // Returns the one text that the program is about.
  std::string parse(Options& options, int argc, char** argv);
  // Writes the picture, if one is wanted: row t is what `labels[t]` looks at.
  void draw(const AttentionMaps& maps, const char* kind, const std::vector<std::string>& rows,
            const std::vector<std::string>& columns, const std::string& lesson) const;
};

void say_unused(const PublishedModel& files);  // one line on standard error, if there are any
std::vector<std::string> labels_of(const Tokenizer& tokenizer, const std::vector<int>& ids);

}  // namespace attn
