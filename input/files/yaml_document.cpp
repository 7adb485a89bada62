// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/yaml_document.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"
#include "input/files/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

std::optional<int> descriptor_named(std::string const& path) { return path == "-" ? 0 : descriptor_of(path); }

/// Appends everything that can be read. Returns errno, or 0 at the end of the file or after largest_document bytes.
int read_all(int descriptor, WaitPoll const& poll, std::string& text) {
  std::array<char, 1 << 14> part{};
  while (text.size() <= largest_document) {
    wait_for_bytes(descriptor, poll);
    auto const got = ::read(descriptor, part.data(), part.size());
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return 0;
    } else if (errno != EINTR && errno != EAGAIN) {  // EAGAIN: of a descriptor that does not block
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::string document_name(std::string const& path) { return descriptor_named(path) == 0 ? "standard input" : path; }

Document read_document(std::string const& path, std::string const& kind, WaitPoll const& poll) {
  Document document{.name = document_name(path), .text = {}, .folder = {}};
  auto const fault = [&](std::string const& what) {
    return InputError(document.name + ": " + what + "; " + kind + " is a YAML file");
  };
  auto const cannot = [&](int reason) { return fault("cannot be read (" + std::string(std::strerror(reason)) + ")"); };
  auto const given = descriptor_named(path);
  if (given && *given != 0 && !is_open(*given))
    throw fault("is not open here: launchers pass on only standard input, and only to rank 0. Use a file, or - with " +
                kind + " on standard input");
  if (auto const other = fault_of_file(path == "-" ? "/dev/stdin" : path, Pipes::of_this_process); !other.empty())
    throw fault(other);
  if (given) {
    int const reason = read_all(*given, poll, document.text);
    if (reason != 0) throw cannot(reason);
    if (document.text.empty()) throw fault("is empty");
    document.folder = fs::current_path().string();
    return document;
  }
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && is_lack_of_descriptors(errno)) throw_unreadable(document.name + ": cannot be read", errno);
  if (file < 0) throw cannot(errno);
  int const reason = read_all(file, {}, document.text);
  ::close(file);
  if (reason != 0) throw cannot(reason);
  document.folder = fs::absolute(path).parent_path().string();
  return document;
}

}  // namespace bellwether::input
