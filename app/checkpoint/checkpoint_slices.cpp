// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_slices.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>

namespace bellwether::app {
namespace {

using input::Hdf5File;
using Shape = std::vector<std::int64_t>;

std::string words(Shape const& shape) {
  std::string text = "(";
  for (auto const extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

HeldRows slice_in(Hdf5File const& file, std::string const& path) {
  Shape const shape = file.info(path).shape;
  std::int64_t const rows = shape.empty() ? -1 : shape[0];
  auto const first = integer_attribute(file, path, "first"), total = integer_attribute(file, path, "total");
  if (rows < 0 || first < 0 || first > total || rows > total - first)
    throw InputError(file.path() + ": " + path + ": shape " + words(shape) + " from " + std::to_string(first) +
                     " on; allowed: a slice within its total of " + std::to_string(total));
  return {first, first + rows, total};
}

std::string folder_of(OpenRank const& open) { return std::filesystem::path(open(0).path()).parent_path().string(); }

/// Returns true if these ranges, each [first, second), cover [first, last) without gap or overlap.
bool cover(std::vector<std::pair<std::int64_t, std::int64_t>> ranges, std::int64_t first, std::int64_t last) {
  std::ranges::sort(ranges);
  for (auto const& [from, to] : ranges) {
    if (from != first) return false;
    first = to;
  }
  return first == last;
}

}  // namespace

std::int64_t integer_attribute(Hdf5File const& file, std::string const& path, char const* name) {
  auto const value = file.attribute(path, name);
  if (!value || !std::holds_alternative<std::int64_t>(*value))
    throw InputError(file.path() + ": " + path + ": attribute '" + name + "' is missing");
  return std::get<std::int64_t>(*value);
}

void require_attribute(Hdf5File const& file, char const* name, std::int64_t wanted, char const* why) {
  if (auto const found = integer_attribute(file, "/", name); found != wanted)
    throw InputError(file.path() + ": /: attribute '" + name + "' is " + std::to_string(found) +
                     "; allowed: " + std::to_string(wanted) + ", " + why);
}

void require_shape(Hdf5File const& file, std::string const& path, Shape const& wanted) {
  Shape const found = file.info(path).shape;
  if (found != wanted)
    throw InputError(file.path() + ": " + path + ": shape " + words(found) + ", this run has " + words(wanted));
}

HeldRows held_rows(Hdf5File const& file, std::string const& path) {
  if (file.attribute(path, "total")) return slice_in(file, path);
  Shape const shape = file.info(path).shape;
  if (shape.empty()) throw InputError(file.path() + ": " + path + ": has no rows");
  return {0, shape[0], shape[0]};
}

void gather_slices(RankFiles const& files, std::string const& path, std::span<float> values, std::int64_t first,
                   std::int64_t total) {
  auto const& [open, ranks, try_first] = files;
  std::int64_t const last = first + static_cast<std::int64_t>(values.size());
  std::int64_t filled = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (int i = 0; i < ranks && filled < last - first; ++i) {
    int const rank = (try_first + i) % ranks;  // with unchanged slices this rank's file suffices
    Hdf5File const file = open(rank);
    auto const [begin, end, stored] = slice_in(file, path);
    if (stored != total)
      throw InputError(file.path() + ": " + path + ": a slice of " + std::to_string(stored) +
                       " elements, this run has " + std::to_string(total));
    std::int64_t const from = std::max(first, begin), to = std::min(last, end);
    if (from >= to) continue;
    file.read_slab<float>(path, {from - begin}, {to - from},
                          values.subspan(static_cast<std::size_t>(from - first), static_cast<std::size_t>(to - from)));
    ranges.emplace_back(from, to);
    filled += to - from;
  }
  if (!cover(std::move(ranges), first, last))
    throw InputError(folder_of(open) + ": " + path + ": the slices of " + std::to_string(ranks) +
                     " ranks do not cover elements " + std::to_string(first) + " to " + std::to_string(last - 1) +
                     ", each once");
}

void mean_of_held_rows(OpenRank const& open, int ranks, std::string const& path, Shape const& shape, std::int64_t first,
                       std::span<float> values) {
  if (values.empty()) return;
  std::int64_t const rows = shape.at(0);
  auto const width =
      static_cast<std::size_t>(std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>()));
  std::int64_t const last = first + static_cast<std::int64_t>(values.size() / width);
  std::vector<double> sum(values.size(), 0.0);
  std::vector<std::int64_t> holders(values.size() / width, 0);
  std::vector<float> one(values.size());
  for (int rank = 0; rank < ranks; ++rank) {
    auto const from = open(rank);
    HeldRows const held = held_rows(from, path);
    Shape wanted = shape;
    if (held.total == rows) wanted[0] = held.last - held.first;
    require_shape(from, path, wanted);
    std::int64_t const low = std::max(first, held.first), high = std::min(last, held.last);
    if (low >= high) continue;
    auto const at = static_cast<std::size_t>(low - first), count = static_cast<std::size_t>(high - low);
    from.read_rows<float>(path, low - held.first, high - low, std::span(one).first(count * width));
    for (std::size_t row = at; row < at + count; ++row) ++holders[row];
    for (std::size_t i = 0; i < count * width; ++i) sum[at * width + i] += one[i];
  }
  if (auto const none = std::ranges::find(holders, 0); none != holders.end())
    throw InputError(folder_of(open) + ": " + path + ": no rank held row " +
                     std::to_string(first + (none - holders.begin())));
  for (std::size_t i = 0; i < sum.size(); ++i)
    values[i] = static_cast<float>(sum[i] / static_cast<double>(holders[i / width]));
}

}  // namespace bellwether::app
