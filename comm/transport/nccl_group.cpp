// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/nccl_group.hpp"

#include "core/device/status_cuda.hpp"
#include "core/system/system_limits.hpp"

#include <chrono>
#include <exception>

namespace bellwether::comm {
namespace {

// Usually more than two steps of a large model start. If the device lags behind the host, a step allocates nothing.
constexpr int first_operations = 2048;
constexpr double look_every = 0.1;  // s

}  // namespace

NcclGroup::NcclGroup(ncclUniqueId const& id, int rank, int size, double timeout, Watchdog* watchdog)
    : rank_(rank), size_(size), watchdog_(watchdog), timeout_(timeout) {
  check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  try {
    for (int i = 0; i < first_operations; ++i) operations_.push_back(std::make_unique<NcclOperation>());
    or_fail([&] {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      ncclResult_t const made = ncclCommInitRankConfig(&group_, size, id, rank, &config);
      calls_.emplace(group_, stream_, rank, size, [this] { poll(); });
      calls_->complete(made, "ncclCommInitRankConfig");
    });
    started_ = true;
    watch_ = start_thread("watch over NCCL", [this] { watch(); });
  } catch (...) {  // no destructor will run
    if (group_ != nullptr && !aborted_) ncclCommAbort(group_);
    cudaStreamDestroy(stream_);
    throw;
  }
}

NcclGroup::~NcclGroup() {
  {
    std::lock_guard const lock(mutex_);
    leaving_ = true;
  }
  leave_.notify_all();
  watch_.join();
  // During stack unwinding, finalizing would wait for ranks that do not come.
  if (!aborted_ && (std::uncaught_exceptions() > 0 || !finalize())) ncclCommAbort(group_);
  operations_.clear();
  cudaStreamDestroy(stream_);
}

/// Returns false after the timeout or on an NCCL error.
bool NcclGroup::finalize() {
  ncclResult_t status = ncclCommFinalize(group_);
  for (auto const start = RunClock::now(); status == ncclInProgress && seconds_since(start) < timeout_;) {
    std::this_thread::yield();
    if (ncclCommGetAsyncError(group_, &status) != ncclSuccess) return false;
  }
  if (status != ncclSuccess) return false;
  ncclCommDestroy(group_);
  return true;
}

void NcclGroup::wait(Request& request) {
  require(request.pending(), "the request has no collective in progress");
  std::lock_guard const lock(mutex_);
  or_fail([&] {
    auto& operation = static_cast<NcclOperation&>(*request.state());
    calling_ = &operation;
    operation.finish();
  });
  request.release();
}

bool NcclGroup::ended(Request const& request) {
  require(request.pending(), "the request has no collective in progress");
  std::lock_guard const lock(mutex_);
  bool ended = false;
  or_fail([&] {
    auto& operation = static_cast<NcclOperation&>(*request.state());
    calling_ = &operation;
    ended = operation.ended();
  });
  return ended;
}

void NcclGroup::throw_if_failed() {
  std::lock_guard const lock(mutex_);
  throw_failure();
}

void NcclGroup::throw_failure() const {
  if (aborted_) throw CollectiveTimeout(failure_);
}

double NcclGroup::timeout() {
  std::lock_guard const lock(mutex_);
  return timeout_;
}

void NcclGroup::set_timeout(double seconds) {
  std::lock_guard const lock(mutex_);
  timeout_ = seconds;
}

NcclOperation& NcclGroup::next_operation() {
  std::uint64_t const places = operations_.size();
  if (begun_ >= places) {
    std::uint64_t const oldest = begun_ - places;
    if (oldest >= ended_) note_ended();
    if (oldest >= ended_ || operation(oldest).awaited()) {
      std::vector<std::unique_ptr<NcclOperation>> more(2 * places), fresh;
      while (fresh.size() < places) fresh.push_back(std::make_unique<NcclOperation>());
      for (std::uint64_t number = oldest; number < begun_; ++number)
        more[number % more.size()] = std::move(operations_[number % places]);
      for (auto& place : more) {
        if (place != nullptr) continue;
        place = std::move(fresh.back());
        fresh.pop_back();
      }
      operations_ = std::move(more);
    }
  }
  return operation(begun_);
}

/// Queries the device for ended collectives. \throws RuntimeError if the device has failed.
void NcclGroup::note_ended() {
  for (; ended_ < begun_ && operation(ended_).ended(); ++ended_) since_ = RunClock::now();
  if (ended_ < begun_ && !operation(ended_).ready()) since_ = RunClock::now();
}

/// Called repeatedly while an NCCL call is in progress.
void NcclGroup::poll() {
  std::this_thread::yield();
  if (seconds_since(polled_) < look_every / 10) return;
  polled_ = RunClock::now();
  note_ended();
  end_if_late(calling_, call_started_);
  if (aborted_) throw RuntimeError(failure_);
}

/// Ends the group after the timeout because of the first collective in progress, or else a call in progress.
void NcclGroup::end_if_late(NcclOperation const* calling, RunClock::time_point call_started) {
  bool const under_way = ended_ < begun_;
  double const waited = seconds_since(under_way ? since_ : call_started);
  bool const half = waited > timeout_ / 2;
  if (watchdog_ != nullptr && half && !asked_) watchdog_->ask();
  asked_ = half;
  if (waited > timeout_)
    fail(described(under_way ? &operation(ended_) : calling), "not finished after " + std::to_string(waited) + " s");
}

std::string NcclGroup::described(NcclOperation const* operation) const {
  if (operation != nullptr) return operation->description();
  return started_ ? "between collectives" : "the start of NCCL";
}

/// Aborts the group. This ends kernels that wait for other ranks, and everything on the host that waits for them.
void NcclGroup::fail(std::string const& what, std::string const& how) {
  failure_ = "collective timeout: " + what + ", rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ", " +
             how + (watchdog_ != nullptr ? ", " + watchdog_->report() : "");
  if (group_ != nullptr) ncclCommAbort(group_);
  aborted_ = true;
}

/// Body of the watching thread.
void NcclGroup::watch() {
  cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (!leaving_ && !aborted_) {
    leave_.wait_for(lock, std::chrono::duration<double>(look_every));
    if (leaving_ || aborted_) return;
    std::string error;
    try {
      note_ended();
      ncclResult_t status = ncclSuccess;
      ncclResult_t const asked = ncclCommGetAsyncError(group_, &status);
      if (asked != ncclSuccess) status = asked;
      if (status != ncclSuccess && status != ncclInProgress) error = "NCCL: " + nccl_error(status, group_);
    } catch (RuntimeError const& failed) {
      error = failed.what();
    }
    bool const under_way = ended_ < begun_;
    if (!error.empty())
      fail(described(under_way ? &operation(ended_) : nullptr), "ended by " + error);
    else
      end_if_late(nullptr, RunClock::now());
  }
}

}  // namespace bellwether::comm
