// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether {

/// Calls `work` and returns true if this CPU has all of its instructions. At the first that it lacks, `work` ends there
/// and the result is false. `work` owns nothing: destructors of what it made do not run. Call it from one thread at a
/// time.
bool has_instructions_of(void (*work)());

}  // namespace bellwether
