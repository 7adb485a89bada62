// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether {

/// Calls `work`. Returns false if `work` ended at an instruction that this CPU lacks, true if it returned.
/// `work` must own nothing, because destructors do not run if it ends early. Only one thread may call this at a time.
bool has_instructions_of(void (*work)());

}  // namespace bellwether
