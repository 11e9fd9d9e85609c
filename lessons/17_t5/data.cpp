#include "lessons/17_t5/data.hpp"

#include <fmt/core.h>  // format

#include <iterator>  // ssize

namespace attn {

const std::vector<Child>& children() {
  static const std::vector<Child> all = {
      {"Anna", "her"},  {"Ben", "his"},   {"Clara", "her"}, {"Daniel", "his"}, {"Emma", "her"},
      {"Felix", "his"}, {"Grace", "her"}, {"Henry", "his"}, {"Lucy", "her"},   {"Max", "his"}};
  return all;
}

const std::vector<Animal>& animals() {
  static const std::vector<Animal> all = {
      {"cow", "grass", "moo", "barn"},       {"dog", "bones", "woof", "kennel"},
      {"cat", "fish", "meow", "basket"},     {"duck", "seeds", "quack", "lake"},
      {"bee", "pollen", "buzz", "hive"},     {"lion", "meat", "roar", "cave"},
      {"frog", "flies", "croak", "pond"},    {"horse", "hay", "neigh", "stable"},
      {"mouse", "cheese", "squeak", "hole"}, {"sheep", "clover", "baa", "meadow"},
      {"pig", "turnips", "oink", "sty"},     {"wolf", "rabbits", "howl", "den"}};
  return all;
}

PetText random_text(Part part, Rng& rng) {
  int child = 0, animal = 0;
  do {
    child = int(rng.below(std::ssize(children())));
    animal = int(rng.below(std::ssize(animals())));
  } while (((child + 2 * animal) % 5 == 0) != (part == Part::unseen));
  const auto& [name, her] = children()[child];
  const auto& [pet, food, sound, home] = animals()[animal];
  std::vector<std::string> facts = {"it eats " + food, "it says " + sound, "it lives in a " + home};
  shuffle(facts, rng);
  const std::string opening = rng.below(2) ? fmt::format("{} has a {}.", name, pet)
                                           : fmt::format("this is {} with {} {}.", name, her, pet);
  const std::string end =
      rng.below(2) ? fmt::format("{} loves {} {} and gives it {} every day.", name, her, pet, food)
                   : fmt::format("every day {} goes to the {} and plays with {} {}.", name, home, her, pet);
  return {fmt::format("{} {}, {} and {}. {}", opening, facts[0], facts[1], facts[2], end), child, animal};
}

}  // namespace attn
