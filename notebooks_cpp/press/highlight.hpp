// C++ in colours, as HTML.
//
//   highlight_cpp("int x = 1;  // one")   ->   <span class="t">int</span> x = <span class="n">1</span>; ...
//
// Classes: k keyword, t type, s string or character, n number, c comment, p preprocessor. What is a type is
// guessed: the built-in ones, names that end in _t, and names like Tensor. The text without its tags is the
// code, character by character. It is meant for code that compiles; other text comes out uncoloured, not
// wrong.
#pragma once

#include <functional>   // function
#include <string>       // string
#include <string_view>  // string_view

namespace attn::press {

// Where a name leads: an address, or "" for nowhere.
using Linker = std::function<std::string(std::string_view name)>;

// Identifiers that `link` knows become links.
std::string highlight_cpp(std::string_view code, const Linker& link = {});

}  // namespace attn::press
