// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// A warning of text_kind.hpp about a part of a text.
struct MarkupFinding {
  std::string warning;    ///< without the file's name
  std::int64_t line = 0;  ///< where the part begins, from 1; 0 for the beginning of the text
};

/// Searches a text for markup in windows of 64 KiB. They begin at 0, at 64 KiB, at each doubling of that up to 1
/// MiB, and then at every MiB. The last 64 KiB are a window, too. So it finds markup in joined texts, and costs little
/// in large ones.
class MarkupWatch {
 public:
  static constexpr std::size_t window_bytes = std::size_t{1} << 16;

  void add(std::string_view bytes);  ///< the next bytes of the text, decompressed
  void finish();                     ///< examines the end of the text
  /// Returns one finding of each kind, in the order of the text.
  std::vector<MarkupFinding> const& findings() const { return findings_; }

 private:
  void begin_window();
  void keep_tail(std::string_view part);
  void examine();

  std::vector<MarkupFinding> findings_;
  std::string window_;
  std::string tail_;  ///< the last bytes after a window, up to two windows
  bool collects_ = false;
  std::int64_t position_ = 0, next_ = 0;  ///< bytes so far; where the next window begins
  std::int64_t begin_ = 0, begin_line_ = 0;
  std::int64_t feeds_ = 0;    ///< line feeds so far
  std::int64_t returns_ = 0;  ///< carriage returns before the first line feed, which end lines if there is none
};

/// Gathers the findings of several texts. Each kind gives one warning, however many texts show it.
class MarkupWarnings {
 public:
  void add(std::string const& name, std::vector<MarkupFinding> const& findings);
  /// Returns texts such as "a.txt (from line 812 on; and 2 other texts) looks like JSON: ...".
  std::vector<std::string> texts() const;

 private:
  struct Kind {
    std::string first;  ///< name of the first text
    MarkupFinding finding;
    std::int64_t texts = 1;
  };
  std::vector<Kind> kinds_;
};

}  // namespace bellwether::input
