// The race of lesson 19's experts: one feed-forward network per block, or several and a router.
#pragma once

#include "lessons/19_today/models.hpp"

namespace attn {

struct Routed {
  Index parameters = 0;
  std::vector<double> losses, busiest;  // by seed; the load of the busiest expert in %, the mean over layers
  std::vector<int> read, chosen;        // with the first seed: characters, and their experts in layer 1
};

Routed train_dense(const Course& course, const TransformerConfig& config);
Routed train_experts(const Course& course, const TransformerConfig& config, Index experts, real balance);

}  // namespace attn
