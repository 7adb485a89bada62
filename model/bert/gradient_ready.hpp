// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <functional>

namespace bellwether::model {

/// Called during backward. (first, last): the gradients of these elements of the arena are final for this micro-batch.
/// Empty ranges (first == last) are calls between kernels that let the caller make communication progress.
using GradientReady = std::function<void(Index first, Index last)>;

}  // namespace bellwether::model
