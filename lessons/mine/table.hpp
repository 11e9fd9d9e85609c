// The parts of the learner's own transformer: which functions of the course they are made of, and which
// milestones use them. `make mine` prints this table; parts.hpp turns it into functions that can be called.
#pragma once

#include <string>  // string
#include <vector>  // vector

namespace attn::mine {

// One function of an exercise that a model needs.
struct AskedFor {
  std::string name, lesson;  // "masked_softmax", "07_masking"
  std::string part;          // "softmax": one or more functions, its gradient among them
  std::string milestones;    // "2345": the numbers of those that use it

  std::string number() const { return lesson.substr(0, 2); }
  bool used_by(int milestone) const { return milestones.find(char('0' + milestone)) != std::string::npos; }
};
const std::vector<AskedFor>& functions();
const AskedFor* find_function(const std::string& name);  // null if no milestone uses it

// Products of lesson 03 that can take the place of lesson 01's: PARTS="product=multiply_ikj".
inline constexpr const char *faster_products[] = {"multiply_ikj", "multiply_tiled"},
                            *faster_products_lesson = "03_fast_matmul";

struct Milestone {
  int number;
  std::string name;   // "mine_1_gradients": its program and its folder of pictures
  std::string title;  // "Your gradients learn"
  std::string after;  // "04": the lesson after which it can be done
};
const std::vector<Milestone>& milestones();

// "make mine-3 MISTAKE=\"scores: no scaling\"": how to see what a mistake in this function does to a model;
// empty if no milestone uses the function.
std::string how_to_see(const std::string& function, const std::string& mistake);

}  // namespace attn::mine
