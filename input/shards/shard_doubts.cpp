// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shard_doubts.hpp"

#include "core/system/error.hpp"
#include "input/deck/shard_files.hpp"
#include "input/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

/// Names of shards that differ only in a number, with a fixed count of digits.
struct Series {
  std::string before, after;
  std::size_t digits = 0;

  auto operator<=>(Series const&) const = default;
  std::string name(std::int64_t number) const {
    auto text = std::to_string(number);
    text.insert(0, digits - std::min(digits, text.size()), '0');
    return before + text + after;
  }
};

/// Returns the last number in a name. Returns nothing if there is none or it is too large.
std::optional<std::pair<Series, std::int64_t>> numbered(fs::path const& file) {
  std::string const stem = file.stem().string();
  auto const last = stem.find_last_of("0123456789");
  if (last == std::string::npos) return std::nullopt;
  auto const before = stem.find_last_not_of("0123456789", last);
  auto const first = before == std::string::npos ? 0 : before + 1;
  std::int64_t number = 0;
  auto const [end, error] = std::from_chars(stem.data() + first, stem.data() + last + 1, number);
  if (error != std::errc() || end != stem.data() + last + 1) return std::nullopt;
  return std::pair(Series{stem.substr(0, first), stem.substr(last + 1) + file.extension().string(), last + 1 - first},
                   number);
}

/// Describes the first gap. Empty if no number is missing, or if so many are that the numbers may be dates.
std::string gap_in(std::string const& folder, Series const& series, std::vector<std::int64_t>& numbers) {
  std::ranges::sort(numbers);
  std::int64_t const present = std::ssize(numbers);
  std::int64_t const missing = numbers.back() - numbers.front() + 1 - present;
  if (missing <= 0 || missing >= present) return "";
  auto const gap = std::ranges::adjacent_find(numbers, [](auto a, auto b) { return b > a + 1; });
  return folder + ": holds " + series.name(*gap) + " and " + series.name(*(gap + 1)) + ", but not " +
         series.name(*gap + 1) + (missing > 1 ? "; " + std::to_string(missing) + " numbers are missing in all" : "");
}

/// Returns true if a file that is not read looks like a shard: compressed, incompletely copied, or renamed. Files about
/// shards do not count: checksums, notes, and the files that macOS creates next to others.
bool has_ignored_name(fs::path const& file) {
  constexpr std::string_view about[] = {".md5", ".sha1", ".sha256", ".sha512", ".asc",  ".sig",
                                        ".txt", ".log",  ".json",   ".yaml",   ".lock", ".Identifier"};
  constexpr std::string_view marks[] = {".h5", ".hdf", ".he5"};
  auto const name = in_small_letters(file.string());
  if (name.starts_with("._") || has_shard_name(file) || std::ranges::count(about, file.extension().string()) > 0)
    return false;
  return std::ranges::any_of(marks, [&](auto mark) { return name.find(mark) != std::string::npos; });
}

/// Returns true if files of a folder have a shard's content. The name is not enough: run directories hold .h5 files,
/// too.
bool holds_shards(fs::path const& folder) {
  constexpr std::size_t most = 8;  // files to open
  std::vector<std::string> files;
  try {
    files = shards_at(folder.string());
  } catch (fs::filesystem_error const&) {
    return false;  // the folder may not be meant to be read at all
  }
  files.resize(std::min(most, files.size()));
  return std::ranges::any_of(files, [](auto const& file) {
    try {
      return Hdf5File::open(file).contains("input_ids");
    } catch (InputError const&) {
      return false;
    }
  });
}

/// Returns the folders that entries of a deck refer to, or that contain them.
std::set<FileIdentity> folders_of(std::vector<std::string> const& entries) {
  std::set<FileIdentity> folders;
  for (fs::path const entry : entries) {
    std::error_code status;
    auto const folder = fs::is_directory(entry, status) ? entry : entry.has_parent_path() ? entry.parent_path() : ".";
    if (auto const identity = identity_of(folder.string())) folders.insert(*identity);
  }
  return folders;
}

/// Returns one sentence about the first of several names; empty if there are none.
std::string first_of(std::string const& folder, std::vector<std::string>& names, std::string const& kind,
                     std::string const& why) {
  if (names.empty()) return "";
  std::ranges::sort(names);
  auto const others = names.size() - 1;
  return folder + ": holds " + names.front() +
         (others > 0 ? " and " + std::to_string(others) + " more such " + kind + ", which are" : ", which is") +
         " not read: " + why;
}

}  // namespace

void ShardDoubts::add(std::string const& path, std::string const& what, std::string const& kind) {
  auto const& group = kind.empty() ? what : kind;
  auto const known = std::ranges::find(doubts_, group, &Doubt::kind);
  if (known == doubts_.end())
    doubts_.push_back({group, what, path});
  else
    ++known->others;
}

std::vector<std::string> ShardDoubts::sentences() const {
  std::vector<std::string> texts;
  for (auto const& [kind, what, first, others] : doubts_)
    texts.push_back(first + ": " + what +
                    (others == 0   ? ""
                     : others == 1 ? "; so has another shard"
                                   : "; so have " + std::to_string(others) + " other shards"));
  return texts;
}

std::vector<std::string> folder_doubts(std::string const& folder, std::vector<std::string> const& listed) {
  std::map<Series, std::vector<std::int64_t>> series;
  std::vector<std::string> left_out, folders, texts;
  auto read = folders_of(listed);
  if (auto const own = identity_of(folder)) read.insert(*own);
  std::error_code status, ignored;
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end; entry.increment(status)) {
    auto const name = entry->path().filename();
    if (!has_shard_name(name) && entry->is_directory(ignored)) {
      auto const identity = identity_of(entry->path().string());
      if (name != "heldout" && identity && !read.contains(*identity) && holds_shards(entry->path()))
        folders.push_back(name.string());
      continue;
    }
    if (has_ignored_name(name)) left_out.push_back(name.string());
    if (!has_shard_name(name)) continue;
    if (auto const number = numbered(name)) series[number->first].push_back(number->second);
  }
  for (auto& [names, numbers] : series)
    if (auto gap = gap_in(folder, names, numbers); !gap.empty()) texts.push_back(std::move(gap));
  for (auto& text : {first_of(folder, left_out, "files", "shards have the extension .h5 or .hdf5"),
                     first_of(folder, folders, "folders", "folders within a folder are not searched; list them, too")})
    if (!text.empty()) texts.push_back(text);
  return texts;
}

}  // namespace bellwether::input
