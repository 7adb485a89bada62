// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Two vocabularies of the same size map ids to different tokens. A checksum distinguishes them where only ids are
/// stored.
namespace bellwether::input {

class Vocabulary;

/// Returns the 64-bit XXH3 of the tokens in order, each followed by a line feed, as sixteen hexadecimal digits. This is
/// what `xxhsum -H3` prints for the vocab.txt that `prepare` writes.
std::string vocabulary_checksum(std::vector<std::string> const& tokens);
std::string vocabulary_checksum(Vocabulary const& vocabulary);

/// The attribute of a shard that stores it.
constexpr auto vocabulary_checksum_name = "vocabulary_xxh3";

/// Returns true if a text has the form of such a checksum.
bool is_vocabulary_checksum(std::string const& text);

/// Converts the checksum to a number; an empty text (no checksum) gives 0.
std::uint64_t checksum_number(std::string const& text);

}  // namespace bellwether::input
