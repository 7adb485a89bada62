// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bellwether::input {

/// Parses H:MM:SS or D-HH:MM:SS, the formats that batch systems use for time limits. Minutes and seconds have two
/// digits and are below 60; hours are below 24 if there are days. Returns nothing if the text has another form, or if
/// the time is zero or more than 999 days.
std::optional<std::chrono::seconds> duration_of(std::string_view text);

/// Returns true if a text has one of these forms, even with numbers out of range: "1:75:00".
bool has_duration_form(std::string_view text);

/// Formats a duration in the same form: 3:50:00, 2-00:00:00.
std::string duration_text(std::chrono::seconds duration);

}  // namespace bellwether::input
