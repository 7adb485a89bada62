// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/collective_errors.hpp"

#include "comm/transport/rank_group.hpp"
#include "core/system/system_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>

namespace bellwether::app {
namespace {

std::string lines(std::vector<std::string> const& faults) {
  std::string text;
  for (auto const& fault : faults) text += (text.empty() ? "" : "\n") + fault;
  return text;
}

std::vector<std::string> split(std::string const& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    auto const end = std::min(text.find('\n', first), text.size());
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

}  // namespace

std::string first_fault(comm::RankGroup& group, std::string const& mine) {
  double faults = mine.empty() ? 0 : 1;
  group.sum_host({&faults, 1}, "bellwether::app::count_faults");
  if (faults == 0) return "";
  std::vector<double> has_fault(static_cast<std::size_t>(group.size()), 0.0);
  has_fault[static_cast<std::size_t>(group.rank())] = mine.empty() ? 0 : 1;
  group.sum_host(has_fault, "bellwether::app::find_fault");
  auto const first = static_cast<int>(std::ranges::find(has_fault, 1.0) - has_fault.begin());
  std::string const where = first > 0 ? "rank " + std::to_string(first) + ": " : "";
  return broadcast_text(group, where + mine, first);
}

void raise_together(comm::RankGroup& group, std::vector<std::string> const& faults) {
  if (auto const fault = first_fault(group, lines(faults)); !fault.empty()) throw CommonError(split(fault));
}

void together(comm::RankGroup& group, std::function<void()> const& work) {
  std::vector<std::string> faults;
  std::string failure;
  try {
    work();
  } catch (InputError const& error) {
    faults = error.faults();
  } catch (std::exception const& error) {
    failure = what_of(error);
  }
  raise_together(group, faults);
  if (failure = first_fault(group, failure); !failure.empty()) throw CommonFailure(failure);
}

std::string broadcast_text(comm::RankGroup& group, std::string text, int root) {
  std::int64_t size = static_cast<std::int64_t>(text.size());
  group.broadcast_host(std::as_writable_bytes(std::span(&size, 1)), root, "bellwether::app::text_size");
  text.resize(static_cast<std::size_t>(size));
  if (size > 0) group.broadcast_host(std::as_writable_bytes(std::span(text)), root, "bellwether::app::text");
  return text;
}

}  // namespace bellwether::app
