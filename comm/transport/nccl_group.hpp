// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/nccl_calls.hpp"
#include "comm/transport/nccl_operation.hpp"
#include "comm/transport/watchdog.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bellwether::comm {

/// One rank's end of an NCCL communicator and what looks after it. Collectives go onto a stream of the group's own,
/// behind what the caller's holds when they start and in front of what it gets after wait(), so that no host waits. A
/// thread looks after those under way, which end in the order of their starts: where NCCL or the device fails, or the
/// first of them is under way for longer than the deadline, it aborts the group. From then on every member throws
/// CollectiveTimeout, which names the collective, its bytes and this rank. Sees neither Kokkos nor MPI.
class NcclGroup {
 public:
  /// Collective over the ranks that were given the same id. watchdog, which outlives the group or is null, is told of
  /// every collective and asked about one that is late.
  /// \throws CollectiveTimeout where the group does not come about within the deadline, or not at all.
  NcclGroup(ncclUniqueId const& id, int rank, int size, double deadline, Watchdog* watchdog);
  /// Ends what is under way first, but while an exception unwinds, or past the deadline, aborts it.
  ~NcclGroup();
  NcclGroup(NcclGroup const&) = delete;
  NcclGroup& operator=(NcclGroup const&) = delete;

  /// posts(NcclCalls const&) makes the calls of one collective, which is ordered by `caller`.
  template <class Posts>
  Request start(cudaStream_t caller, char const* name, Label label, std::int64_t bytes, Posts const& posts) {
    std::lock_guard const lock(mutex_);
    NcclOperation* operation = nullptr;
    or_fail([&] {
      operation = &next_operation();
      operation->begin(caller, stream_, name, label, bytes);
      calling_ = operation;
      if (watchdog_ != nullptr) watchdog_->begin(name, label, size_);
      posts(*calls_);
      operation->started(stream_);
    });
    if (begun_++ == ended_) since_ = RunClock::now();
    return Request(*operation);
  }
  void wait(Request& request);
  bool ended(Request const& request);
  void throw_if_failed();
  double deadline();  ///< s
  void set_deadline(double seconds);

 private:
  /// Calls of NCCL, which may stay in progress, and of the device.
  /// \throws CollectiveTimeout where they fail, or take longer than the deadline, after the group was aborted.
  template <class Calls>
  void or_fail(Calls const& calls) {
    throw_failure();
    call_started_ = RunClock::now();
    try {
      calls();
    } catch (RuntimeError const& error) {
      if (!aborted_) fail(described(calling_), error.what());
    }
    calling_ = nullptr;
    throw_failure();
  }
  NcclOperation& operation(std::uint64_t number) const { return *operations_[number % operations_.size()]; }
  NcclOperation& next_operation();
  void note_ended();
  void poll();
  void end_if_late(NcclOperation const* calling, RunClock::time_point call_started);
  void fail(std::string const& what, std::string const& how);
  void throw_failure() const;
  void watch();
  std::string described(NcclOperation const* operation) const;
  bool finalize();

  int const rank_, size_;
  Watchdog* const watchdog_;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  ncclComm_t group_ = nullptr;
  std::optional<NcclCalls> calls_;

  std::mutex mutex_;  ///< of all that follows and of NCCL's calls, which must not overlap an abort
  std::condition_variable leave_;
  double deadline_;  ///< s
  /// A ring: start number k has operation(k) until that is taken again, once it was waited for and has ended.
  std::vector<std::unique_ptr<NcclOperation>> operations_;
  std::uint64_t begun_ = 0;  ///< starts so far
  std::uint64_t ended_ = 0;  ///< of these, as note_ended() knows: those before this number
  /// When the first one under way could begin: the work before it and the collective before it had ended by then.
  RunClock::time_point since_;
  NcclOperation const* calling_ = nullptr;  ///< whose calls are being made
  RunClock::time_point call_started_, polled_;
  bool asked_ = false;  ///< the watchdog, about what is late
  bool started_ = false, leaving_ = false, aborted_ = false;
  std::string failure_;
  std::thread watch_;
};

}  // namespace bellwether::comm
