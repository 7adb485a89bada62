// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

namespace bellwether {

/// to[k] = from[k] for k < count, between float and bf16 in either direction. label: the kernel's label.
template <class From, class To, class Space>
void convert(char const* label, Space const& exec, Index count, From const* from, To* to);

}  // namespace bellwether
