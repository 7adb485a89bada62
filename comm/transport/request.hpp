// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace bellwether::comm {

/// A collective in progress; wait for it exactly once. Its state belongs to the communicator that started it, which
/// reuses it, so that a step allocates nothing. Destroying an unfinished request ends the program with the collective's
/// name, because the transport may still write to the caller's buffers. During stack unwinding the communicator keeps
/// the state instead, so that the user sees the exception.
class Request {
 public:
  class State {
   public:
    virtual char const* label() const = 0;

   protected:
    ~State() = default;
  };
  Request() = default;
  explicit Request(State& state) : state_(&state) {}
  Request(Request&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Request& operator=(Request&& other) noexcept;
  ~Request() { drop(); }

  State* state() const { return state_; }
  bool pending() const { return state_ != nullptr; }
  /// For communicators: marks the collective as finished.
  void release() { state_ = nullptr; }

 private:
  void drop() noexcept;
  State* state_ = nullptr;
};

}  // namespace bellwether::comm
