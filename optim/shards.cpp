#include "optim/shards.hpp"

#include <algorithm>  // copy, max, min
#include <iterator>   // ssize
#include <utility>    // move

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "optim/parameter_block.hpp"  // norm_chunk

namespace attn {
namespace {

bool operator==(const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }
Index middle(const Range& range) { return range.begin + (range.end - range.begin + 1) / 2; }

// Is this range of shards a subtree? Goes down from the root to find it.
bool is_subtree(Index shards, const Range& range) {
  Range node{0, shards};
  while (!(node == range)) {
    const Index half = middle(node);
    if (range.begin >= half && half < node.end)
      node.begin = half;
    else if (range.end <= half && half < node.end)
      node.end = half;
    else
      return false;
  }
  return true;
}

constexpr Index piece_size = 64 * norm_chunk;  // a megabyte: large enough to be worth a message

}  // namespace

void ShardSum::add_up(const std::vector<Addition>& additions, Range numbers) {
  for (const Addition& addition : additions)
    parallel_for(numbers.end - numbers.begin, elementwise_grain, [&](Index begin, Index end) {
      for (Index i = numbers.begin + begin; i < numbers.begin + end; ++i)
        addition.left[i] += addition.right[i];
    });
}

Range shards_of(Index shards, Index rank, Index ranks) {
  return {shards * rank / ranks, shards * (rank + 1) / ranks};
}

std::vector<Range> subtrees(Index shards, Range range) {
  std::vector<Range> found;
  const auto look_in = [&](const auto& self, Range node) -> void {
    if (node.begin >= range.end || node.end <= range.begin) return;
    if (node.begin >= range.begin && node.end <= range.end) return found.push_back(node);
    self(self, {node.begin, middle(node)});
    self(self, {middle(node), node.end});
  };
  look_in(look_in, {0, shards});
  return found;
}

Range part_of(Index n, Index rank, Index ranks) {
  const Index chunks = (n + norm_chunk - 1) / norm_chunk;
  return {std::min(n, chunks * rank / ranks * norm_chunk),
          std::min(n, chunks * (rank + 1) / ranks * norm_chunk)};
}

Rng shard_rng(std::uint64_t seed, Index step, Index shard) {
  Rng rng(seed ^ (std::uint64_t(shard) << 48));
  rng.counter = std::uint64_t(step) << 34;  // more draws than a shard can make, for a billion steps
  return rng;
}

ShardSum::ShardSum(Group& group, Index shards, Index n)
    : group_(group), shards_(shards), n_(n), mine_(shards_of(shards, group.rank(), group.size())) {
  if (shards < 1) fail("shards: a batch cannot be cut into {}", shards);
  if (shards < group.size()) fail("shards: {} processes have only {} shards to share", group.size(), shards);
  for (Index rank = 0; rank < group.size(); ++rank) {
    parts_.push_back(part_of(n, rank, group.size()));
    for (Index begin = parts_[rank].begin; begin < parts_[rank].end; begin += piece_size)
      pieces_.push_back({{begin, std::min(begin + piece_size, parts_[rank].end)}, rank, 0});
  }
}

// Two neighbours that are subtrees, and together are one, are its halves: they become one sum.
void ShardSum::push(std::vector<Subtree>& row, const Subtree& next, std::vector<Addition>& additions) const {
  row.push_back(next);
  while (row.size() > 1 && is_subtree(shards_, {row.end()[-2].shards.begin, row.back().shards.end})) {
    additions.push_back({row.end()[-2].sum, row.back().sum});
    row.end()[-2].shards.end = row.back().shards.end;
    row.pop_back();
  }
}

void ShardSum::add(Index shard, real* numbers) {
  std::vector<Addition> additions;
  push(sums_, {{shard, shard + 1}, numbers}, additions);
  if (shard + 1 == mine_.end) {
    last_ = std::move(additions);
    return expect_pieces();
  }
  add_up(additions, {0, n_});
  if (sums_.back().sum != numbers) return;
  // The caller needs this memory for the next shard. Sums go to the left: the copy behind them is free.
  copies_.resize(std::max(copies_.size(), sums_.size()));
  std::vector<real>& copy = copies_[sums_.size() - 1];
  copy.assign(numbers, numbers + n_);
  sums_.back().sum = copy.data();
}

// Where everybody's sums of this rank's part will be, and the messages that bring them.
void ShardSum::expect_pieces() {
  const Index me = group_.rank(), size = part().end - part().begin;
  for (Piece& piece : pieces_) piece.missing = piece.numbers.end - piece.numbers.begin;
  row_.clear();
  Index used = 0;
  for (Index rank = 0; rank < group_.size(); ++rank) {
    if (rank == me) {
      for (const Subtree& own : sums_) row_.push_back({own.shards, own.sum + part().begin});
      continue;
    }
    for (const Range& shards : subtrees(shards_, shards_of(shards_, rank, group_.size()))) {
      if (used == std::ssize(incoming_)) incoming_.emplace_back(size);
      real* sum = incoming_[used++].data();
      row_.push_back({shards, sum});
      for (const Piece& piece : pieces_)
        if (piece.owner == me)
          group_.receive(rank, Group::bytes_of(sum - part().begin, piece.numbers), tag_of(piece));
    }
  }
}

void ShardSum::complete(Range numbers) {
  for (Piece& piece : pieces_) {
    const Index both =
        std::min(piece.numbers.end, numbers.end) - std::max(piece.numbers.begin, numbers.begin);
    if (both <= 0) continue;
    piece.missing -= both;
    if (piece.missing == 0) send(piece);
  }
  group_.progress();
}

void ShardSum::send(const Piece& piece) {
  add_up(last_, piece.numbers);
  if (piece.owner == group_.rank()) return;
  for (const Subtree& own : sums_)
    group_.send(piece.owner, Group::bytes_of(own.sum, piece.numbers), tag_of(piece));
}

void ShardSum::finish(real* total, bool everywhere) {
  for (const Piece& piece : pieces_)
    if (piece.missing > 0) send(piece);
  group_.wait();
  std::vector<Subtree> sum;
  std::vector<Addition> additions;
  for (const Subtree& subtree : row_) push(sum, subtree, additions);
  const Index size = part().end - part().begin;
  add_up(additions, {0, size});
  if (sum[0].sum != total + part().begin) std::copy(sum[0].sum, sum[0].sum + size, total + part().begin);
  sums_.clear();
  if (everywhere) group_.all_gather(total, parts_);
}

}  // namespace attn
