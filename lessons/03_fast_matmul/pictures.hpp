// The pictures of lesson 03: what a walk over memory fetches, packing, the ladder and the roofline.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/viz/image.hpp"
#include "lessons/03_fast_matmul/ladder.hpp"

namespace attn {

// Sixteen reads of a row-major matrix, down a column and along a row, and the cache lines they fetch.
viz::Image cache_lines_picture();

// A few columns of a wide matrix, far apart row by row, and the same numbers copied side by side.
viz::Image packing_picture();

// GFLOP/s on a logarithmic axis, on one core and on all, each rung with the peak of its vectors.
viz::Image ladder_picture(const std::vector<Rung>& rungs, int threads, const std::string& title);

// The roof of each level of memory, and where operations are under it.
viz::Image roofline_picture(const std::vector<MemoryLevel>& levels, double peak,
                            const std::vector<Operation>& operations);

}  // namespace attn
