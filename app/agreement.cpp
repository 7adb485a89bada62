// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/agreement.hpp"

#include "comm/communicator.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace bellwether::app {

std::string first_fault(comm::Communicator& communicator, std::string const& mine) {
  double faults = mine.empty() ? 0 : 1;
  communicator.sum_host({&faults, 1}, "bellwether::app::count_faults");
  if (faults == 0) return "";
  std::vector<double> has_fault(static_cast<std::size_t>(communicator.size()), 0.0);
  has_fault[static_cast<std::size_t>(communicator.rank())] = mine.empty() ? 0 : 1;
  communicator.sum_host(has_fault, "bellwether::app::find_fault");
  auto const first = static_cast<int>(std::ranges::find(has_fault, 1.0) - has_fault.begin());
  std::string const where = communicator.size() > 1 ? "rank " + std::to_string(first) + ": " : "";
  return broadcast_text(communicator, where + mine, first);
}

std::string broadcast_text(comm::Communicator& communicator, std::string text, int root) {
  std::int64_t size = static_cast<std::int64_t>(text.size());
  communicator.broadcast_host(std::as_writable_bytes(std::span(&size, 1)), root, "bellwether::app::text_size");
  text.resize(static_cast<std::size_t>(size));
  if (size > 0) communicator.broadcast_host(std::as_writable_bytes(std::span(text)), root, "bellwether::app::text");
  return text;
}

}  // namespace bellwether::app
