// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::comm {
class RankGroup;
}

/// Checks that all ranks see one run directory. Every rank reads checkpoints there, and may write its own file.
namespace bellwether::app {

/// Collective. For `check`: creates nothing. The longest part of the path that exists on rank 0 must exist on every
/// rank, which must be able to write to it.
///
/// host: of this rank, for messages. \throws CommonError that names the rank, its host and the path.
void require_seen(comm::RankGroup& group, std::string const& directory, std::string const& host);

/// Collective. For `train`, after rank 0 has created the directory. Rank 0 creates a file where checkpoints are
/// written, and removes it when every rank has found it. \throws CommonError, as require_seen() does.
void require_shared(comm::RankGroup& group, std::string const& directory, std::string const& host);

}  // namespace bellwether::app
