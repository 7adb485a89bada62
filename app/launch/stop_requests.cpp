// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/stop_requests.hpp"

#include "app/launch/interrupt.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <filesystem>

namespace bellwether::app {
namespace {

constexpr double bytes_per_second = 100e6;  // of a slow shared file system
constexpr double caution = 1.5;
constexpr double to_leave = 5;  // seconds to write statistics and end MPI and the launcher

}  // namespace

std::string how_stopped(StopReason reason) {
  switch (reason) {
    case StopReason::signal:
      return " by a signal";
    case StopReason::walltime:
      return ", near the end of run.walltime";
    case StopReason::file:
      return " by the file stop in the run directory";
    case StopReason::directory:
      return ", because the run directory was away for a while";
    case StopReason::none:
      break;
  }
  return "";
}

StopRequests::StopRequests(Interrupt const& interrupt, Clock::time_point started,
                           std::optional<std::chrono::seconds> limit, std::string file)
    : interrupt_(interrupt), started_(started), limit_(limit), file_(std::move(file)) {}

void StopRequests::took_step(double seconds) { step_ = std::max(step_, seconds); }

void StopRequests::took_checkpoint(double seconds) {
  checkpoint_ = checkpoint_known_ ? std::max(checkpoint_, seconds) : seconds;
  checkpoint_known_ = true;
}

void StopRequests::expect_checkpoint(std::int64_t bytes) {
  if (!checkpoint_known_) checkpoint_ = static_cast<double>(bytes) / bytes_per_second;
}

double StopRequests::seconds_to_come() const { return caution * (step_ + checkpoint_) + to_leave; }

StopReason StopRequests::pending() {
  auto const now = Clock::now();
  bool const looks = !file_.empty() && now - looked_ >= std::chrono::seconds(1);
  if (looks) looked_ = now;
  directory_lost_ = directory_lost_ || (looks && lost_ && lost_());
  if (directory_lost_) return StopReason::directory;
  if (interrupt_.requested()) return StopReason::signal;
  if (limit_ && now - started_ + std::chrono::duration<double>(seconds_to_come()) > *limit_)
    return StopReason::walltime;
  std::error_code error;
  file_seen_ = file_seen_ || (looks && std::filesystem::exists(file_, error));
  return file_seen_ ? StopReason::file : StopReason::none;
}

void StopRequests::remove_file() const {
  std::error_code error;
  if (!file_.empty() && !std::filesystem::remove(file_, error) && error)
    throw RuntimeError(file_ + ": cannot be removed (" + error.message() + "), and would stop the next job, too");
}

}  // namespace bellwether::app
