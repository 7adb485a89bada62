// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/types.hpp"

namespace bellwether::model {

/// Sets the parameters (layout.count()) to zeros, ones, or normal random numbers of mean 0 and the given deviation. The
/// numbers depend on (seed, tensor name, element) only, not on other tensors or on the number of threads.
template <class Real, class Space>
void initialise(Space const& exec, ParameterLayout const& layout, std::uint64_t seed, double deviation,
                Real* parameters);

}  // namespace bellwether::model
