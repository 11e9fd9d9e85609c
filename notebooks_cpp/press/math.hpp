// Equations: a part of LaTeX becomes MathML, which browsers show by themselves.
//
//   mathml(R"(\frac{QK^\top}{\sqrt{d_k}})", true)   ->   <math display="block">...</math>
//
// It knows sub- and superscripts, \frac \binom \sqrt, Greek, \sum \prod \int with limits, \left \right \big,
// relations and arrows, \text \mathrm \mathbf \mathbb \mathcal \operatorname, functions like \exp and \max,
// \hat \bar \tilde \vec \overline \underbrace \underset, the matrix environments, cases and aligned, and
// spaces like \, and \quad. Jupyter shows the same text with MathJax; what only MathJax knows is an error.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

namespace attn::press {

// `display`: an equation on a line of its own. Throws Error, saying what is wrong.
std::string mathml(std::string_view latex, bool display);

}  // namespace attn::press
