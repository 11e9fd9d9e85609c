// What a notebook includes: the library, and a few words to say to whoever runs it.
//
//   // %% tags=["active-cpp"]
//   int main(int argc, char** argv) { return notebook::run(argc, argv, "01_attention_by_hand", [] {
//   // %%
//   notebook::show(viz::heatmap(weights), "Each row is a word, and shows where it looks.");
//   // %% tags=["active-cpp"]
//   }); }
//
// Run as any program, a notebook prints to the terminal and leaves its pictures as DIR/notebooks/NAME/NN.png
// (--out DIR). With ATTN_NOTEBOOK=1 in the environment it also says where cells begin and pictures belong, in
// lines that start with the character 0x1E: `make notebooks` turns them into pages, a live kernel shows them.
#pragma once

#include <fmt/core.h>  // format, print

#include <cstdint>      // uint64_t
#include <filesystem>   // path
#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view

#include "core/autograd.hpp"
#include "core/error.hpp"
#include "core/ops.hpp"
#include "core/rng.hpp"
#include "core/tensor.hpp"
#include "core/viz/viz.hpp"
#include "lessons/support/lesson.hpp"  // matrix_of

namespace attn::notebook {

// Reads the standard options and runs the cells; the result is the exit code.
int run(int argc, char** argv, const std::string& name, const std::function<void()>& body);

// Puts the picture under the cell, with its caption.
void show(const viz::Image& image, const std::string& caption);

bool fast();                     // --fast: small sizes, a few seconds
std::uint64_t seed();            // --seed
std::filesystem::path out();     // --out: weights that lessons trained are in here
std::filesystem::path folder();  // for the files of this notebook; made when it is missing

// Called in front of code cell `index` by the program that `make notebooks` builds, never by hand.
void cell(int index);

}  // namespace attn::notebook
