// Equations: a part of LaTeX becomes MathML, which browsers show by themselves.
//
//   mathml(R"(\frac{QK^\top}{\sqrt{d_k}})", true)   ->   <math display="block">...</math>
//
// It knows sub- and superscripts, \frac \binom \sqrt, Greek, \sum \prod \int with limits, \left \right \big,
// relations and arrows, \text \mathrm \mathbf \mathbb \mathcal \operatorname, functions like \exp and \max,
// \hat \bar \tilde \vec \overline \underbrace \underset, the matrix environments, cases and aligned, and
// spaces like \, and \quad. Jupyter shows the same text with MathJax, which knows more: here that is an
// error.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

namespace attn::press {

// `display`: an equation on a line of its own. Throws Error, naming what is wrong; also if it is nested too
// deep.
std::string mathml(std::string_view latex, bool display);

}  // namespace attn::press
