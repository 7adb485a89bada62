// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/device_launch.hpp"
#include "core/system/error.hpp"

namespace bellwether {

void start_device() {}

struct Recording::Impl {};

bool Recording::possible() { return false; }

Recording::Recording(Exec const&, std::function<void()> const&) {
  throw RuntimeError("this build cannot record work: it has no CUDA graphs");
}
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

void Recording::replay(Exec const&) const {}

}  // namespace bellwether
