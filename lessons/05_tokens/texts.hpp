// The texts of lesson 05, and what it draws of its vectors.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/rng.hpp"
#include "core/tensor.hpp"
#include "core/viz/image.hpp"

namespace attn {

// Sentences such as `the painter relocked the unprintable folders`: 48 stems in 12 forms, common stems and
// rare ones. Every eighth combination of stem and form occurs in none of them.
std::vector<std::string> inflected_text(Index lines, Rng& rng);
std::vector<std::string> inflected_words(
    bool unseen);  // those that can occur in the text, or those that never do

// Years, recent ones more often.
std::vector<std::string> text_with_years(Index lines, Rng& rng);

// Words of the same part of speech.
struct WordClass {
  std::string name;
  std::vector<std::string> words;
};
std::vector<WordClass> parts_of_speech();

// The rows of x (N, C) seen from the side from which they differ most: (N, 2), by principal component
// analysis (PCA).
Tensor flattened(const Tensor& x);

// Word vectors in the plane, one row of `places` (N, 2) per word, in the order of the classes.
viz::Image word_map(const Tensor& places, const std::vector<WordClass>& classes, const std::string& title);

}  // namespace attn
