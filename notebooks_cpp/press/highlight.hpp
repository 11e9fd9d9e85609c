// C++ in colours, as HTML.
//
//   highlight_cpp("int x = 1;  // one")   ->   <span class="t">int</span> x = <span class="n">1</span>; ...
//
// Classes: k keyword, t type, s string or character, n number, c comment, p preprocessor. What is a type is
// guessed: the built-in ones, names that end in _t, and names like Tensor. The text without its tags is the
// code, character by character, and no tag reaches into the next line.
#pragma once

#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "notebooks_cpp/press/tokens.hpp"

namespace attn::press {

// Where the name code[at] leads: an address, or "" for nowhere.
using NameLinker = std::function<std::string(const std::vector<Token>& code, Index at)>;

// Names that `link` knows become links.
std::string highlight_cpp(std::string_view code, const NameLinker& link = {});

}  // namespace attn::press
