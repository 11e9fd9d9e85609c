// The symbols that math.cpp knows by name, and the kind of each.
#pragma once

#include <initializer_list>  // initializer_list
#include <string_view>       // string_view
#include <unordered_map>     // unordered_map

#include "notebooks_cpp/press/lines.hpp"  // words_of

namespace attn::press {

// As in TeX, the kind decides about the space around a symbol, and whether a minus is a sign or an operation.
// Upright are the capitals of Greek, whose small letters are slanted.
enum class Role { none, ordinary, upright, accent, function, operation, relation, open, close, punctuation };

struct Symbol {
  Role kind = Role::none;
  std::string_view text;
  bool limits = false;  // sub- and superscripts go below and above, if there is room
};

using SymbolTable = std::unordered_map<std::string_view, Symbol>;

// Rows of a kind with names and symbols in turn.
struct SymbolRow {
  Role kind;
  std::string_view names_and_symbols;
  bool limits = false;
};
inline SymbolTable table_of(std::initializer_list<SymbolRow> rows) {
  SymbolTable table;
  for (const SymbolRow& row : rows) {
    const auto words = words_of(row.names_and_symbols);
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
      table[words[i]] = {row.kind, words[i + 1], row.limits};
  }
  return table;
}

inline const SymbolTable symbols = table_of({
    {Role::ordinary,
     "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ"},
    {Role::ordinary, "lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ"},
    {Role::ordinary,
     "omega ω infty ∞ partial ∂ nabla ∇ ell ℓ top ⊤ bot ⊥ emptyset ∅ forall ∀ exists ∃ prime ′"},
    {Role::ordinary, "ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ neg ¬ % % # # $ $ & & _ _ vert | Vert ‖ | ‖"},
    {Role::upright, "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω"},
    {Role::accent, "hat ˆ widehat ˆ bar ¯ tilde ˜ widetilde ˜ dot ˙ ddot ¨ vec →"},
    {Role::operation, "cdot ⋅ times × div ÷ pm ± mp ∓ odot ⊙ oplus ⊕ otimes ⊗ circ ∘ ast ∗ star ⋆ bullet ∙"},
    {Role::operation, "cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨ bmod mod"},
    {Role::relation, "le ≤ leq ≤ ge ≥ geq ≥ lt < gt > ll ≪ gg ≫ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ simeq ≃"},
    {Role::relation, "propto ∝ in ∈ notin ∉ subset ⊂ subseteq ⊆ mid ∣ parallel ∥ perp ⟂ to → rightarrow →"},
    {Role::relation, "leftarrow ← gets ← leftrightarrow ↔ longrightarrow ⟶ mapsto ↦ Rightarrow ⇒ implies ⟹"},
    {Role::relation, "Leftrightarrow ⇔ iff ⟺ uparrow ↑ downarrow ↓"},
    {Role::punctuation, "colon :"},
    {Role::open, "{ { lbrace { langle ⟨ lfloor ⌊ lceil ⌈ lvert | lVert ‖"},
    {Role::close, "} } rbrace } rangle ⟩ rfloor ⌋ rceil ⌉ rvert | rVert ‖"},
    {Role::function, "sum ∑ prod ∏ bigcup ⋃ bigcap ⋂ bigoplus ⨁ det det inf inf lim lim max max min min",
     true},
    {Role::function, "Pr Pr sup sup", true},
    {Role::function,
     "int ∫ arg arg cos cos cosh cosh dim dim exp exp ln ln log log sin sin sinh sinh tan tan"},
    {Role::function, "tanh tanh"},
});

// What stands for itself.
inline const SymbolTable signs = table_of({{Role::open, "( ( [ ["},
                                           {Role::close, ") ) ] ] ! !"},
                                           {Role::operation, "+ + - − * ∗"},
                                           {Role::relation, "= = < < > > : :"},
                                           {Role::punctuation, ", , ; ;"}});

// Lines as long as what they belong to, as CSS.
inline const std::unordered_map<std::string_view, Symbol> lines = {
    {"overline", {Role::none, "border-top:0.06em solid;padding-top:0.1em"}},
    {"underline", {Role::none, "border-bottom:0.06em solid;padding-bottom:0.1em"}},
    {"overbrace",
     {Role::none, "border-top:0.06em solid;border-radius:0.4em 0.4em 0 0;padding:0.15em 0.1em 0", true}},
    {"underbrace",
     {Role::none, "border-bottom:0.06em solid;border-radius:0 0 0.4em 0.4em;padding:0 0.1em 0.15em", true}},
};

// In parts of an em.
inline const std::unordered_map<std::string_view, std::string_view> spaces = {
    {",", "0.167em"}, {":", "0.222em"}, {";", "0.278em"}, {"!", "-0.167em"},
    {" ", "0.333em"}, {"quad", "1em"},  {"qquad", "2em"}};

}  // namespace attn::press
