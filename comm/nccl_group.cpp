// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/nccl_group.hpp"

#include "core/status_cuda.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace bellwether::comm {

NcclGroup::NcclGroup(ncclUniqueId const& id, int rank, int size, double deadline, Watchdog* watchdog)
    : rank_(rank), size_(size), watchdog_(watchdog), deadline_(deadline) {
  check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  try {
    settle_or_fail(nullptr, [&] {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      ncclResult_t const made = ncclCommInitRankConfig(&group_, size, id, rank, &config);
      calls_.emplace(group_, stream_, rank, size, [this] { poll(); });
      calls_->settle(made, "ncclCommInitRankConfig");
    });
    // More than are under way, as a rule: a step that the device lags behind in allocates nothing.
    for (int i = 0; i < 32; ++i) operations_.push_back(std::make_unique<NcclOperation>());
    watch_ = std::thread([this] { watch(); });
  } catch (...) {  // there is no destructor to come
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
  // A group that is left while an exception unwinds would wait for ranks that do not come.
  if (!aborted_ && (std::uncaught_exceptions() > 0 || !finalize())) ncclCommAbort(group_);
  operations_.clear();
  cudaStreamDestroy(stream_);
}

/// False past the deadline, or where NCCL fails.
bool NcclGroup::finalize() {
  ncclResult_t status = ncclCommFinalize(group_);
  for (auto const start = Clock::now(); status == ncclInProgress && seconds_since(start) < deadline_;) {
    std::this_thread::yield();
    if (ncclCommGetAsyncError(group_, &status) != ncclSuccess) return false;
  }
  if (status != ncclSuccess) return false;
  ncclCommDestroy(group_);
  return true;
}

void NcclGroup::wait(Ticket& ticket) {
  require(ticket.pending(), "a ticket is waited for once");
  std::lock_guard const lock(mutex_);
  throw_failure();
  static_cast<NcclOperation&>(*ticket.state()).finish();
  ticket.release();
}

bool NcclGroup::ended(Ticket const& ticket) {
  require(ticket.pending(), "a ticket that was waited for is asked whether it has ended");
  std::lock_guard const lock(mutex_);
  throw_failure();
  return !static_cast<NcclOperation&>(*ticket.state()).under_way();
}

void NcclGroup::throw_if_failed() {
  std::lock_guard const lock(mutex_);
  throw_failure();
}

void NcclGroup::throw_failure() const {
  if (aborted_) throw StuckCollective(failure_);
}

void NcclGroup::set_deadline(double seconds) {
  std::lock_guard const lock(mutex_);
  deadline_ = seconds;
}

NcclOperation& NcclGroup::free_operation() {
  auto const found = std::find_if(operations_.begin(), operations_.end(), [](auto const& one) { return one->free(); });
  if (found != operations_.end()) return **found;
  return *operations_.emplace_back(std::make_unique<NcclOperation>());
}

/// Between two looks at a call that has not come back: what never comes back ends by the deadline.
void NcclGroup::poll() {
  double const waited = seconds_since(call_started_);
  bool const half = waited > deadline_ / 2;
  if (watchdog_ != nullptr && half && !asked_in_call_) watchdog_->ask();
  asked_in_call_ = half;
  if (waited > deadline_) throw RuntimeError("not finished after " + std::to_string(waited) + " s");
  std::this_thread::yield();
}

/// Kernels that wait for other ranks end, and with them whatever the host waits for.
void NcclGroup::fail(std::string const& what, std::string const& how) {
  failure_ = "stuck collective: " + what + ", rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ", " +
             how + (watchdog_ != nullptr ? ", " + watchdog_->verdict() : "");
  if (group_ != nullptr) ncclCommAbort(group_);
  aborted_ = true;
}

/// The group's own thread.
void NcclGroup::watch() {
  cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (!leaving_ && !aborted_) {
    leave_.wait_for(lock, std::chrono::milliseconds(100));
    if (leaving_ || aborted_) return;
    std::string const error = error_of_group_or_device();
    NcclOperation const* const oldest = oldest_under_way();
    double const waited = oldest != nullptr ? oldest->seconds() : 0;
    bool const half = waited > deadline_ / 2;
    if (watchdog_ != nullptr && half && asked_ != oldest) watchdog_->ask();
    asked_ = half ? oldest : nullptr;
    if (error.empty() && waited <= deadline_) continue;
    fail(oldest != nullptr ? oldest->description() : std::string("between collectives"),
         error.empty() ? "not finished after " + std::to_string(waited) + " s" : "ended by " + error);
  }
}

/// What NCCL or the device have met meanwhile; empty where all is well.
std::string NcclGroup::error_of_group_or_device() const {
  ncclResult_t status = ncclSuccess;
  ncclResult_t const asked = ncclCommGetAsyncError(group_, &status);
  if (asked != ncclSuccess) status = asked;
  if (status != ncclSuccess && status != ncclInProgress)
    return std::string("NCCL: ") + ncclGetErrorString(status) + ", " + ncclGetLastError(group_);
  try {
    for (auto const& operation : operations_) operation->under_way();
  } catch (RuntimeError const& error) {
    return error.what();
  }
  return "";
}

/// After error_of_group_or_device(), which looks at the device.
NcclOperation const* NcclGroup::oldest_under_way() const {
  NcclOperation const* oldest = nullptr;
  for (auto const& operation : operations_)
    if (operation->marked() && (oldest == nullptr || operation->seconds() > oldest->seconds()))
      oldest = operation.get();
  return oldest;
}

}  // namespace bellwether::comm
