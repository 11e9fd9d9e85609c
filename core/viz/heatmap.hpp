// Heatmaps: a matrix as coloured cells, with labels, a colour bar and, if wanted, the numbers.
//
//   heatmap(weights, {.title = "Who looks at whom", .x_title = "keys", .y_title = "queries",
//                     .row_labels = words, .column_labels = words});
//   heatmap_grid(grid);                    // thumbnails with one scale
//   open_heatmap(grid, "layer 2 head 1");  // one of them in full, on the same scale
//
// Row 0 is at the top, column 0 at the left; rows are queries and columns are keys. Column labels stand on
// top: level if they fit, else slanted, else upright; long ones are shortened. Without labels, round indices
// are shown. Above 2,048 cells per side each pixel is the mean of a block, and the picture says so.
#pragma once

#include <optional>  // optional
#include <string>    // string
#include <vector>    // vector

#include "core/viz/color.hpp"
#include "core/viz/image.hpp"
#include "core/viz/matrix.hpp"

namespace attn::viz {

struct HeatmapOptions {
  std::string title = {}, x_title = {}, y_title = {};
  std::vector<std::string> row_labels = {}, column_labels = {};  // none, or one for each row and column
  Colors colors = Colors::sequential;
  std::optional<double> low = {}, high = {};  // of the colour scale; beyond them the end colours are used
  std::string value_title = {};               // what the colours mean, beside their bar
  bool color_bar = true;
  bool numbers = false;  // write the value into each cell
  int decimals = 2;      // of those numbers
  Matrix faded = {};     // where not zero the cell is drawn pale: "not really stored", "not looked at"
  Matrix scores = {};    // what the values were made of: pages show both
  int cell = 0;          // pixels per side; 0 chooses
};

Image heatmap(const Matrix& matrix, const HeatmapOptions& options = {});

// Where things lie in the picture that heatmap() draws.
struct HeatmapLayout {
  int width = 0, height = 0;
  int left = 0, top = 0, cell_width = 0, cell_height = 0;
  Index rows = 0, cols = 0;  // cells drawn, which is fewer than the matrix has when it is shrunk
  int shrink = 1;

  Rect cell(Index row, Index column) const;
  Rect cells() const;
};
HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options = {});

struct HeatmapGrid {
  std::vector<std::string> names = {};  // "layer 1 head 2": the caption and the name to open it by
  std::vector<Matrix> maps = {};        // in reading order, one for each name
  int columns = 4;
  HeatmapOptions options = {};  // title, axis titles and colours of the grid; labels of the maps opened
};

Image heatmap_grid(const HeatmapGrid& grid);
Image open_heatmap(const HeatmapGrid& grid, const std::string& name);

}  // namespace attn::viz
