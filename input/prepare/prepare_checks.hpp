// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/prepare/prepare.hpp"

namespace bellwether::input {

/// Checks the options before any text is read. \throws InputError for options that are wrong for every text.
void check_options(PrepareOptions const& options);

}  // namespace bellwether::input
