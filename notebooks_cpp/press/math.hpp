// Equations: a part of LaTeX becomes MathML, which browsers show by themselves.
//
//   mathml(R"(\frac{QK^\top}{\sqrt{d_k}})", true)   ->   <math display="block">...</math>
//
// There are sub- and superscripts, \frac \sqrt \binom, Greek, \sum \prod \int with limits, \left \right,
// relations and arrows, \text \mathrm \mathbf \mathbb \mathcal \operatorname, functions like \exp and \max,
// \hat \bar \tilde \vec \overline \underbrace, the matrix environments, cases and aligned, spaces like \,
// and \quad. Jupyter shows the same text with MathJax: what it does not know is an error here, too.
#pragma once

#include <string>       // string
#include <string_view>  // string_view

namespace attn::press {

// `display`: an equation on a line of its own. Throws Error that names the command that is not known.
std::string mathml(std::string_view latex, bool display);

}  // namespace attn::press
