// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace bellwether::input {

/// Called many times a second during a wait. It ends the wait by throwing. Empty: nothing ends the wait.
using WaitPoll = std::function<void()>;

/// Waits until read() of `descriptor` would return: with bytes, at the end, or with an error. read() itself would wait
/// on after a signal, because the handlers of signals let it continue.
/// \throws what `poll` throws.
void wait_for_bytes(int descriptor, WaitPoll const& poll);

}  // namespace bellwether::input
