// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/nccl_calls.hpp"
#include "comm/nccl_operation.hpp"
#include "comm/watchdog.hpp"
#include "core/error.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bellwether::comm {

/// One rank's end of an NCCL communicator and what looks after it. Collectives go onto a stream of the group's own,
/// behind what the caller's holds when they start and in front of what it gets after wait(), so that no host waits. A
/// thread looks after those under way: one that fails, or passes the deadline, aborts the group, and from then on every
/// member throws StuckCollective, which names the collective, its bytes and this rank. Sees neither Kokkos nor MPI.
class NcclGroup {
 public:
  /// Collective over the ranks that were given the same id; they share no call before. watchdog, which outlives the
  /// group or is null, is told of every collective and asked about one that is late.
  /// \throws StuckCollective where the group does not come about within the deadline, or not at all.
  NcclGroup(ncclUniqueId const& id, int rank, int size, double deadline, Watchdog* watchdog);
  /// Ends what is under way first, but while an exception unwinds, or past the deadline, aborts it.
  ~NcclGroup();
  NcclGroup(NcclGroup const&) = delete;
  NcclGroup& operator=(NcclGroup const&) = delete;

  /// posts(NcclCalls const&) makes the calls of one collective, which is ordered by `caller`.
  template <class Posts>
  Ticket start(cudaStream_t caller, char const* name, Label label, std::int64_t bytes, Posts const& posts) {
    std::lock_guard const lock(mutex_);
    throw_failure();
    NcclOperation& operation = free_operation();
    operation.begin(caller, stream_, name, label, bytes);
    if (watchdog_ != nullptr) watchdog_->begin(name, label, size_);
    settle_or_fail(&operation, [&] { posts(*calls_); });
    operation.started(stream_);
    return Ticket(operation);
  }
  void wait(Ticket& ticket);
  bool ended(Ticket const& ticket);
  void throw_if_failed();
  void set_deadline(double seconds);

 private:
  NcclOperation& free_operation();
  /// Calls that may stay in progress, of an operation, or of the group's start where that is null.
  /// \throws StuckCollective after the group was aborted.
  template <class Calls>
  void settle_or_fail(NcclOperation const* operation, Calls const& calls) {
    call_started_ = Clock::now();
    asked_in_call_ = false;
    try {
      calls();
    } catch (RuntimeError const& error) {
      fail(operation != nullptr ? operation->description() : std::string("the start of NCCL"), error.what());
      throw_failure();
    }
  }
  void poll();
  void fail(std::string const& what, std::string const& how);
  void throw_failure() const;
  void watch();
  std::string error_of_group_or_device() const;
  NcclOperation const* oldest_under_way() const;
  bool finalize();

  int const rank_, size_;
  Watchdog* const watchdog_;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  ncclComm_t group_ = nullptr;
  std::optional<NcclCalls> calls_;
  std::vector<std::unique_ptr<NcclOperation>> operations_;
  Clock::time_point call_started_;
  bool asked_in_call_ = false;            ///< the watchdog, about a call that has not come back
  NcclOperation const* asked_ = nullptr;  ///< the late one that the watchdog was asked about

  std::mutex mutex_;  ///< of everything that both threads see; NCCL's calls must not overlap an abort
  std::condition_variable leave_;
  double deadline_;  ///< s
  bool leaving_ = false, aborted_ = false;
  std::string failure_;
  std::thread watch_;
};

}  // namespace bellwether::comm
