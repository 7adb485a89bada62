// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/link_rate.hpp"
#include "comm/transport/mpi_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// Hands receives to MPI in the order in which they are posted, those of long messages no more at a time than their
/// link carries in a moment, but always one. What MPI has no receive for it does not send but for its beginning, so
/// that on a slow network one rank after the other sends to this one: where they share its link, switches drop what
/// their buffers do not hold, none of them gets an even part of it, and other links stand idle meanwhile. Fast networks
/// have all under way at once. What is held goes on only while this queue is looked at: no exchange of one group is
/// left open while another group is waited for.
class ReceiveQueue {
 public:
  /// long_message: bytes from which a receive may have to wait.
  ReceiveQueue(MPI_Comm group, std::int64_t long_message) : group_(group), long_message_(long_message) {}
  /// The message belongs to `operation`, which is not complete before it was received.
  void post(MpiOperation& operation, Bytes const& buffer, int peer, int tag);
  /// Posts what may arrive now; to be called when requests are looked at, and before they are used again.
  void advance();
  /// Long messages that MPI has a receive for.
  std::size_t under_way() const { return open_.size(); }

 private:
  struct Held {
    MpiOperation* operation;
    Bytes buffer;
    int peer, tag;
  };
  struct Open {
    MpiOperation* operation;
    std::size_t request;
    std::int64_t bytes;
  };
  bool idle() const { return open_.empty() && held_.empty(); }
  void open_next();
  bool may_arrive(Bytes const& buffer) const;

  MPI_Comm group_;
  std::int64_t long_message_;
  LinkRate rate_{};
  std::vector<Held> held_{};
  std::size_t next_ = 0;  ///< of held_
  std::vector<Open> open_{};
  std::int64_t open_bytes_ = 0;
};

}  // namespace bellwether::comm
