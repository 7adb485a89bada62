// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the command line's library leaves to be said better.
namespace bellwether::app {

/// Values of an option: decimal digits only, where the library would take octal and hexadecimal numbers, too.
CLI::Validator whole_numbers(std::int64_t low, std::int64_t high);
CLI::Validator numbers(double low, double high);
CLI::Validator one_of(std::vector<std::string> const& words);
/// A file or folder: refused where a shell should have expanded `~` or `$NAME` in it, as unexpanded_path() has it.
CLI::Validator paths();
/// A count of elements, digits with Ki, Mi or Gi (2^10, 2^20, 2^30) behind them or nothing, from 1 to 2^40; nothing
/// where it is none.
std::optional<std::int64_t> element_count(std::string const& text);
CLI::Validator element_counts();

/// Whether the command that `program` has parsed never uses MPI, so that each process works for itself whatever started
/// it.
bool runs_alone(CLI::App const& program);

/// What `error`, thrown by program.parse(), is about, with the nearest option where one is unknown.
std::string command_line_fault(CLI::App const& program, CLI::ParseError const& error);

/// A word in the place of a command that is none, with the nearest command; empty where all is well.
std::string unknown_command(CLI::App const& program, int argc, char** argv);

}  // namespace bellwether::app
