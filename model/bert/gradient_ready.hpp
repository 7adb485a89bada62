// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <functional>

namespace bellwether::model {

/// Called during the backward pass. (first, last): the gradients of these elements of the arena are final for this
/// micro-batch. Also called between kernels with nothing new, first == last, so that the caller can serve transport.
using GradientReady = std::function<void(Index first, Index last)>;

}  // namespace bellwether::model
