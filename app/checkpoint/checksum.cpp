// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checksum.hpp"

#include "app/format/formatted.hpp"
#include "core/system/error.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bellwether::app {
namespace {

constexpr std::size_t portion_bytes = std::size_t{1} << 20;

}  // namespace

struct Checksum::State {
  State() : hash(XXH3_createState()) { XXH3_64bits_reset(hash); }
  ~State() { XXH3_freeState(hash); }
  State(State const&) = delete;
  State& operator=(State const&) = delete;
  XXH3_state_t* hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::add(std::span<std::byte const> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(state_->hash, bytes.data(), bytes.size());
}

std::string Checksum::digest() const { return hexadecimal(XXH3_64bits_digest(state_->hash)); }

std::string checksum_of(std::span<std::byte const> bytes) {
  return hexadecimal(XXH3_64bits(bytes.data(), bytes.size()));
}
std::string checksum_of(std::string_view text) { return checksum_of(std::as_bytes(std::span(text))); }
std::string checksum_of(std::vector<std::string> const& texts) {
  Checksum sum;
  for (auto const& text : texts) sum.add(std::as_bytes(std::span(text)));
  return sum.digest();
}

FileChecksum::FileChecksum(std::string const& path, std::int64_t most)
    : path_(path), file_(path, std::ios::binary), portion_(portion_bytes, '\0'), most_(most) {
  if (!file_) throw RuntimeError(path + ": cannot be opened: " + std::strerror(errno));
}

bool FileChecksum::advance() {
  file_.read(portion_.data(), std::min<std::int64_t>(std::ssize(portion_), most_ - bytes_));
  auto const count = static_cast<std::size_t>(file_.gcount());
  if (file_.bad()) throw RuntimeError(path_ + ": cannot be read: " + std::strerror(errno));
  sum_.add(std::as_bytes(std::span(portion_).first(count)));
  bytes_ += static_cast<std::int64_t>(count);
  return !file_.eof() && bytes_ < most_;
}

}  // namespace bellwether::app
