#include "lessons/20_many_machines/exchange.hpp"

#include <algorithm>  // copy, max
#include <cmath>      // log2
#include <iterator>   // ssize

#include "lessons/support/cpu_time.hpp"

namespace attn {

void Chains::sent(const Address& address, Index length) {
  const std::lock_guard lock(mutex_);
  under_way_[address].push_back(length);
}

Index Chains::received(const Address& address) {
  const std::lock_guard lock(mutex_);
  std::deque<Index>& lengths = under_way_.at(address);
  const Index length = lengths.front();
  lengths.pop_front();
  return length;
}

void CountedGroup::send(Index to, std::span<const std::byte> bytes, int tag) {
  ++traffic.messages;
  traffic.bytes += std::ssize(bytes);
  chains_.sent({rank(), to, tag}, traffic.steps + 1);
  group_.send(to, bytes, tag);
}

void CountedGroup::receive(Index from, std::span<std::byte> bytes, int tag) {
  expected_.push_back({from, rank(), tag});
  group_.receive(from, bytes, tag);
}

void CountedGroup::wait() {
  group_.wait();
  for (const Chains::Address& address : expected_)
    traffic.steps = std::max(traffic.steps, chains_.received(address));
  expected_.clear();
}

namespace {

std::span<std::byte> all_of(std::vector<real>& numbers) {
  return Group::bytes_of(numbers.data(), {0, std::ssize(numbers)});
}

void add(const std::vector<real>& more, real* to) {
  for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

}  // namespace

void star_all_reduce(Group& group, std::vector<real>& numbers) {
  if (!group.is_root()) {
    group.send(0, all_of(numbers));
    group.receive(0, all_of(numbers), 1);
    return group.wait();
  }
  std::vector<real> received(numbers.size());
  for (Index from = 1; from < group.size(); ++from) {  // one after the other: they share its line
    group.receive(from, all_of(received));
    group.wait();
    add(received, numbers.data());
  }
  for (Index to = 1; to < group.size(); ++to) group.send(to, all_of(numbers), 1);
  group.wait();
}

void tree_all_reduce(Group& group, std::vector<real>& numbers) {
  const Index rank = group.rank(), size = group.size();
  std::vector<real> received(numbers.size());
  Index step = 1;
  for (; step < size; step *= 2) {  // up: in each round half of them hand over their sum
    if (rank % (2 * step) == step) group.send(rank - step, all_of(numbers));
    if (rank % (2 * step) == 0 && rank + step < size) {
      group.receive(rank + step, all_of(received));
      group.wait();
      add(received, numbers.data());
    }
  }
  for (step /= 2; step >= 1; step /= 2) {  // down: the same way back, with the sum
    if (rank % (2 * step) == step) group.receive(rank - step, all_of(numbers), 1);
    if (rank % (2 * step) == 0 && rank + step < size) group.send(rank + step, all_of(numbers), 1);
    group.wait();
  }
}

void ring_all_reduce(Group& group, std::vector<real>& numbers) {
  const Index n = std::ssize(numbers), N = group.size(), r = group.rank();
  const auto chunk = [&](Index c) { return Range{n * c / N, n * (c + 1) / N}; };
  const Index right = (r + 1) % N, left = (r - 1 + N) % N;
  for (Index step = 0; step < 2 * (N - 1); ++step) {
    const bool adding = step < N - 1;
    const Index sent = adding ? (r - step + N) % N : (r + 1 - (step - (N - 1)) + N) % N;
    const Index came = (sent - 1 + N) % N;  // what the left neighbour sends: its own number is one less
    const Range place = chunk(came);
    std::vector<real> received(std::size_t(place.end - place.begin));
    group.send(right, Group::bytes_of(numbers.data(), chunk(sent)));
    group.receive(left, all_of(received));
    group.wait();
    if (adding)
      add(received, numbers.data() + place.begin);
    else
      std::copy(received.begin(), received.end(), numbers.begin() + place.begin);
  }
}

Added add_up(const WayToAdd& way, const std::vector<std::vector<real>>& vectors) {
  Added added{vectors, {}};
  Chains chains;
  std::mutex mutex;
  simulate(std::ssize(vectors), [&](Group& group) {
    CountedGroup counted(group, chains);
    way.run(counted, added.results[group.rank()]);
    const std::lock_guard lock(mutex);
    Traffic& most = added.busiest;
    most.messages = std::max(most.messages, counted.traffic.messages);
    most.bytes = std::max(most.bytes, counted.traffic.bytes);
    most.steps = std::max(most.steps, counted.traffic.steps);
  });
  return added;
}

double message_seconds(Index bytes) {
  double seconds = 0;
  simulate(2, [&](Group& group) {
    std::vector<std::byte> text(std::size_t(bytes), std::byte{1});
    const double once = seconds_of([&] {
      for (int round = 0; round < 20; ++round) {
        if (group.rank() == 0) group.send(1, text);
        group.receive(1 - group.rank(), text);
        group.wait();
        if (group.rank() == 1) group.send(0, text);
      }
    });
    if (group.rank() == 0) seconds = once / 40;
  });
  return seconds;
}

double star_seconds(double N, double bytes, const Network& net) {
  return 2 * (N - 1) * (net.latency + bytes * net.per_byte);
}

double tree_seconds(double N, double bytes, const Network& net) {
  return 2 * std::log2(N) * (net.latency + bytes * net.per_byte);
}

double ring_seconds(double N, double bytes, const Network& net) {
  return 2 * (N - 1) * (net.latency + bytes / N * net.per_byte);
}

}  // namespace attn
