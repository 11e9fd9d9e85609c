// What a picture costs, and which PNG filter suits pictures like ours.
//
// The bar: a labelled heatmap of 512 x 512 pixels in under 50 ms, writing included. The filter table is the
// reason for the one that write_png uses: it encodes typical pictures with each of the five, and with stb's
// trial of all.
#include <fmt/core.h>  // print

#include <algorithm>   // min
#include <chrono>      // steady_clock
#include <cmath>       // exp, sin
#include <filesystem>  // temp_directory_path
#include <functional>  // function
#include <limits>      // numeric_limits
#include <string>      // string
#include <utility>     // pair
#include <vector>      // vector

#include "core/viz/viz.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

using namespace attn;
using namespace attn::viz;

namespace {

// The best of `rounds` runs, in milliseconds: what else the machine does only ever adds.
double milliseconds(const std::function<void()>& work, int rounds = 20) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Weights as a causal head has them: nothing after the diagonal, and less the further back.
Matrix attention(Index length) {
  Matrix weights(length, length);
  for (Index r = 0; r < length; ++r)
    for (Index c = 0; c <= r; ++c) {
      const auto row = double(r), back = double(r - c);
      weights(r, c) = float(std::exp(-back / 40) * (1.1 + std::sin(0.4 * row + 0.013 * row * back)));
    }
  return weights;
}

std::size_t encoded_size(const Image& image) {
  std::size_t bytes = 0;
  const auto count = [](void* context, void*, int size) {
    *static_cast<std::size_t*>(context) += std::size_t(size);
  };
  stbi_write_png_to_func(count, &bytes, image.width(), image.height(), 3, image.pixels(), 3 * image.width());
  return bytes;
}

}  // namespace

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "attn_viz_bench";
  std::vector<std::string> words;
  for (int i = 0; i < 17; ++i) words.push_back(fmt::format("token{}", i));
  const HeatmapOptions labelled{.title = "A labelled heatmap",
                                .x_title = "keys",
                                .y_title = "queries",
                                .row_labels = words,
                                .column_labels = words,
                                .cell = 19};
  const Matrix small = attention(17), large = attention(512);

  const HeatmapLayout layout = heatmap_layout(small, labelled);
  const double first = milliseconds([&] { write_png(folder / "first.png", heatmap(small, labelled)); }, 1);
  fmt::print(
      "17 x 17 labelled heatmap, {} x {} pixels: first (fonts are read) {:.1f} ms, then {:.1f} ms (bar: "
      "50)\n",
      layout.width, layout.height, first,
      milliseconds([&] { write_png(folder / "small.png", heatmap(small, labelled)); }));
  fmt::print("512 x 512 cells, {} x {} pixels: {:.1f} ms\n\n", heatmap_layout(large).width,
             heatmap_layout(large).height, milliseconds([&] {
               write_png(folder / "large.png", heatmap(large, {.title = "512 x 512 cells"}));
             }));

  const std::vector<std::pair<std::string, Image>> pictures = {
      {"labelled heatmap", heatmap(small, labelled)},
      {"512 x 512 cells", heatmap(large)},
      {"line chart",
       line_chart({{.name = "weights", .y = attention(25).values}}, {.title = "A line chart"})}};
  const std::vector<std::string> filters = {"none", "sub", "up", "average", "paeth", "best of five"};
  fmt::print("{:<20}", "filter: KB, ms");
  for (const std::string& filter : filters) fmt::print("{:>16}", filter);
  fmt::print("\n");
  for (const auto& [name, image] : pictures) {
    fmt::print("{:<20}", name);
    for (int filter = 0; filter < 6; ++filter) {
      stbi_write_force_png_filter = filter < 5 ? filter : -1;
      const double time = milliseconds([image = &image] { encoded_size(*image); }, 7);
      fmt::print("{:>9.1f}{:>7.1f}", double(encoded_size(image)) / 1024, time);
    }
    fmt::print("\n");
  }
  std::filesystem::remove_all(folder);
}
