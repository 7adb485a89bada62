// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bellwether::comm {

/// Counts the bytes that a rank hands to a transport, and the intra-node part.
class TrafficCounter {
 public:
  /// Bytes that this rank sends in one collective.
  struct Sent {
    std::int64_t all = 0;
    std::int64_t intra_node = 0;
  };

  TrafficCounter(int rank, int size) : rank_(rank), size_(size), node_of_(static_cast<std::size_t>(size)) {
    std::iota(node_of_.begin(), node_of_.end(), 0);
    find_neighbours();
  }
  void set_nodes(std::span<int const> node_of) {
    require(node_of.size() == node_of_.size(), "one node index per rank is required");
    node_of_.assign(node_of.begin(), node_of.end());
    find_neighbours();
  }
  bool shares_node(int rank) const { return node_of(rank) == node_of(rank_); }
  int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }

  /// Returns the bytes of sending `bytes` to each other rank.
  Sent to_each(std::int64_t bytes) const {
    return {bytes * (size_ - 1), bytes * static_cast<std::int64_t>(neighbours_.size())};
  }
  /// Returns the bytes of sending bytes_to[j] to each other rank j.
  Sent to_each(std::span<std::int64_t const> bytes_to) const {
    Sent sent;
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) sent.all += bytes_to[static_cast<std::size_t>(peer)];
    for (int const peer : neighbours_) sent.intra_node += bytes_to[static_cast<std::size_t>(peer)];
    return sent;
  }
  /// Returns the bytes of posted sends; their receivers do not count them.
  Sent posted(std::span<Message const> messages) const {
    Sent sent;
    for (auto const& message : messages) {
      require(message.peer >= 0 && message.peer < size_ && message.peer != rank_, "exchange: invalid peer rank");
      if (message.kind != Message::Kind::send) continue;
      sent.all += message.buffer.size;
      if (shares_node(message.peer)) sent.intra_node += message.buffer.size;
    }
    return sent;
  }
  /// Returns the bytes of one vector for a library collective. Its routing is unknown: intra-node only if
  /// all ranks share a node.
  Sent once(std::int64_t bytes) const {
    if (size_ == 1) return {};
    return {bytes, static_cast<int>(neighbours_.size()) + 1 == size_ ? bytes : 0};
  }

  void count(Sent const& sent) {
    traffic_.sent_bytes += sent.all;
    traffic_.intra_node_bytes += sent.intra_node;
    ++traffic_.calls;
  }
  Traffic const& traffic() const { return traffic_; }

  /// Returns true if `lengths`, one chunk per rank, add up to the size of the buffer.
  bool covers(std::span<std::int64_t const> lengths, Bytes const& buffer) const {
    return lengths.size() == static_cast<std::size_t>(size_) &&
           std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == buffer.size &&
           std::all_of(lengths.begin(), lengths.end(), [](std::int64_t length) { return length >= 0; });
  }

 private:
  void find_neighbours() {
    neighbours_.clear();
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && shares_node(rank)) neighbours_.push_back(rank);
  }

  int rank_, size_;
  std::vector<int> node_of_;     ///< (P)
  std::vector<int> neighbours_;  ///< the other ranks on this rank's node
  Traffic traffic_;
};

}  // namespace bellwether::comm
