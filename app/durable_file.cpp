// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/durable_file.hpp"

#include "app/formatted.hpp"
#include "core/error.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace bellwether::app {
namespace {

constexpr std::size_t portion_bytes = std::size_t{1} << 20;

std::string reason(int error) { return std::strerror(error); }

}  // namespace

void sync_path(std::string const& path) {
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw RuntimeError(path + ": cannot be opened: " + reason(errno));
  int const status = ::fsync(file);
  int const error = errno;
  ::close(file);
  // Some network file systems cannot synchronise folders and say so with EINVAL; there is nothing more to do there.
  if (status != 0 && error != EINVAL) throw RuntimeError(path + ": cannot be written to the device: " + reason(error));
}

void replace_file(std::string const& temporary, std::string const& path) {
  sync_path(temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    throw RuntimeError(path + ": cannot be replaced: " + reason(errno));
  auto const folder = std::filesystem::path(path).parent_path();
  sync_path(folder.empty() ? "." : folder.string());
}

void write_text_file(std::string const& path, std::string_view text) {
  std::string const temporary = path + ".part";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw RuntimeError(temporary + ": cannot be written: " + reason(errno));
  replace_file(temporary, path);
}

std::string checksum_of(std::string_view text) { return hexadecimal(XXH3_64bits(text.data(), text.size())); }

struct FileChecksum::Hash {
  Hash() : state(XXH3_createState()) { XXH3_64bits_reset(state); }
  ~Hash() { XXH3_freeState(state); }
  XXH3_state_t* state;
};

FileChecksum::FileChecksum(std::string const& path)
    : path_(path), file_(path, std::ios::binary), hash_(std::make_unique<Hash>()), portion_(portion_bytes, '\0') {
  if (!file_) throw RuntimeError(path + ": cannot be opened: " + reason(errno));
}

FileChecksum::~FileChecksum() = default;

bool FileChecksum::advance() {
  file_.read(portion_.data(), static_cast<std::streamsize>(portion_.size()));
  auto const count = file_.gcount();
  if (file_.bad()) throw RuntimeError(path_ + ": cannot be read: " + reason(errno));
  XXH3_64bits_update(hash_->state, portion_.data(), static_cast<std::size_t>(count));
  bytes_ += count;
  return !file_.eof();
}

std::string FileChecksum::digest() const { return hexadecimal(XXH3_64bits_digest(hash_->state)); }

}  // namespace bellwether::app
