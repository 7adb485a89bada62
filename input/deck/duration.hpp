// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bellwether::input {

/// H:MM:SS or D-HH:MM:SS, as batch systems write time limits: minutes and seconds of two digits below 60, hours below
/// 24 where there are days. Nothing where the text is not of this form or the time is zero or above 999 days.
std::optional<std::chrono::seconds> duration_of(std::string_view text);

/// Whether a text has one of these forms, whatever its numbers: "1:75:00" has.
bool has_duration_form(std::string_view text);

/// The same form back: 3:50:00, 2-00:00:00.
std::string duration_text(std::chrono::seconds duration);

}  // namespace bellwether::input
