// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bellwether::app {

/// Warn if a layer's update norm changes by more than this factor at the freeze: 1-bit methods typically fail there.
inline constexpr double largest_jump = 3;

/// Returns the ratio of a layer's median update norms: after the freeze over before it. NaN values are ignored. Returns
/// nothing if one side is empty or both medians are 0, infinity if only the first one is 0.
/// before, after: up to ten steps each.
std::optional<double> jump(std::span<float const> before, std::span<float const> after);

/// Returns one sentence that names the layers whose jump lies outside [1 / largest_jump, largest_jump], with the jumps;
/// of more than ten layers, those with the largest jumps. Empty if there are none or the method records no update norm.
/// Reads statistics.h5 in `directory`. Call it on the I/O thread. frozen_after: step of the freeze.
std::string freeze_jump(std::string const& directory, std::int64_t frozen_after);

}  // namespace bellwether::app
