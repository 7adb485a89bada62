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

/// A buffer in execution space memory.
struct Bytes {
  std::byte* data = nullptr;
  std::int64_t size = 0;
};
template <class T>
Bytes bytes(T* values, std::int64_t count) {
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(values)),
          count * static_cast<std::int64_t>(sizeof(T))};
}

/// A send or receive of start_exchange().
struct Message {
  enum class Kind { send, receive } kind;
  int peer;
  Bytes buffer;
};

/// Bytes this rank has handed to the transport since construction, without those it keeps for itself. A broadcast
/// counts once per other rank at its root; a library sum counts its vector once.
struct Traffic {
  std::int64_t sent_bytes = 0;
  std::int64_t intra_node_bytes = 0;  ///< intra-node part of sent_bytes
  std::int64_t calls = 0;
};

/// A group of ranks with collectives on execution space memory. Every collective is split-phase and labelled. It runs
/// after earlier work on `exec`, and later work on `exec` runs after wait(). All ranks call the same collectives in the
/// same order. Unless leaves_host_free(), the order must match only within each kind: all-to-alls of uneven chunks,
/// all-gathers of uneven parts, exchanges, and all others. A rank may then react to what has arrived. But if it starts
/// one collective only after another has ended, no rank may start the two in the opposite order.
class Communicator : public RankGroup {
 public:
  /// Returns true if that rank is on this rank's node, according to set_nodes(). By default each rank has its own node.
  virtual bool shares_node(int rank) const = 0;
  /// Sets the node index of each rank, (P). Only affects traffic(); split() inherits it.
  virtual void set_nodes(std::span<int const> node_of) = 0;

  /// All-to-all. send and recv: (P * chunk) bytes. Chunk j of send goes to rank j; chunk i of recv comes from rank i.
  virtual Request start_alltoall(Exec const&, Bytes const& send, Bytes const& recv, Label) = 0;
  /// All-to-all with uneven chunks: chunk j of send has send_bytes[j], chunk i of recv recv_bytes[i]. Chunks are
  /// adjacent.
  virtual Request start_alltoallv(Exec const&, Bytes const& send, std::span<std::int64_t const> send_bytes,
                                  Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label) = 0;
  /// All-gather. mine: (chunk) bytes -> all: (P * chunk) bytes, in rank order.
  virtual Request start_allgather(Exec const&, Bytes const& mine, Bytes const& all, Label) = 0;
  /// All-gather with uneven parts: rank i's part has all_bytes[i] bytes. Parts are adjacent.
  virtual Request start_allgatherv(Exec const&, Bytes const& mine, Bytes const& all,
                                   std::span<std::int64_t const> all_bytes, Label) = 0;
  /// Sends to and receives from neighbours, all concurrently.
  virtual Request start_exchange(Exec const&, std::span<Message const>, Label) = 0;
  /// Sums (count) floats over ranks in place with the library's own allreduce, for comm.allreduce: library. MPI
  /// recommends, but does not require, an equal result on all ranks.
  virtual Request start_library_sum(Exec const&, float* inout, std::int64_t count, Label) = 0;
  /// Waits for the collective. \throws CollectiveTimeout after the timeout.
  virtual void wait(Request&) = 0;
  /// Returns true if wait() would not block.
  virtual bool ended(Request const&) = 0;
  virtual void progress() = 0;
  /// Returns true if only the device orders collectives, so that the host does not wait for earlier work.
  virtual bool leaves_host_free() const { return false; }
  /// Splits the group. Collective. Ranks of one color form a group, ordered by (key, rank); it inherits the timeout.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
  virtual Traffic traffic() const = 0;
};

/// Returns a group of one rank; every collective is a copy.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace bellwether::comm
