// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/receive_queue.hpp"

#include "core/system/clock.hpp"

namespace bellwether::comm {
namespace {

double seconds_now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace

void ReceiveQueue::post(MpiOperation& operation, Bytes const& buffer, int peer, int tag) {
  double const now = seconds_now();
  if (idle()) rate_.begin(now);
  ++operation.held;
  held_.push_back({&operation, buffer, peer, tag});
  open_next();
}

void ReceiveQueue::advance() {
  if (idle()) return;
  double const now = seconds_now();
  rate_.look(now);
  // Test only the first pending receive, because each MPI_Test makes MPI progress, which costs time. A null request was
  // completed by the test of its whole operation.
  bool asks = true;
  std::erase_if(open_, [&](Open const& one) {
    MPI_Request& request = one.operation->request(one.request);
    if (asks && request != MPI_REQUEST_NULL) {
      int received = 0;
      check_mpi(MPI_Test(&request, &received, MPI_STATUS_IGNORE), "MPI_Test");
      asks = received != 0;
    }
    if (request != MPI_REQUEST_NULL) return false;
    open_bytes_ -= one.bytes;
    rate_.received(one.bytes);
    return true;
  });
  open_next();
  if (idle()) rate_.end(now);
}

void ReceiveQueue::open_next() {
  while (next_ < held_.size() && may_arrive(held_[next_].buffer)) {
    auto const& [operation, buffer, peer, tag] = held_[next_++];
    check_mpi(
        MPI_Irecv(buffer.data, static_cast<int>(buffer.size), MPI_BYTE, peer, tag, group_, &operation->new_request()),
        "MPI_Irecv");
    --operation->held;
    if (buffer.size < long_message_) continue;
    open_.push_back({operation, operation->requests() - 1, buffer.size});
    open_bytes_ += buffer.size;
  }
  if (next_ < held_.size()) return;
  held_.clear();
  next_ = 0;
}

bool ReceiveQueue::may_arrive(Bytes const& buffer) const {
  return buffer.size < long_message_ || open_bytes_ == 0 || open_bytes_ + buffer.size <= rate_.allowed();
}

}  // namespace bellwether::comm
