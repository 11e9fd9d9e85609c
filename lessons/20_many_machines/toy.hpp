// A small language, a small GPT that learns it, and its training on one rank or on many.
//
// A sentence has 4 to 16 letters of 8. Each letter is decided by the two before it, by a fixed table, in 9
// of 10 cases, and else drawn at random: so no model can have a loss below floor_loss().
#pragma once

#include <cstdint>  // uint64_t
#include <vector>   // vector

#include "nn/gpt.hpp"
#include "optim/shards.hpp"

namespace attn {

struct ToyBatch {
  IntTensor tokens, targets;  // (B, T); a target of 0 is padding and does not count
};
ToyBatch toy_batch(std::uint64_t seed, Index step, Index sentences);
ToyBatch rows_of(const ToyBatch& batch, Range rows);
Index tokens_in(const ToyBatch& batch);
ToyBatch by_length(const ToyBatch& batch);  // its sentences sorted, the shortest first
double floor_loss();

Gpt toy_model(std::uint64_t seed, real dropout = 0);
Tensor toy_loss(const Gpt& model, const ToyBatch& batch, const Context& context = {});

// The mean gradient of each shard of a batch, of all parameters in a row, and its tokens.
struct Shards {
  std::vector<std::vector<real>> gradients;
  std::vector<Index> tokens;
};
Shards shards_of_batch(const Gpt& model, const ToyBatch& batch, Index count);
// Each shard counts with its weight; the weights sum to 1.
std::vector<real> weighted(const Shards& shards, const std::vector<double>& weights);
// How far a is from b, relative to the length of b.
double distance(const std::vector<real>& a, const std::vector<real>& b);

// Adam (lesson 04) by a loop over one range of all parameters, with averages for that range only.
class RangeAdam {
 public:
  explicit RangeAdam(Range part);
  void step(real* values, const real* gradient, double rate);
  Index kept() const { return Index(m_.size() + v_.size()); }  // numbers

 private:
  Range part_;
  std::vector<real> m_, v_;
  Index steps_ = 0;
};

struct Recipe {
  std::uint64_t seed = 1;
  Index sentences = 32, shards = 8, steps = 12;
  double rate = 3e-3;
  real dropout = 0;
  bool noise_by_rank = false;  // a mistake: dropout drawn by the rank instead of the shard
  bool keep_part = false;      // ZeRO, stage 1: this rank keeps Adam's averages for its part only
};

struct Trained {
  std::vector<double> losses = {};
  std::uint64_t bits = 0;                          // a fingerprint of all weights
  Index sentences = 0;                             // of a step's batch, computed by this rank
  Index kept = 0;                                  // of Adam's numbers, by this rank
  double computing = 0, adding = 0, updating = 0;  // processor time of this rank per step: its best step
};
Trained train_together(Group& group, const Recipe& recipe);

// On so many simulated ranks: what rank 0 has in the end, with the times and numbers of the busiest.
Trained train_simulated(Index ranks, const Recipe& recipe);

std::uint64_t fingerprint(const real* numbers, Index count);

// How many steps of Adam it takes until the loss on other sentences is below `target`; `most` if more.
Index steps_to(double target, Index sentences, double rate, std::uint64_t seed, Index most);

}  // namespace attn
