// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/request.hpp"

#include <cstdio>
#include <exception>

namespace bellwether::comm {

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    drop();
    state_ = std::exchange(other.state_, nullptr);
  }
  return *this;
}

void Request::drop() noexcept {
  if (!state_ || std::uncaught_exceptions() > 0) return;
  std::fprintf(stderr, "internal error: collective %s was started and never waited for\n", state_->label());
  std::terminate();
}

}  // namespace bellwether::comm
