// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

namespace bellwether::input {

/// Returns the end of the sentence that begins at byte `begin` of the UTF-8 `text`: after its mark and the closing
/// quotes or brackets that follow; or text.size().
/// The marks . ! ? and those of Arabic, Hindi and Ethiopic end a sentence before white space, unless the mark ends an
/// initial ("J. Smith") or a lower-case ASCII letter follows. Those of Chinese and Japanese need no white space.
std::size_t sentence_end(std::string_view text, std::size_t begin);

}  // namespace bellwether::input
