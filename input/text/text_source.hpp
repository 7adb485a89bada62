// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/wait_for_bytes.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bellwether::input {

/// The path that means standard input. Write ./- for a file of that name.
inline constexpr char const* standard_input = "-";

/// Detects that a regular file was written to or replaced.
struct FileState {
  bool regular = false;  ///< all other members are 0 if false
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;  ///< bytes; time of the last modification
  bool operator==(FileState const&) const = default;
};

/// Returns the state of the file at `path`, following symbolic links.
FileState file_state(std::string const& path);

/// Reads the bytes of one text file or of standard input. Decompresses them if the first two bytes are those of gzip.
/// Reads all members of a gzip file (RFC 1952, section 2.2); zeros between and after them are padding, as tapes add it.
class TextSource {
 public:
  /// poll: ends a wait for bytes of a pipe or terminal by throwing.
  /// \throws InputError if `path` cannot be opened; NoRoom if too many files are open.
  explicit TextSource(std::string const& path, WaitPoll poll = {});
  ~TextSource();
  TextSource(TextSource const&) = delete;
  TextSource& operator=(TextSource const&) = delete;

  /// Reads up to to.size() decompressed bytes; returns 0 at the end. Returns all bytes before a fault before it throws.
  /// \throws InputError naming file and byte if a gzip member is damaged or cut, or something else follows it.
  std::size_t read(std::span<char> to);

  FileState state() const;                           ///< current state of the open file
  std::string const& name() const { return name_; }  ///< the path, or "standard input"
  bool is_standard_input() const { return !owned_; }
  bool compressed() const { return inflater_ != nullptr; }
  std::int64_t bytes_read() const { return taken_ - static_cast<std::int64_t>(pending().size()); }  ///< as stored

 private:
  struct Inflater;
  std::span<unsigned char const> pending() const { return std::span(stored_).subspan(begin_, end_ - begin_); }
  bool refill();
  bool next_member();
  [[noreturn]] void fail(std::string const& what) const;

  std::string name_;
  WaitPoll poll_;
  int file_ = -1;
  bool owned_ = true;
  std::unique_ptr<unsigned char[]> buffer_;
  std::span<unsigned char> stored_;  ///< bytes as stored; [begin_, end_) are not used yet
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t taken_ = 0;              ///< bytes read from the file
  std::int64_t member_ = 0;             ///< byte at which the current gzip member begins
  std::unique_ptr<Inflater> inflater_;  ///< null: not compressed
  bool in_member_ = false, damaged_ = false;
};

}  // namespace bellwether::input
