// Three ways to add up a vector of every rank, written with messages, and a group that counts them.
//
//   Added added = add_up({"ring", ring_all_reduce}, vectors);   // on simulated ranks, a vector for each
//   added.results[r]                                            // on each rank the sum of all
//   added.busiest.bytes                                         // what the busiest of them has sent
#pragma once

#include <deque>       // deque
#include <functional>  // function
#include <map>         // map
#include <mutex>       // mutex
#include <string>      // string
#include <tuple>       // tuple
#include <vector>      // vector

#include "optim/group.hpp"

namespace attn {

struct Traffic {
  Index messages = 0, bytes = 0;  // sent by one rank
  Index steps = 0;                // the longest chain of messages, each sent after the one before had come
};

// How long a chain each message on its way ends.
class Chains {
 public:
  using Address = std::tuple<Index, Index, int>;  // from, to, tag
  void sent(const Address& address, Index length);
  Index received(const Address& address);

 private:
  std::mutex mutex_;
  std::map<Address, std::deque<Index>> under_way_;
};

// Passes everything on to another group, and keeps count.
class CountedGroup : public Group {
 public:
  CountedGroup(Group& group, Chains& chains) : group_(group), chains_(chains) {}
  Index rank() const override { return group_.rank(); }
  Index size() const override { return group_.size(); }
  void send(Index to, std::span<const std::byte> bytes, int tag = 0) override;
  void receive(Index from, std::span<std::byte> bytes, int tag = 0) override;
  void wait() override;

  Traffic traffic;

 private:
  Group& group_;
  Chains& chains_;
  std::vector<Chains::Address> expected_;
};

// Afterwards `numbers` is the sum over all ranks, on every rank.
void star_all_reduce(Group& group, std::vector<real>& numbers);  // rank 0 receives all, adds and answers
void tree_all_reduce(Group& group, std::vector<real>& numbers);  // in pairs, then in pairs of pairs, and back
void ring_all_reduce(Group& group, std::vector<real>& numbers);  // an Nth at a time, to the right

struct WayToAdd {
  std::string name;
  std::function<void(Group&, std::vector<real>&)> run;
};

// What becomes of `vectors`, one for each rank.
struct Added {
  std::vector<std::vector<real>> results;
  Traffic busiest;  // the most of each that any rank had
};
Added add_up(const WayToAdd& way, const std::vector<std::vector<real>>& vectors);

// Seconds of processor time that rank 0 spends on a message: it sends `bytes` to rank 1 and gets them back.
double message_seconds(Index bytes);

// A network: the time for a message before its first byte, and seconds per byte after that.
struct Network {
  double latency, per_byte;
};
// What an all-reduce of so many bytes takes on N ranks, by formula.
double star_seconds(double N, double bytes, const Network& net);
double tree_seconds(double N, double bytes, const Network& net);
double ring_seconds(double N, double bytes, const Network& net);

}  // namespace attn
