// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Two vocabularies of one size give the same ids to other tokens. A checksum tells them apart where only ids are left.
namespace bellwether::input {

class Vocabulary;

/// XXH3, 64 bits, of the tokens in order, a line feed after each: as `xxhsum -H3` prints it of the vocab.txt that
/// `prepare` writes. Sixteen hexadecimal digits.
std::string vocabulary_checksum(std::vector<std::string> const& tokens);
std::string vocabulary_checksum(Vocabulary const& vocabulary);

/// The attribute of a shard that holds it.
constexpr auto vocabulary_checksum_name = "vocabulary_xxh3";

/// Whether a text can be such a checksum.
bool is_vocabulary_checksum(std::string const& text);

/// The same as a number; 0 stands for none, an empty text.
std::uint64_t checksum_number(std::string const& text);

}  // namespace bellwether::input
