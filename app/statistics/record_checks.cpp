// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/record_checks.hpp"

#include "app/format/formatted.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::app {
namespace {

/// Compares times. Sums are usually equal to the last bit, but other versions may add in another order.
bool same_time(double one, double other) { return std::abs(one - other) <= 1e-9 * std::max(1.0, std::abs(other)); }

/// Returns true if no other row can exist between the two. Skipped steps are always recorded, under the number of the
/// next attempt.
bool adjacent(StepRow const& before, StepRow const& after) {
  return after.step == before.step + (before.skipped != 0 ? 0 : 1);
}

}  // namespace

std::string record_break(std::optional<StepRow> const& before, std::vector<StepRow> const& rows) {
  StepRow const* last = before ? &*before : nullptr;
  for (auto const& row : rows) {
    if (last != nullptr) {
      bool const back = row.samples <= last->samples || row.step < last->step;
      if (back || (adjacent(*last, row) && !same_time(row.wall_seconds, last->wall_seconds + row.step_seconds)))
        return "its row of step " + std::to_string(row.step) + " does not follow on that of step " +
               std::to_string(last->step);
    }
    last = &row;
  }
  return "";
}

std::string other_record(StepRow const& newest, RecordPoint const& point) {
  if (!point.wall_seconds || newest.samples != point.samples) return "";
  if (newest.tokens == point.tokens && same_time(newest.wall_seconds, *point.wall_seconds)) return "";
  return "its row of step " + std::to_string(newest.step) +
         formatted(" says %lld tokens in %.6g s, the checkpoint ", static_cast<long long>(newest.tokens),
                   newest.wall_seconds) +
         formatted("%lld in %.6g s", static_cast<long long>(point.tokens), *point.wall_seconds);
}

}  // namespace bellwether::app
