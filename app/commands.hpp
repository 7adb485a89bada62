// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/session.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

namespace bellwether::app {

/// What the command line asks for; returns the exit code. Called once the whole command line is understood.
using Action = std::function<int(Session&)>;

/// Adds one subcommand with its options to `program`; the subcommand's callback puts what to do into `chosen`. Options
/// live in a shared_ptr that both lambdas hold:
///
///     auto options = std::make_shared<CheckOptions>();
///     CLI::App* command = program.add_subcommand("check", "...");
///     command->add_option("deck", options->deck, "...")->required();
///     command->callback([options, &chosen] { chosen = [options](Session& session) { ...; return 0; }; });
using AddCommand = void (*)(CLI::App& program, Action& chosen);

void add_bench(CLI::App& program, Action& chosen);
void add_train(CLI::App& program, Action& chosen);
void add_check(CLI::App& program, Action& chosen);
void add_inspect(CLI::App& program, Action& chosen);
void add_prepare(CLI::App& program, Action& chosen);
void add_report(CLI::App& program, Action& chosen);
void add_tokenize(CLI::App& program, Action& chosen);

/// Every command, in the order of the help text.
std::vector<AddCommand> const& commands();

}  // namespace bellwether::app
