// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/config.hpp"
#include "core/types.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

namespace bellwether::comm {

/// Name of a collective in messages, regions and counters: `bellwether::<component>::<step>`, a string literal.
using Label = char const*;

/// Bytes in memory of the execution space.
struct Bytes {
  std::byte* data = nullptr;
  std::int64_t size = 0;
};
template <class T>
Bytes bytes(T* values, std::int64_t count) {
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(values)),
          count * static_cast<std::int64_t>(sizeof(T))};
}

/// One posted send or receive of start_exchange.
struct Message {
  enum class Kind { send, receive } kind;
  int peer;
  Bytes buffer;
};

/// A collective under way. Waited for exactly once; destroying an unfinished one is an InternalError (terminates).
class Ticket {
 public:
  struct State {
    virtual ~State() = default;
  };
  Ticket() = default;
  explicit Ticket(std::unique_ptr<State> state) : state_(std::move(state)) {}
  State* state() const { return state_.get(); }
  bool pending() const { return state_ != nullptr; }
  void release() { state_.reset(); }

 private:
  std::unique_ptr<State> state_;
};

/// A collective passed its deadline: names operation, label, bytes, seconds, ranks of the group and this rank.
class StuckCollective : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes this rank handed to the transport since construction; what a rank keeps for itself is not counted.
struct Traffic {
  std::int64_t sent_bytes = 0;
  std::int64_t calls = 0;
};

/// An ordered group of ranks. Every collective is split-phase, labelled, and ordered after earlier work on `exec`;
/// wait() orders it before later work. All ranks call the same collectives in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// send and recv: (P * chunk) bytes; chunk j of send goes to rank j, chunk i of recv comes from rank i.
  virtual Ticket start_alltoall(Exec const&, Bytes const& send, Bytes const& recv, Label) = 0;
  /// The v form: chunk j of send is send_bytes[j] long, chunk i of recv recv_bytes[i]; chunks are adjacent.
  virtual Ticket start_alltoallv(Exec const&, Bytes const& send, std::span<std::int64_t const> send_bytes,
                                 Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label) = 0;
  /// mine: (chunk) bytes -> all: (P * chunk) bytes, in rank order.
  virtual Ticket start_allgather(Exec const&, Bytes const& mine, Bytes const& all, Label) = 0;
  /// The v form: rank i's part is all_bytes[i] long; parts are adjacent.
  virtual Ticket start_allgatherv(Exec const&, Bytes const& mine, Bytes const& all,
                                  std::span<std::int64_t const> all_bytes, Label) = 0;
  /// Posted sends and receives to neighbours, all under way together.
  virtual Ticket start_exchange(Exec const&, std::span<Message const>, Label) = 0;
  /// \throws StuckCollective after the deadline.
  virtual void wait(Ticket&) = 0;
  virtual void progress() = 0;
  /// Collective. Ranks of one color, ordered by (key, rank).
  virtual std::unique_ptr<Communicator> split(int color, int key) const = 0;
  virtual Traffic traffic() const = 0;

  /// The few host-side collectives of start-up and of the step's scalars. Sums are formed in rank order on every rank.
  virtual void sum_host(std::span<double> inout, Label) = 0;
  virtual void broadcast_host(std::span<std::byte> inout, int root, Label) = 0;
  virtual void barrier(Label) = 0;
};

/// A group of one: every collective is a copy.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace bellwether::comm
