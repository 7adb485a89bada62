// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace bellwether::comm {

/// A collective under way, to be waited for exactly once. Its state belongs to the communicator that started it, which
/// uses it again for later collectives: a step allocates nothing. Destroying an unfinished request ends the program
/// with the collective's name, because transport may still write into the caller's buffers; while an exception unwinds
/// the stack the state stays with its communicator instead, so that the exception is what the user reads.
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
  void release() { state_ = nullptr; }  ///< for communicators: the collective is finished

 private:
  void drop() noexcept;
  State* state_ = nullptr;
};

}  // namespace bellwether::comm
