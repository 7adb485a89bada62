// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/types.hpp"

namespace bellwether::model {

/// Zeros, ones, or normal numbers of mean 0 and the given deviation, keyed by (seed, tensor name, element), so that a
/// tensor's start depends on neither the other tensors nor threads. parameters: (layout.count()).
template <class Real, class Space>
void initialise(Space const& exec, ParameterLayout const& layout, std::uint64_t seed, double deviation,
                Real* parameters);

}  // namespace bellwether::model
