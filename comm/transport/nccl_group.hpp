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

/// One rank's NCCL communicator with its watching thread. Collectives run on a stream of the group: after the work that
/// the caller's stream has at their start, and before its work after wait(). The host does not block. Collectives end
/// in the order of their starts. The thread aborts the group if NCCL or the device fails, or if the first collective in
/// progress exceeds the timeout. From then on every member throws CollectiveTimeout, which names the collective, its
/// bytes and this rank. Independent of Kokkos and MPI.
class NcclGroup {
 public:
  /// Collective over the ranks that got the same id. `watchdog` may be null and must outlive the group. It learns of
  /// every collective and is asked about late ones.
  /// \throws CollectiveTimeout if the creation fails or exceeds the timeout.
  NcclGroup(ncclUniqueId const& id, int rank, int size, double timeout, Watchdog* watchdog);
  /// Waits for the collectives in progress; aborts them during stack unwinding or after the timeout.
  ~NcclGroup();
  NcclGroup(NcclGroup const&) = delete;
  NcclGroup& operator=(NcclGroup const&) = delete;

  /// Starts a collective, ordered after the work on `caller`. posts(NcclCalls const&) makes its NCCL calls.
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
  /// Collective timeout in seconds.
  double timeout();
  void set_timeout(double seconds);

 private:
  /// Runs calls to NCCL, which may stay in progress, and to the device. On an error or a timeout it aborts the group.
  /// \throws CollectiveTimeout after an abort.
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

  std::mutex mutex_;  ///< guards all members below and NCCL's calls, which must not overlap an abort
  std::condition_variable leave_;
  double timeout_;  ///< seconds
  /// Ring buffer: start number k uses operation(k). A slot is reused once its collective has ended and was waited for.
  std::vector<std::unique_ptr<NcclOperation>> operations_;
  std::uint64_t begun_ = 0;  ///< number of starts
  std::uint64_t ended_ = 0;  ///< number of collectives that note_ended() has seen end
  /// Time at which the first collective in progress could begin: when the work and the collective before it had ended.
  RunClock::time_point since_;
  NcclOperation const* calling_ = nullptr;  ///< the operation whose calls are being made
  RunClock::time_point call_started_, polled_;
  bool asked_ = false;  ///< the watchdog was asked about a late collective
  bool started_ = false, leaving_ = false, aborted_ = false;
  std::string failure_;
  std::thread watch_;
};

}  // namespace bellwether::comm
