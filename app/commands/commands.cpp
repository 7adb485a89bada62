// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/commands.hpp"

namespace bellwether::app {

std::vector<AddCommand> const& commands() {
  static std::vector<AddCommand> const all = {
      add_train, add_prepare, add_tokenize, add_check, add_inspect, add_report, add_bench,
  };
  return all;
}

}  // namespace bellwether::app
