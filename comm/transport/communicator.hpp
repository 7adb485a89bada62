// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/request.hpp"
#include "core/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bellwether::comm {

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

/// Bytes this rank handed to the transport since construction; what a rank keeps for itself is not counted. A broadcast
/// counts once for every other rank at its root, a library sum its own vector once.
struct Traffic {
  std::int64_t sent_bytes = 0;
  std::int64_t inside_node_bytes = 0;  ///< of those, to ranks on this rank's node
  std::int64_t calls = 0;
};

/// Ranks that exchange what is in the memory of the execution space. Every collective is split-phase, labelled, and
/// ordered after earlier work on `exec`; wait() orders it before later work. All ranks call the same collectives in the
/// same order. Unless leaves_host_free(), it is enough that they do so kind by kind: all-to-alls of uneven chunks,
/// all-gathers of uneven parts, exchanges, and all else; a rank may then go by what has arrived, as long as what it
/// starts when one collective has ended was not started before that one anywhere.
class Communicator : public RankGroup {
 public:
  /// Whether that rank is on this one's node, as set_nodes() said; before it, every rank has a node of its own.
  virtual bool shares_node(int rank) const = 0;
  /// node_of: (P), a number for each rank's node. For traffic() alone; inherited by split().
  virtual void set_nodes(std::span<int const> node_of) = 0;

  /// send and recv: (P * chunk) bytes; chunk j of send goes to rank j, chunk i of recv comes from rank i.
  virtual Request start_alltoall(Exec const&, Bytes const& send, Bytes const& recv, Label) = 0;
  /// The v form: chunk j of send is send_bytes[j] long, chunk i of recv recv_bytes[i]; chunks are adjacent.
  virtual Request start_alltoallv(Exec const&, Bytes const& send, std::span<std::int64_t const> send_bytes,
                                  Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label) = 0;
  /// mine: (chunk) bytes -> all: (P * chunk) bytes, in rank order.
  virtual Request start_allgather(Exec const&, Bytes const& mine, Bytes const& all, Label) = 0;
  /// The v form: rank i's part is all_bytes[i] long; parts are adjacent.
  virtual Request start_allgatherv(Exec const&, Bytes const& mine, Bytes const& all,
                                   std::span<std::int64_t const> all_bytes, Label) = 0;
  /// Posted sends and receives to neighbours, all under way together.
  virtual Request start_exchange(Exec const&, std::span<Message const>, Label) = 0;
  /// inout: (count) floats in memory of the execution space; the sum over ranks as the library forms it, which is
  /// equal on all ranks by advice only. What comm.allreduce: library uses.
  virtual Request start_library_sum(Exec const&, float* inout, std::int64_t count, Label) = 0;
  /// \throws CollectiveTimeout where the deadline passes while waiting.
  virtual void wait(Request&) = 0;
  /// Whether wait() would find the collective ended; looks, and does not wait.
  virtual bool ended(Request const&) = 0;
  virtual void progress() = 0;
  /// Whether exchanges are ordered by the device alone, so that the host goes on while earlier work on it is under way.
  virtual bool leaves_host_free() const { return false; }
  /// Collective. Ranks of one color, ordered by (key, rank); they inherit the deadline.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
  virtual Traffic traffic() const = 0;
};

/// A group of one: every collective is a copy.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace bellwether::comm
