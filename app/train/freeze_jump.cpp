// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/freeze_jump.hpp"

#include "app/format/formatted.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "model/optim/optimizer_config.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

namespace bellwether::app {
namespace {

double median(std::span<float const> values) {
  std::vector<float> sorted;
  for (float const value : values)
    if (!std::isnan(value)) sorted.push_back(value);
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(sorted);
  auto const half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (static_cast<double>(sorted[half - 1]) + sorted[half]) / 2;
}

}  // namespace

std::optional<double> jump(std::span<float const> before, std::span<float const> after) {
  double const from = median(before), to = median(after);
  if (std::isnan(from) || std::isnan(to) || (from == 0 && to == 0)) return std::nullopt;
  return to / from;
}

std::string freeze_jump(std::string const& directory, std::int64_t frozen_after) {
  auto const file =
      input::Hdf5File::open((std::filesystem::path(directory) / "statistics.h5").string(), input::VirtualData::show);
  if (!file.contains("layers/update_norm")) return "";
  auto const names = file.read_texts("layers/name");
  auto const steps = file.read<std::int64_t>("layers/step");
  // Rows are in the order of their steps.
  auto const row_of = [&](std::int64_t step) { return std::ranges::lower_bound(steps, step) - steps.begin(); };
  std::int64_t const first = row_of(frozen_after + 1 - optim::freeze_surroundings), freeze = row_of(frozen_after + 1),
                     last = row_of(frozen_after + 1 + optim::freeze_surroundings);
  auto const layers = std::ssize(names);
  std::vector<float> norms(static_cast<std::size_t>((last - first) * layers));
  file.read_rows<float>("layers/update_norm", first, last - first, norms);
  struct Found {
    double ratio;
    std::int64_t layer;
    double distance() const { return std::abs(std::log(ratio)); }
  };
  std::vector<Found> all;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    auto const column = [&](std::int64_t from, std::int64_t to) {
      std::vector<float> values;
      for (std::int64_t row = from; row < to; ++row)
        values.push_back(norms[static_cast<std::size_t>((row - first) * layers + layer)]);
      return values;
    };
    auto const before = column(first, freeze), after = column(freeze, last);
    auto const ratio = jump(before, after);
    if (ratio && (*ratio > largest_jump || *ratio < 1 / largest_jump)) all.push_back({*ratio, layer});
  }
  if (all.empty()) return "";
  constexpr std::size_t most = 10;
  if (all.size() > most) std::ranges::stable_sort(all, std::greater(), &Found::distance);
  std::string found;
  for (auto const& [ratio, layer] : std::span(all).first(std::min(most, all.size()))) {
    found += (found.empty() ? "" : ", ") + names[static_cast<std::size_t>(layer)] + formatted(" (%.3g)", ratio);
  }
  if (all.size() > most)
    found += " and " + std::to_string(all.size() - most) + " more of " + std::to_string(layers) +
             " layers; bellwether report lists all";
  return "update norms just after the freeze at step " + std::to_string(frozen_after) +
         " are not within a factor of 3 of those before it (ratio of medians): " + found;
}

}  // namespace bellwether::app
