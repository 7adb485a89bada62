// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/link_rate.hpp"
#include "comm/transport/mpi_operation.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// Posts receives to MPI in order, but limits the long messages in flight to what the link carries in a moment
/// (LinkRate); at least one is always posted. MPI does not transmit a large message until its receive is posted, so
/// the receiver decides who sends. Without a limit, a slow network suffers: all senders share this rank's link,
/// switches drop packets, the shares are uneven, and other links stay idle. A fast network has all messages in
/// flight at once. Held receives are posted only by calls to this queue: finish the exchange of one group before
/// waiting for another group.
class ReceiveQueue {
 public:
  /// long_message: size in bytes from which a receive may be held.
  ReceiveQueue(MPI_Comm group, std::int64_t long_message) : group_(group), long_message_(long_message) {}
  /// Posts or holds a receive. `operation` is not complete until the message was received.
  void post(MpiOperation& operation, Bytes const& buffer, int peer, int tag);
  /// Posts the receives that the limit now allows. Call it when testing requests, and before reusing them.
  void advance();
  /// Returns the number of long messages whose receive is posted.
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
  std::size_t next_ = 0;  ///< index of the first receive in held_ that is not posted
  std::vector<Open> open_{};
  std::int64_t open_bytes_ = 0;
};

}  // namespace bellwether::comm
