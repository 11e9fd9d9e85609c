// Shards: one step's batch cut into S pieces, and their gradients summed in one fixed order.
//
//   ShardSum sum(group, shards, n);                                 // n numbers are summed
//   for (Index s = sum.mine().begin; s < sum.mine().end; ++s)       // each rank computes its own shards
//     sum.add(s, gradient_of(s));
//   sum.finish(total);                                              // every rank has the same total
//
// Floating-point addition is not associative: (a + b) + c and a + (b + c) differ in their last bits. So the
// order is fixed once, as a binary tree over the shards, whatever the number of ranks:
//
//             +             S = 4. On 2 ranks each computes half of it; on 3 ranks {0}, {1} and {2, 3}; on 4
//         ┌───┴───┐         ranks a shard each. Every + adds the same two numbers each time, so the total
//         +       +         has the same bits, and so have the weights and the losses of all later steps.
//       ┌─┴─┐   ┌─┴─┐
//       0   1   2   3       A rank computes whole subtrees and sends their sums.
//
// Who adds the rest? If one rank did, it would receive everything and the others would wait. So the n numbers
// are cut into as many parts as there are ranks: rank k receives everybody's part k and adds that (a
// *reduce-scatter*), and then gives it to all (an *all-gather*). Each rank sends 2 n (R-1) / R numbers if it
// has one subtree: as many as in a ring, which needs more rounds and adds in another order on each R. The
// numbers leave in pieces of a megabyte, each as soon as backward has completed it.
#pragma once

#include <vector>  // vector

#include "core/rng.hpp"
#include "optim/group.hpp"

namespace attn {

// The shards of a rank: neighbours, and as many as others have, or one more or less.
Range shards_of(Index shards, Index rank, Index ranks);
// The largest whole subtrees in a range of shards, from left to right.
std::vector<Range> subtrees(Index shards, Range range);
// The part of n numbers that a rank adds up. It begins at a multiple of 4,096: gradient_norm sums so many.
Range part_of(Index n, Index rank, Index ranks);

// The random numbers of one shard of one step: a function of the seed, the step and the shard, and not of who
// computes it or what was drawn before.
Rng shard_rng(std::uint64_t seed, Index step, Index shard);

class ShardSum {
 public:
  ShardSum(Group& group, Index shards, Index n);
  Index shards() const { return shards_; }
  Range mine() const { return mine_; }                        // the shards of this rank
  Range part() const { return parts_[group_.rank()]; }        // of the n numbers: what it adds up
  const std::vector<Range>& parts() const { return parts_; }  // of each rank

  // The numbers of its next shard. Those of its last one are not copied: they stay where they are until
  // `finish`, which changes them, and may even be computed after this call. Then `complete` says which are
  // there, and these leave at once, while the others are computed; `finish` takes care of the rest.
  void add(Index shard, real* numbers);
  void complete(Range numbers);
  // The total of all shards: everywhere, or only in part() of each rank (for sharded optimizer state). May be
  // where the numbers of the last shard were.
  void finish(real* total, bool everywhere = true);

 private:
  struct Subtree {
    Range shards;
    real* sum;
  };
  struct Addition {  // left += right
    real* left;
    const real* right;
  };
  struct Piece {  // of the n numbers: what is sent at once
    Range numbers;
    Index owner;    // the rank that adds it up
    Index missing;  // numbers that are not complete yet
  };
  void push(std::vector<Subtree>& row, const Subtree& next, std::vector<Addition>& additions) const;
  static void add_up(const std::vector<Addition>& additions, Range numbers);
  void expect_pieces();
  void send(const Piece& piece);
  int tag_of(const Piece& piece) const { return 1 + int(&piece - pieces_.data()); }

  Group& group_;
  Index shards_, n_;
  Range mine_;
  std::vector<Range> parts_;
  std::vector<Piece> pieces_;
  std::vector<Subtree> sums_;                // of this rank's shards so far
  std::vector<Addition> last_;               // those that wait for the last shard
  std::vector<Subtree> row_;                 // this rank's part of everybody's subtrees, from left to right
  std::vector<std::vector<real>> copies_;    // the numbers of sums_
  std::vector<std::vector<real>> incoming_;  // and of row_
};

}  // namespace attn
