// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

/// Checks that the record which a resumed run finds belongs to the run of its checkpoint. Training times identify a
/// run, since no two runs take exactly the same time.
namespace bellwether::app {

/// Checks that `rows` follow `before` and one another: a row's wall time must be that of the row before plus its own
/// step time. Returns where they do not, or an empty text.
std::string record_break(std::optional<StepRow> const& before, std::vector<StepRow> const& rows);

/// Returns how the newest row differs from the checkpoint written after the same samples, or an empty text.
std::string other_record(StepRow const& newest, RecordPoint const& point);

}  // namespace bellwether::app
