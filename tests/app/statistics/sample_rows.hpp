// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

/// Rows in which every value follows from the step, so that a reader detects a wrong one.
namespace sample {

inline bellwether::app::StepRow step_row(std::int64_t step) {
  bellwether::app::StepRow row;
  double value = static_cast<double>(step);
  bellwether::app::StepRow::describe(row, [&]<class T>(char const*, char const*, T& member) {
    member = static_cast<T>(value);
    value += 1000;
  });
  return row;
}

/// Returns the progress of a run that has recorded the rows up to `step`.
inline bellwether::app::RecordPoint point(std::int64_t step) {
  return {.step = step, .samples = step_row(step).samples};
}

inline bellwether::app::EvaluationRow evaluation_row(std::int64_t step) {
  bellwether::app::EvaluationRow row;
  row.step = step;
  row.tokens = 100 * step;
  row.mlm_loss = 1.0 / static_cast<double>(step);
  return row;
}

inline std::vector<std::string> layer_names() { return {"embeddings.weight", "encoder.layer.0.weight", "cls.bias"}; }

/// Returns the quantities of append_layers().
inline std::vector<std::string> quantities() { return {"trust_ratio", "weight_norm", "frozen_coefficient"}; }

inline std::vector<float> layer_values(std::int64_t step, float offset) {
  return {static_cast<float>(step) + offset, static_cast<float>(2 * step) + offset,
          static_cast<float>(3 * step) + offset};
}

/// Records layer_values() with a different offset for each quantity but the last, which is not measured.
inline void append_layers(bellwether::app::Statistics& statistics, std::int64_t step) {
  auto const trust = layer_values(step, 0), weights = layer_values(step, 0.25F);
  statistics.append_layers(step, std::array<std::span<float const>, 3>{trust, weights, {}});
}

}  // namespace sample
