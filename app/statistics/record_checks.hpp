// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

/// Whether what a resumed run finds recorded is of the run that its checkpoint is of. No two runs take the same time,
/// so seconds tell.
namespace bellwether::app {

/// Empty, or where `rows`, which come after `before`, do not follow one another: the time that a row says to have
/// passed is that of the row before and that of its own step.
std::string record_break(std::optional<StepRow> const& before, std::vector<StepRow> const& rows);

/// Empty, or how the newest row differs from the checkpoint that was written after the same samples.
std::string other_record(StepRow const& newest, RecordPoint const& point);

}  // namespace bellwether::app
