// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/watchdog.hpp"

#include <atomic>

namespace bellwether::comm {

// Replaces the watchdog that uses MPI: counts calls and reports the counts.
struct Watchdog::Impl {
  std::atomic<int> begun{0}, asked{0};
};
Watchdog::Watchdog(std::vector<std::string>) : impl_(std::make_unique<Impl>()) {}
Watchdog::~Watchdog() = default;
void Watchdog::begin(char const*, Label, int) { ++impl_->begun; }
void Watchdog::ask() { ++impl_->asked; }
std::string Watchdog::report() const {
  return std::to_string(impl_->begun) + " begun, asked " + std::to_string(impl_->asked) + " times";
}

}  // namespace bellwether::comm
