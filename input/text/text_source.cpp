// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/text_source.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace bellwether::input {
namespace {

constexpr std::size_t stored_bytes = std::size_t{1} << 18;
constexpr int gzip_only = 16 + MAX_WBITS;  // zlib's windowBits: requires a gzip header

bool begins_member(std::span<unsigned char const> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

FileState state_of(int code, struct stat const& status) {
  if (code != 0 || !S_ISREG(status.st_mode)) return {};
  return {.regular = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

}  // namespace

FileState file_state(std::string const& path) {
  struct stat status {};
  int const code = stat(path.c_str(), &status);
  return state_of(code, status);
}

struct TextSource::Inflater {
  Inflater() {
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw RuntimeError("zlib cannot start: no memory");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(Inflater const&) = delete;
  Inflater& operator=(Inflater const&) = delete;
  z_stream stream{};
};

TextSource::TextSource(std::string const& path, WaitPoll poll)
    : name_(path == standard_input ? "standard input" : path),
      poll_(std::move(poll)),
      owned_(path != standard_input),
      buffer_(std::make_unique<unsigned char[]>(stored_bytes)),
      stored_(buffer_.get(), stored_bytes) {
  file_ = owned_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (file_ < 0) throw_unreadable(name_ + ": cannot be opened for reading", errno);
  try {
    while (end_ < 2 && refill()) continue;
    if (begins_member(pending())) {
      inflater_ = std::make_unique<Inflater>();
      in_member_ = true;
    }
  } catch (...) {
    if (owned_) close(file_);
    throw;
  }
}

TextSource::~TextSource() {
  if (owned_) close(file_);
}

FileState TextSource::state() const {
  struct stat status {};
  int const code = fstat(file_, &status);
  return state_of(code, status);
}

void TextSource::fail(std::string const& what) const { throw InputError(name_ + ": " + what); }

/// Appends to the unused bytes. Returns false at the end of the file.
bool TextSource::refill() {
  std::copy(stored_.begin() + static_cast<std::ptrdiff_t>(begin_), stored_.begin() + static_cast<std::ptrdiff_t>(end_),
            stored_.begin());
  end_ -= begin_;
  begin_ = 0;
  for (;;) {
    wait_for_bytes(file_, poll_);
    auto const got = ::read(file_, stored_.data() + end_, stored_.size() - end_);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    end_ += static_cast<std::size_t>(got);
    taken_ += got;
    return got > 0;
  }
}

/// Skips padding after a member and begins the next one. Returns false at the end of the file.
bool TextSource::next_member() {
  for (;;) {
    while (begin_ < end_ && stored_[begin_] == 0) ++begin_;
    if (end_ - begin_ >= 2) break;
    if (refill()) continue;
    if (begin_ == end_) return false;
    break;
  }
  if (!begins_member(pending())) {
    char shown[8];
    std::snprintf(shown, sizeof shown, "0x%02X", stored_[begin_]);
    fail("byte " + std::to_string(bytes_read()) + " (" + shown +
         ") follows a complete gzip member, but does not begin another one; allowed: gzip members and zeros as "
         "padding; the "
         "file is damaged or has something appended");
  }
  member_ = bytes_read();
  inflateReset(&inflater_->stream);
  in_member_ = true;
  return true;
}

std::size_t TextSource::read(std::span<char> to) {
  if (!inflater_) {
    if (begin_ == end_ && !refill()) return 0;
    auto const count = std::min(to.size(), end_ - begin_);
    std::memcpy(to.data(), stored_.data() + begin_, count);
    begin_ += count;
    return count;
  }
  auto& stream = inflater_->stream;
  for (;;) {
    if (!in_member_ && !next_member()) return 0;
    if (begin_ == end_ && !damaged_ && !refill())
      fail("ends inside the gzip member that begins at byte " + std::to_string(member_) + " (byte " +
           std::to_string(bytes_read()) + " is the end); the file is cut off; get a complete copy");
    stream.next_in = stored_.data() + begin_;
    stream.avail_in = static_cast<unsigned>(end_ - begin_);
    stream.next_out = reinterpret_cast<unsigned char*>(to.data());
    stream.avail_out = static_cast<unsigned>(to.size());
    int const code = inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    std::size_t const count = to.size() - stream.avail_out;
    if (code == Z_STREAM_END) in_member_ = false;
    damaged_ = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
    if (count > 0) return count;  // the next call reports the fault
    if (damaged_)
      fail("byte " + std::to_string(bytes_read()) + ": the gzip member that begins at byte " + std::to_string(member_) +
           " is damaged (" + (stream.msg ? stream.msg : "no reason given") + "); get an undamaged copy");
  }
}

}  // namespace bellwether::input
