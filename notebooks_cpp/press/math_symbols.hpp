// The signs that math.cpp knows by name, and what kind of sign each is: for use inside of the press.
#pragma once

#include <string_view>    // string_view
#include <unordered_map>  // unordered_map

namespace attn::press {

// As in TeX, the kind decides about the space around a sign and about a minus being a sign or an operation.
enum class Kind { none, ordinary, function, operation, relation, open, close, punctuation };

struct Symbol {
  Kind kind = Kind::none;
  std::string_view text;
  bool limits = false;  // sub- and superscripts go below and above, if there is room
};

inline const std::unordered_map<std::string_view, Symbol> symbols = {
    {"alpha", {Kind::ordinary, "α"}},
    {"beta", {Kind::ordinary, "β"}},
    {"gamma", {Kind::ordinary, "γ"}},
    {"delta", {Kind::ordinary, "δ"}},
    {"epsilon", {Kind::ordinary, "ϵ"}},
    {"varepsilon", {Kind::ordinary, "ε"}},
    {"zeta", {Kind::ordinary, "ζ"}},
    {"eta", {Kind::ordinary, "η"}},
    {"theta", {Kind::ordinary, "θ"}},
    {"iota", {Kind::ordinary, "ι"}},
    {"kappa", {Kind::ordinary, "κ"}},
    {"lambda", {Kind::ordinary, "λ"}},
    {"mu", {Kind::ordinary, "μ"}},
    {"nu", {Kind::ordinary, "ν"}},
    {"xi", {Kind::ordinary, "ξ"}},
    {"pi", {Kind::ordinary, "π"}},
    {"rho", {Kind::ordinary, "ρ"}},
    {"sigma", {Kind::ordinary, "σ"}},
    {"tau", {Kind::ordinary, "τ"}},
    {"upsilon", {Kind::ordinary, "υ"}},
    {"phi", {Kind::ordinary, "ϕ"}},
    {"varphi", {Kind::ordinary, "φ"}},
    {"chi", {Kind::ordinary, "χ"}},
    {"psi", {Kind::ordinary, "ψ"}},
    {"omega", {Kind::ordinary, "ω"}},
    {"infty", {Kind::ordinary, "∞"}},
    {"partial", {Kind::ordinary, "∂"}},
    {"nabla", {Kind::ordinary, "∇"}},
    {"ell", {Kind::ordinary, "ℓ"}},
    {"top", {Kind::ordinary, "⊤"}},
    {"bot", {Kind::ordinary, "⊥"}},
    {"emptyset", {Kind::ordinary, "∅"}},
    {"forall", {Kind::ordinary, "∀"}},
    {"exists", {Kind::ordinary, "∃"}},
    {"prime", {Kind::ordinary, "′"}},
    {"ldots", {Kind::ordinary, "…"}},
    {"dots", {Kind::ordinary, "…"}},
    {"cdots", {Kind::ordinary, "⋯"}},
    {"vdots", {Kind::ordinary, "⋮"}},
    {"ddots", {Kind::ordinary, "⋱"}},
    {"neg", {Kind::ordinary, "¬"}},
    {"%", {Kind::ordinary, "%"}},
    {"#", {Kind::ordinary, "#"}},
    {"$", {Kind::ordinary, "$"}},
    {"&", {Kind::ordinary, "&"}},
    {"_", {Kind::ordinary, "_"}},

    {"cdot", {Kind::operation, "⋅"}},
    {"times", {Kind::operation, "×"}},
    {"div", {Kind::operation, "÷"}},
    {"pm", {Kind::operation, "±"}},
    {"mp", {Kind::operation, "∓"}},
    {"odot", {Kind::operation, "⊙"}},
    {"oplus", {Kind::operation, "⊕"}},
    {"otimes", {Kind::operation, "⊗"}},
    {"circ", {Kind::operation, "∘"}},
    {"ast", {Kind::operation, "∗"}},
    {"star", {Kind::operation, "⋆"}},
    {"bullet", {Kind::operation, "∙"}},
    {"cup", {Kind::operation, "∪"}},
    {"cap", {Kind::operation, "∩"}},
    {"setminus", {Kind::operation, "∖"}},
    {"wedge", {Kind::operation, "∧"}},
    {"land", {Kind::operation, "∧"}},
    {"vee", {Kind::operation, "∨"}},
    {"lor", {Kind::operation, "∨"}},

    {"le", {Kind::relation, "≤"}},
    {"leq", {Kind::relation, "≤"}},
    {"ge", {Kind::relation, "≥"}},
    {"geq", {Kind::relation, "≥"}},
    {"lt", {Kind::relation, "<"}},
    {"gt", {Kind::relation, ">"}},
    {"ll", {Kind::relation, "≪"}},
    {"gg", {Kind::relation, "≫"}},
    {"ne", {Kind::relation, "≠"}},
    {"neq", {Kind::relation, "≠"}},
    {"approx", {Kind::relation, "≈"}},
    {"equiv", {Kind::relation, "≡"}},
    {"sim", {Kind::relation, "∼"}},
    {"simeq", {Kind::relation, "≃"}},
    {"propto", {Kind::relation, "∝"}},
    {"in", {Kind::relation, "∈"}},
    {"notin", {Kind::relation, "∉"}},
    {"subset", {Kind::relation, "⊂"}},
    {"subseteq", {Kind::relation, "⊆"}},
    {"mid", {Kind::relation, "∣"}},
    {"parallel", {Kind::relation, "∥"}},
    {"perp", {Kind::relation, "⟂"}},
    {"to", {Kind::relation, "→"}},
    {"rightarrow", {Kind::relation, "→"}},
    {"leftarrow", {Kind::relation, "←"}},
    {"gets", {Kind::relation, "←"}},
    {"leftrightarrow", {Kind::relation, "↔"}},
    {"longrightarrow", {Kind::relation, "⟶"}},
    {"mapsto", {Kind::relation, "↦"}},
    {"Rightarrow", {Kind::relation, "⇒"}},
    {"implies", {Kind::relation, "⟹"}},
    {"Leftrightarrow", {Kind::relation, "⇔"}},
    {"iff", {Kind::relation, "⟺"}},
    {"uparrow", {Kind::relation, "↑"}},
    {"downarrow", {Kind::relation, "↓"}},
    {"colon", {Kind::punctuation, ":"}},

    {"{", {Kind::open, "{"}},
    {"lbrace", {Kind::open, "{"}},
    {"langle", {Kind::open, "⟨"}},
    {"lfloor", {Kind::open, "⌊"}},
    {"lceil", {Kind::open, "⌈"}},
    {"lvert", {Kind::open, "|"}},
    {"lVert", {Kind::open, "‖"}},
    {"}", {Kind::close, "}"}},
    {"rbrace", {Kind::close, "}"}},
    {"rangle", {Kind::close, "⟩"}},
    {"rfloor", {Kind::close, "⌋"}},
    {"rceil", {Kind::close, "⌉"}},
    {"rvert", {Kind::close, "|"}},
    {"rVert", {Kind::close, "‖"}},
    {"vert", {Kind::ordinary, "|"}},
    {"Vert", {Kind::ordinary, "‖"}},
    {"|", {Kind::ordinary, "‖"}},

    {"sum", {Kind::function, "∑", true}},
    {"prod", {Kind::function, "∏", true}},
    {"bigcup", {Kind::function, "⋃", true}},
    {"bigcap", {Kind::function, "⋂", true}},
    {"bigoplus", {Kind::function, "⨁", true}},
    {"int", {Kind::function, "∫"}},
    {"arg", {Kind::function, "arg"}},
    {"cos", {Kind::function, "cos"}},
    {"cosh", {Kind::function, "cosh"}},
    {"det", {Kind::function, "det", true}},
    {"dim", {Kind::function, "dim"}},
    {"exp", {Kind::function, "exp"}},
    {"inf", {Kind::function, "inf", true}},
    {"lim", {Kind::function, "lim", true}},
    {"ln", {Kind::function, "ln"}},
    {"log", {Kind::function, "log"}},
    {"max", {Kind::function, "max", true}},
    {"min", {Kind::function, "min", true}},
    {"Pr", {Kind::function, "Pr", true}},
    {"sin", {Kind::function, "sin"}},
    {"sinh", {Kind::function, "sinh"}},
    {"sup", {Kind::function, "sup", true}},
    {"tan", {Kind::function, "tan"}},
    {"tanh", {Kind::function, "tanh"}},
    {"bmod", {Kind::operation, "mod"}},
};

// Upright in TeX, where small Greek is slanted.
inline const std::unordered_map<std::string_view, std::string_view> capital_greek = {
    {"Gamma", "Γ"}, {"Delta", "Δ"},   {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},   {"Pi", "Π"},
    {"Sigma", "Σ"}, {"Upsilon", "Υ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"}};

inline const std::unordered_map<std::string_view, std::string_view> accents = {
    {"hat", "ˆ"}, {"widehat", "ˆ"},   {"bar", "¯"}, {"tilde", "˜"},
    {"dot", "˙"}, {"widetilde", "˜"}, {"vec", "→"}, {"ddot", "¨"}};

// Lines as long as what they belong to, as CSS.
struct Line {
  std::string_view style;
  bool limits = false;
};

inline const std::unordered_map<std::string_view, Line> lines = {
    {"overline", {"border-top:0.06em solid;padding-top:0.1em"}},
    {"underline", {"border-bottom:0.06em solid;padding-bottom:0.1em"}},
    {"overbrace", {"border-top:0.06em solid;border-radius:0.4em 0.4em 0 0;padding:0.15em 0.1em 0", true}},
    {"underbrace", {"border-bottom:0.06em solid;border-radius:0 0 0.4em 0.4em;padding:0 0.1em 0.15em", true}},
};

// In parts of an em.
inline const std::unordered_map<std::string_view, std::string_view> spaces = {
    {",", "0.167em"}, {":", "0.222em"}, {";", "0.278em"}, {"!", "-0.167em"},
    {" ", "0.333em"}, {"quad", "1em"},  {"qquad", "2em"}};

}  // namespace attn::press
