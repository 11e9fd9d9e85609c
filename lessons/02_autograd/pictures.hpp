// The pictures of lesson 02: its graph with what goes forwards and what comes back, and steps down a valley.
#pragma once

#include <functional>  // function
#include <vector>      // vector

#include "core/viz/image.hpp"
#include "lessons/02_autograd/value.hpp"

namespace attn {

// The graph of the lesson's example, whose nodes are w, x, target, guess, error, error², loss.
viz::Image graph_picture(const Graph& graph);

// loss(w), its slope where both ways begin, and two ways of gradient descent, at a good rate and a wild one.
viz::Image descent_picture(const std::function<double(double)>& loss, const std::vector<double>& way,
                           const std::vector<double>& wild);

}  // namespace attn
