// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bellwether::app {

/// The steps around a freeze are where a run with a 1-bit method is lost: updates of a layer that grow or shrink by
/// more than this factor are worth a warning.
inline constexpr double largest_jump = 3;

/// Median of a layer's update norms after the freeze over that before it, up to ten steps each, NaN left out. Nothing
/// where one side is empty or both medians are 0; infinite where only the first is.
std::optional<double> jump(std::span<float const> before, std::span<float const> after);

/// One sentence that names the layers whose jump leaves [1 / largest_jump, largest_jump], with it, the farthest ones
/// where they are more than ten; empty where there is none or the method records no update norm. Reads statistics.h5 of
/// the run's directory; for the I/O thread.
std::string freeze_jump(std::string const& directory, std::int64_t frozen_after);

}  // namespace bellwether::app
