// What the five milestones have in common: their options, whose parts they use, what these cost, and what a
// mistake does.
//
//   int main(int argc, char** argv) {
//     return run_milestone(argc, argv, 1, "Do your gradients learn?", spirals_by_parts);
//   }
#pragma once

#include <memory>  // unique_ptr

#include "lessons/mine/parts.hpp"
#include "lessons/support/lesson.hpp"

namespace attn::mine {

// The same parts with a mistake in one of them: one for each mistake that was asked for.
using Mistaken = std::vector<std::unique_ptr<const Parts>>;
using MilestoneBody = std::function<void(Lesson& lesson, const Parts& parts, const Mistaken& mistaken)>;
int run_milestone(int argc, char** argv, int number, const std::string& question, const MilestoneBody& body);

// One training by parts.
struct Trained {
  std::vector<double> losses = {};
  viz::Matrix map = {};      // what it looks at, or decides
  double score = 0;          // the share of right answers
  std::string stopped = {};  // the sentence with which a part ended it
  double last_loss() const;  // the mean of the last tenth
};

// What a mistake did to a training that is otherwise the same: two curves, two maps, one sentence.
struct MistakeText {
  std::string score = "right";  // "99% right"
  std::string map_title, x_title, y_title;
  std::vector<std::string> row_labels = {}, column_labels = {};
};
void show_mistake(Lesson& lesson, const Parts& mistaken, const Trained& without, const Trained& with,
                  const MistakeText& text);

// Runs a training with a mistake in it: a part that cannot go on ends the training, not the milestone.
Trained run_mistaken(const std::function<void(Trained& result)>& run);

// The first ten losses of a training by parts and by the library: "1e-4 relative".
double worst_relative(const std::vector<double>& ours, const std::vector<double>& theirs, Index count = 10);

// What each part cost, beside ours.
void show_times(Lesson& lesson, const Parts& parts);

}  // namespace attn::mine
