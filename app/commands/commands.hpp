// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/commands/command_line.hpp"
#include "app/launch/session.hpp"

#include <vector>

namespace bellwether::app {

void add_bench(Command program);
void add_train(Command program);
void add_check(Command program);
void add_inspect(Command program);
void add_prepare(Command program);
void add_report(Command program);
void add_tokenize(Command program);

/// Returns all commands in the order of the help text.
std::vector<AddCommand> const& commands();

}  // namespace bellwether::app
