// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "tests/app/statistics/sample_rows.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// Statistics of sample rows in small segments, and a check that a folder shows them.
namespace sample {

namespace app = bellwether::app;
namespace input = bellwether::input;

inline app::StatisticsOptions options(TemporaryFolder const& folder,
                                      std::optional<std::int64_t> resume = std::nullopt) {
  return {.directory = folder.path(),
          .layers = layer_names(),
          .quantities = quantities(),
          .resume = resume ? std::optional(point(*resume)) : std::nullopt,
          .flush_every = 3,
          .segment_rows = 8,
          .segment_layer_rows = 4};
}

/// Records steps [first, last] like the trainer: layers at even steps, an evaluation at multiples of 5.
inline void record(app::Statistics& statistics, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step) {
    statistics.append(step_row(step));
    if (step % 2 == 0) append_layers(statistics, step);
    if (step % 5 == 0) statistics.append_evaluation(evaluation_row(step));
  }
}

template <class T>
std::vector<T> column(std::vector<input::Column> const& table, std::string const& name) {
  for (auto const& candidate : table)
    if (candidate.name == name) return std::get<std::vector<T>>(candidate.values);
  throw std::runtime_error("no column " + name);
}

/// Checks that statistics.h5 shows exactly what record() wrote for steps 1 to `last`.
inline void check_shows(TemporaryFolder const& folder, std::int64_t last) {
  input::Hdf5File const file = input::Hdf5File::open(folder / "statistics.h5", input::VirtualData::show);
  auto const steps = file.read_table("steps");
  REQUIRE(steps.front().rows() == last);
  double offset = 0;
  for (auto const& values : steps) {
    for (std::int64_t r = 0; r < last; ++r) {
      double const expected = static_cast<double>(r + 1) + offset;
      auto const at = static_cast<std::size_t>(r);
      if (auto const* integers = std::get_if<std::vector<std::int64_t>>(&values.values))
        REQUIRE(static_cast<double>((*integers)[at]) == expected);
      else
        REQUIRE(std::get<std::vector<double>>(values.values)[at] == expected);
    }
    offset += 1000;
  }
  auto const evaluation = file.read_table("evaluation");
  REQUIRE(evaluation.front().rows() == last / 5);
  for (std::int64_t r = 0; r < last / 5; ++r) {
    CHECK(column<std::int64_t>(evaluation, "step")[static_cast<std::size_t>(r)] == 5 * (r + 1));
    CHECK(std::isnan(column<double>(evaluation, "nsp_loss")[static_cast<std::size_t>(r)]));
  }
  CHECK(file.read_texts("layers/name") == layer_names());
  auto const layer_steps = file.read<std::int64_t>("layers/step");
  auto const trust = file.read<float>("layers/trust_ratio"), weights = file.read<float>("layers/weight_norm"),
             unmeasured = file.read<float>("layers/frozen_coefficient");
  REQUIRE(layer_steps.size() == static_cast<std::size_t>(last / 2));
  REQUIRE(file.info("layers/trust_ratio").shape == input::Shape{last / 2, 3});
  for (std::size_t r = 0; r < layer_steps.size(); ++r) {
    auto const step = static_cast<std::int64_t>(2 * (r + 1));
    CHECK(layer_steps[r] == step);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      CHECK(trust[3 * r + layer] == layer_values(step, 0)[layer]);
      CHECK(weights[3 * r + layer] == layer_values(step, 0.25F)[layer]);
      CHECK(std::isnan(unmeasured[3 * r + layer]));
    }
  }
}

}  // namespace sample
