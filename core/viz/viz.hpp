// All pictures: one call each, to an Image that can be put beside others or become a PNG.
//
//   viz::write_png("weights.png", viz::heatmap(viz::Matrix(rows, cols, pointer), {.title = "weights"}));
//
//   heatmap, heatmap_grid, open_heatmap     matrices: rows are queries, columns are keys
//   line_chart, histogram, bar_chart, grouped_bar_chart, scatter
//   graph, tree, token_rows                 boxes and arrows, beam search, sentences
//   row, column                             pictures made of pictures
//   terminal_heatmap, terminal_line_chart   the same as text, as wide as asked for
//
// Options are aggregates: name the members wanted, in the order in which they are declared.
#pragma once

#include "core/viz/arrange.hpp"
#include "core/viz/chart.hpp"
#include "core/viz/graph.hpp"
#include "core/viz/heatmap.hpp"
#include "core/viz/image.hpp"
#include "core/viz/matrix.hpp"
#include "core/viz/terminal.hpp"
#include "core/viz/text.hpp"
#include "core/viz/tokens.hpp"
#include "core/viz/tree.hpp"
