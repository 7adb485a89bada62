// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shard_doubts.hpp"

#include "input/shard_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

/// Names of shards that differ in a number alone, of one width.
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

/// The last number in a name; nothing where there is none, or one that is too large to count.
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

/// Empty where no number is missing, or so many that names seem to follow another rule, as dates do.
std::string gap_in(std::string const& folder, Series const& series, std::vector<std::int64_t>& numbers) {
  std::ranges::sort(numbers);
  std::int64_t const present = std::ssize(numbers);
  std::int64_t const missing = numbers.back() - numbers.front() + 1 - present;
  if (missing <= 0 || missing >= present) return "";
  auto const gap = std::ranges::adjacent_find(numbers, [](auto a, auto b) { return b > a + 1; });
  return folder + ": holds " + series.name(*gap) + " and " + series.name(*(gap + 1)) + ", but not " +
         series.name(*gap + 1) + (missing > 1 ? "; " + std::to_string(missing) + " numbers are missing in all" : "");
}

bool has_incomplete_name(fs::path const& file) {
  constexpr std::string_view endings[] = {".gz",  ".bz2",     ".xz",   ".zst", ".lz4",
                                          ".zip", ".partial", ".part", ".tmp", ".crdownload"};
  return std::ranges::count(endings, file.extension().string()) > 0 && has_shard_name(file.stem());
}

}  // namespace

void ShardDoubts::add(std::string const& path, std::string const& what) {
  auto const known = std::ranges::find(doubts_, what, &Doubt::what);
  if (known == doubts_.end())
    doubts_.push_back({what, path});
  else
    ++known->others;
}

std::vector<std::string> ShardDoubts::sentences() const {
  std::vector<std::string> texts;
  for (auto const& [what, first, others] : doubts_)
    texts.push_back(first + ": " + what +
                    (others == 0   ? ""
                     : others == 1 ? "; so has another shard"
                                   : "; so have " + std::to_string(others) + " other shards"));
  return texts;
}

std::vector<std::string> folder_doubts(std::string const& folder) {
  std::map<Series, std::vector<std::int64_t>> series;
  std::vector<std::string> left_out, texts;
  std::error_code status;
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end; entry.increment(status)) {
    auto const name = entry->path().filename();
    if (has_incomplete_name(name)) left_out.push_back(name.string());
    if (!has_shard_name(name)) continue;
    if (auto const number = numbered(name)) series[number->first].push_back(number->second);
  }
  for (auto& [names, numbers] : series)
    if (auto gap = gap_in(folder, names, numbers); !gap.empty()) texts.push_back(std::move(gap));
  std::ranges::sort(left_out);
  if (!left_out.empty())
    texts.push_back(folder + ": holds " + left_out.front() +
                    (left_out.size() > 1 ? " and " + std::to_string(left_out.size() - 1) + " more such files, which are"
                                         : ", which is") +
                    " not read: shards are files in .h5 or .hdf5");
  return texts;
}

}  // namespace bellwether::input
