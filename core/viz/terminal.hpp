// The terminal twins of heatmap and line_chart: text, at most `columns` wide, from the same options.
//
//   std::fputs(terminal_heatmap(weights, {.title = "weights", .row_labels = words}).c_str(), stdout);
//
// On a terminal the colours are true ones; a large matrix is shrunk to fit and drawn as half blocks, two
// cells in a character. In a file or a pipe, or when NO_COLOR is set, plain characters.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/chart.hpp"
#include "core/viz/heatmap.hpp"

namespace attn::viz {

enum class Terminal { detect, color, plain };

std::string terminal_heatmap(const Matrix& matrix, const HeatmapOptions& options = {},
                             Terminal terminal = Terminal::detect, Index columns = 100);
std::string terminal_line_chart(const std::vector<Series>& series, const ChartOptions& options = {},
                                Terminal terminal = Terminal::detect, Index columns = 100);

}  // namespace attn::viz
