// How lesson 19's models learn fairy tales: with all their weights, or with LoRA's adapters.
#pragma once

#include "lessons/19_today/models.hpp"

namespace attn {

struct Way {
  std::string name;
  Index rank;                                    // of the adapters; 0: none
  Index numbers = 0;                             // that learn
  std::vector<double> tales = {}, stories = {};  // losses on unseen ones, by seed
};

struct FineTuning {
  std::vector<Way> ways;  // as it was, all weights, rank 1, rank 4
  // The largest differences: of a merged layer's output from W x + (α/r) B (A x), and of the logits of a
  // model whose adapters were taken out from those of the base.
  double merged_differs = 0, taken_out_differs = 0;
};

FineTuning learn_fairy_tales(const Course& course, const std::vector<Gpt>& bases, Index steps,
                             std::uint64_t seed);

}  // namespace attn
