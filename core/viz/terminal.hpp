// The terminal twins of heatmap and line_chart: text, at most 100 columns wide, from the same options.
//
//   std::fputs(terminal_heatmap(weights, {.title = "weights", .row_labels = words}).c_str(), stdout);
//
// On a terminal, true colours (a character holds two cells, one above the other, as a half block, when the
// matrix is large); into a file or a pipe, or when NO_COLOR is set, plain characters. Large matrices are
// shrunk to fit.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/chart.hpp"
#include "core/viz/heatmap.hpp"

namespace attn::viz {

enum class Terminal { Detect, Color, Plain };

std::string terminal_heatmap(const Matrix& matrix, const HeatmapOptions& options = {},
                             Terminal terminal = Terminal::Detect);
std::string terminal_line_chart(const std::vector<Series>& series, const ChartOptions& options = {},
                                Terminal terminal = Terminal::Detect);

// Whether standard output is a terminal that shows true colours.
bool terminal_has_colors();

}  // namespace attn::viz
