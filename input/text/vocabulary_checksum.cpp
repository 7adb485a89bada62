// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/vocabulary_checksum.hpp"

#include "input/text/vocabulary.hpp"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace bellwether::input {
namespace {

constexpr std::size_t digits = 16;

class TokenSum {
 public:
  TokenSum() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }
  void add(std::string const& token) {
    XXH3_64bits_update(state_.get(), token.data(), token.size());
    XXH3_64bits_update(state_.get(), "\n", 1);
  }
  std::string text() const {
    char buffer[digits];
    char* const end = std::to_chars(buffer, buffer + digits, XXH3_64bits_digest(state_.get()), 16).ptr;
    std::string const written(buffer, end);
    return std::string(digits - written.size(), '0') + written;
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

std::string vocabulary_checksum(std::vector<std::string> const& tokens) {
  TokenSum sum;
  for (auto const& token : tokens) sum.add(token);
  return sum.text();
}

std::string vocabulary_checksum(Vocabulary const& vocabulary) {
  TokenSum sum;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) sum.add(vocabulary.token(id));
  return sum.text();
}

bool is_vocabulary_checksum(std::string const& text) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::uint64_t checksum_number(std::string const& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

}  // namespace bellwether::input
