// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace bellwether {

using Index = std::int64_t;

}  // namespace bellwether
