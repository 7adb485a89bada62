// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_characters.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bellwether::input {

/// Returns the place of a quote that is never closed. The YAML library accepts such a text, and every key after the
/// quote would be part of its value. `text`: a document that the library parses.
std::optional<Place> unclosed_quote(std::string_view text, TextPlaces const& places);

/// Explains a frequent slip on the line of a syntax error or the one above it, such as a missing blank after a colon.
/// Returns "; " and what to do, or an empty text.
std::string syntax_hint(std::string_view text, Place error);

/// Explains an unquoted scalar such as `steps:3`, which the YAML library takes for a text. `begin`: its place. Returns
/// "; " with the place of the missing blank, or an empty text if the scalar is no key and value.
std::string missing_blank_hint(std::string_view scalar, Place begin);

}  // namespace bellwether::input
