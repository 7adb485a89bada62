// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace bellwether::input {

/// Detects text that another tokenizer has written: `<unk>` in place of words, parts of words marked by `@@` (BPE of
/// subword-nmt), `##` (WordPiece), U+2581 (SentencePiece) or U+0120 (byte-level BPE), and `@-@` for a hyphen (Moses,
/// WikiText). Five marks are needed, and a share of the words. Returns a warning without the file's name, or "".
/// `text`: a part of the text, some KiB or more.
std::string token_warning(std::string_view text);

}  // namespace bellwether::input
