// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/rank_group.hpp"
#include "comm/transport/request.hpp"

#include <nccl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace bellwether::comm {

/// A collective on NCCL's stream, with the events that order it relative to the caller's stream. Reused by later
/// collectives. \throws RuntimeError if the device has failed, in every member.
class NcclOperation final : public Request::State {
 public:
  NcclOperation();
  NcclOperation(NcclOperation const&) = delete;
  NcclOperation& operator=(NcclOperation const&) = delete;

  char const* label() const override { return label_; }
  bool awaited() const { return awaited_; }  ///< started and not yet finished by its caller

  /// Orders later work on `stream` after the current work on `caller`. bytes: those that this rank sends.
  void begin(cudaStream_t caller, cudaStream_t stream, char const* name, Label label, std::int64_t bytes);
  void started(cudaStream_t stream);  ///< call when all work of the collective is on `stream`
  /// Orders later work on the caller's stream after the collective.
  void finish();

  // Queries of the device's events.
  bool ready() const;  ///< the work before the collective has ended
  bool ended();
  /// Returns a description: "all-to-all bellwether::comm::workers, 64 bytes from this rank".
  std::string description() const;

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;
  static Event new_event();
  static bool reached(Event const& event);

  char const* name_ = "";
  Label label_ = "";
  std::int64_t bytes_ = 0;
  bool awaited_ = false, ended_ = true;
  Event ready_, done_;
  cudaStream_t caller_ = nullptr;
};

}  // namespace bellwether::comm
