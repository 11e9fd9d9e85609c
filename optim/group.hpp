// Group: the processes that train one model together, and the messages between them.
//
//   Group& group = world();       // this process alone or, under mpirun, all that it started
//   group.broadcast(settings);    // everybody has what rank 0 has
//
//   simulate(4, [&](Group& group) { … });   // four ranks inside this process: four threads, the same calls
//
// Each process is a *rank*, numbered from 0. Ranks share nothing: what one knows reaches another in a
// message. MPI, which every cluster has, carries the messages; `make mpi` builds the library that does, and
// it is loaded only when mpirun starts a program. What is added up, and in which order, is decided here and
// in optim/shards.hpp, never by MPI: its own sums promise no order, and the order decides the last bits.
//
// Every rank must call broadcast, all_gather, largest and barrier in the same order: they are *collective*.
// A rank that is missing makes the others wait.
#pragma once

#include <cstddef>      // byte
#include <functional>   // function
#include <span>         // as_bytes, span
#include <string>       // string
#include <type_traits>  // is_trivially_copyable_v
#include <vector>       // vector

#include "core/kernels.hpp"    // Range
#include "optim/launched.hpp"  // launched_rank

namespace attn {

class Group {
 public:
  virtual ~Group() = default;
  virtual Index rank() const = 0;  // of this process: 0 … size() - 1
  virtual Index size() const = 0;
  bool is_root() const { return rank() == 0; }  // who prints and writes files

  // Messages. `send` and `receive` return at once: the bytes must stay as they are until `wait` has returned,
  // which it does when all that this rank has started is done. Two messages from one rank to another with the
  // same tag arrive in the order in which they were sent.
  virtual void send(Index to, std::span<const std::byte> bytes, int tag = 0) = 0;
  virtual void receive(Index from, std::span<std::byte> bytes, int tag = 0) = 0;
  virtual void wait() = 0;
  virtual void progress() {}  // a moment for messages on their way: MPI moves them while it is called

  // If a rank dies, another one says so in one line, which ends with the advice of this function, and
  // all ranks end. MPI alone can lose a rank; nothing is watched before this is called, or after a
  // null. Collective.
  virtual void when_lost(std::function<std::string()> advice) { (void)advice; }
  // This rank has failed, and has said why: ends the others, too. Returns if there are none.
  virtual void abandon(int exit_code) { (void)exit_code; }

  // Made of messages, and the same for every kind of group.
  // Nobody passes before everybody is here. In each round everybody hears of twice as many ranks.
  void barrier() {
    for (Index step = 1; step < size(); step *= 2) {
      send((rank() + step) % size(), {});
      receive((rank() - step + size()) % size(), {});
      wait();
    }
  }
  void broadcast(std::string& text, Index from = 0);  // everybody has what rank `from` has
  double largest(double value);                       // of all ranks
  template <class Value>
  void broadcast(Value& value, Index from = 0) {
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), from);
  }
  // Each rank r has the numbers parts[r] of an array; then everybody has all of them.
  template <class Value>
  void all_gather(Value* numbers, const std::vector<Range>& parts) {
    for (Index other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      send(other, bytes_of(numbers, parts[rank()]));
      receive(other, bytes_of(numbers, parts[other]));
    }
    wait();
  }

  // A part of an array of plain values, as a message.
  template <class Value>
  static std::span<std::byte> bytes_of(Value* numbers, Range part) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return std::as_writable_bytes(std::span(numbers + part.begin, std::size_t(part.end - part.begin)));
  }

 private:
  void broadcast_bytes(std::span<std::byte> bytes, Index from);
};

Group& alone();  // a group of this process only, whoever started it
// The processes that mpirun started with this one, or this one alone. The first call under mpirun loads MPI,
// and throws if `make mpi` has not been run; from then on only rank 0 has a standard output.
Group& world();
void abandon_world(int exit_code);  // Group::abandon, if this process has joined one

// Runs body(group) on `ranks` threads, each with a group of its own, and returns when all have ended. If one
// throws, the others end, too, and it is thrown again here. Tensors belong to one thread: each rank builds
// its own model, as processes do.
void simulate(Index ranks, const std::function<void(Group&)>& body);

}  // namespace attn
