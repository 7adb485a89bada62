// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/rank_group.hpp"
#include "comm/ticket.hpp"
#include "core/clock.hpp"

#include <nccl.h>

#include <cstdint>
#include <string>

namespace bellwether::comm {

/// One collective on a stream of NCCL's, with the events that order it between what its caller's stream holds before
/// and after; kept from one collective to the next.
class NcclOperation final : public Ticket::State {
 public:
  NcclOperation();
  ~NcclOperation();
  NcclOperation(NcclOperation const&) = delete;
  NcclOperation& operator=(NcclOperation const&) = delete;

  char const* label() const override { return label_; }
  /// Whether another collective may take it: this one was waited for, and has ended on the device, too. One that the
  /// device still waits for keeps its name and its time.
  bool free() { return !awaited_ && !under_way(); }

  /// What goes on `stream` from here on comes after what `caller` holds now. bytes: those that this rank sends.
  void begin(cudaStream_t caller, cudaStream_t stream, char const* name, Label label, std::int64_t bytes);
  void started(cudaStream_t stream);  ///< all of the collective is on `stream`
  /// What the caller puts on its stream from here on comes after the collective.
  void finish();

  /// Looks at the device: false once the collective has ended there. Its time does not run before the work that it
  /// comes after has ended. \throws RuntimeError where the device has failed.
  bool under_way();
  bool marked() const { return under_way_; }  ///< what under_way() has found last
  double seconds() const { return seconds_since(since_); }
  /// "all-to-all bellwether::comm::workers, 64 bytes from this rank"
  std::string description() const;

 private:
  char const* name_ = "";
  Label label_ = "";
  std::int64_t bytes_ = 0;
  bool awaited_ = false, under_way_ = false;
  cudaEvent_t ready_ = nullptr, done_ = nullptr;
  cudaStream_t caller_ = nullptr;
  Clock::time_point since_;
};

}  // namespace bellwether::comm
