// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace bellwether::input {

/// Called many times a second during a wait. It ends the wait by throwing. Empty: nothing ends the wait.
using WaitPoll = std::function<void()>;

/// Waits until read() of `descriptor` can return bytes, the end or an error. After a signal read() itself goes on
/// waiting, because the program's handlers restart it.
/// \throws what `poll` throws.
void wait_for_bytes(int descriptor, WaitPoll const& poll);

}  // namespace bellwether::input
