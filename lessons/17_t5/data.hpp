// The text of lesson 17: children and their animals. Nearly every word follows from the others.
//
//   Anna has a cow. it eats grass, it says moo and it lives in a barn. Anna loves her cow and …
//
// What an animal eats, says and lives in is the same in every text, so it can only be learned by heart. Who
// has which animal changes from text to text, and has to be looked up there.
#pragma once

#include <string>  // string
#include <vector>  // vector

#include "core/rng.hpp"

namespace attn {

struct Child {
  std::string name, her;  // her or his
};
struct Animal {
  std::string name, food, sound, home;
};
const std::vector<Child>& children();
const std::vector<Animal>& animals();

struct PetText {
  std::string text;
  int child, animal;  // their numbers
};

// Some children have some animals in unseen texts only.
enum class Part { training, unseen };
PetText random_text(Part part, Rng& rng);

}  // namespace attn
