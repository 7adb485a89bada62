// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/hdf5/unopened_file.hpp"

#include "input/text/text_kind.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace bellwether::input {
namespace {

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(std::string const& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

bool is_locked(Descriptor const& file) {
  return file.get() >= 0 && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Returns the holder of a write lock from /proc/locks, "process 123 (python3)". Returns nothing if the holder is not
/// visible: on another host, or outside this container.
std::optional<std::string> lock_holder(struct stat const& file) {
  std::array<char, 64> wanted{};
  std::snprintf(wanted.data(), wanted.size(), "%02x:%02x:%llu", major(file.st_dev), minor(file.st_dev),
                static_cast<unsigned long long>(file.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "7: FLOCK  ADVISORY  WRITE 123 08:01:4711 0 EOF". For a process that waits for a lock, "->" follows the number.
    std::istringstream words(line);
    std::string number, kind, advisory, access, place;
    long process = 0;
    if (!(words >> number >> kind >> advisory >> access >> process >> place)) continue;
    if (kind != "FLOCK" || access != "WRITE" || place != wanted.data() || process <= 0) continue;
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
    return "process " + std::to_string(process) + (name.empty() ? "" : " (" + name + ")");
  }
  return std::nullopt;
}

/// Parses HDF5's "truncated file: eof = 2000, sblock->base_addr = 0, stored_eof = 5088".
std::string cut_short(std::string const& reason) {
  unsigned long long there = 0, base = 0, wanted = 0;
  auto const at = reason.find("eof = ");
  std::string const sizes =
      at != reason.npos && std::sscanf(reason.c_str() + at, "eof = %llu, sblock->base_addr = %llu, stored_eof = %llu",
                                       &there, &base, &wanted) == 3
          ? ": it has " + std::to_string(there) + " of " + std::to_string(wanted) + " bytes"
          : "";
  return "is cut short" + sizes +
         "; wait until the program that writes or copies it has finished; if none does, copy it or make it again";
}

/// Explains a file that does not begin as HDF5 does.
std::string other_format(int file) {
  std::array<char, 512> bytes{};
  auto const got = ::pread(file, bytes.data(), bytes.size(), 0);
  std::string_view const start(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  auto const command = unpack_command(start);
  if (command.empty()) return not_hdf5;
  return "is " + std::string(format_name(start)) +
         " and must be unpacked to be read; unpack it: " + std::string(command);
}

}  // namespace

bool is_locked_by_another(std::string const& path) {
  char const* const locking = std::getenv("HDF5_USE_FILE_LOCKING");
  std::string_view const counts = locking == nullptr ? "" : locking;
  return counts != "FALSE" && counts != "0" && is_locked(Descriptor(path));
}

bool means_damage(std::string const& reason) {
  // A superblock of an unknown version belongs to a newer library; the file may be sound.
  constexpr std::array damaged{"object header version number",
                               "addr overflow",
                               "past end of allocation",
                               "ring type mismatch",
                               "signature",
                               "checksum",
                               "truncated",
                               "corrupt",
                               "ran off end",
                               "unable to determine object type",
                               "inflate() failed",
                               "unable to load",
                               "unable to decode",
                               "can't decode"};
  return std::ranges::any_of(damaged, [&](char const* words) { return reason.find(words) != std::string::npos; });
}

std::string why_unopened(std::string const& path, std::string const& reason) {
  auto const says = [&](char const* words) { return reason.find(words) != std::string::npos; };
  Descriptor const file(path);
  if (file.get() < 0) {
    std::string const error = std::strerror(errno);
    return "cannot be read: " + error +
           (errno == EACCES ? "; needed: permission to read it, and to enter every folder above it" : "");
  }
  struct stat status {};
  bool const known = ::fstat(file.get(), &status) == 0;
  // Check the lock first: other faults may be the unfinished work of the writer.
  if (bool const now = is_locked(file); now || says("Resource temporarily unavailable")) {
    auto const holder = now && known ? lock_holder(status) : std::nullopt;
    return "is locked: another program has it open for writing" + (holder ? ", " + *holder : "") +
           "; close it there, or wait. If no program writes to it, HDF5_USE_FILE_LOCKING=FALSE in the environment "
           "ignores the lock";
  }
  // macOS writes one for every file that it copies to another kind of file system.
  if (auto const name = path.substr(path.rfind('/') + 1); name.starts_with("._"))
    return "is a resource file of macOS that belongs to '" + name.substr(2) + "' and contains no HDF5; remove it";
  if (known && status.st_size == 0) return "is empty; the program that writes it has not finished, or has failed";
  if (says("truncated file")) return cut_short(reason);
  if (says("file signature not found")) return other_format(file.get());
  if (says("already open for write") || says("consistency flags"))
    return "was not closed by the program that wrote it, or is still open there (" + reason +
           "); once no program has it open, `h5clear -s " + path + "` repairs it";
  if (means_damage(reason)) return "cannot be opened as HDF5: " + reason + damage_advice;
  return "cannot be opened as HDF5" + (reason.empty() ? "" : ": " + reason);
}

}  // namespace bellwether::input
