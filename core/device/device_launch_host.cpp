// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/device_launch.hpp"
#include "core/system/error.hpp"

namespace bellwether {

void start_device() {}

struct Recording::Impl {};

bool Recording::possible() { return false; }

Recording::Recording(Exec const&, std::function<void()> const&) {
  throw RuntimeError("work on a host cannot be recorded");
}
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

void Recording::replay(Exec const&) const {}

}  // namespace bellwether
