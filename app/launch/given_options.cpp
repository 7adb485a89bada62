// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/given_options.hpp"

#include "app/launch/collective_errors.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bellwether::app {
namespace {

// ---- Serialisation of a command: every text ends with a zero byte, which no argument contains.

std::string packed(GivenCommand const& given) {
  std::string text = given.program + '\0' + given.command + '\0';
  for (auto const& option : given.options) text += option.name + '\0' + option.value + '\0';
  return text;
}

GivenCommand unpacked(std::string const& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = text.find('\0', at);
    require(end != std::string::npos, "a received command line is incomplete");
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  require(parts.size() >= 2 && parts.size() % 2 == 0, "a received command line lacks a part");
  GivenCommand given{parts[0], parts[1], {}};
  for (std::size_t i = 2; i < parts.size(); i += 2) given.options.push_back({parts[i], parts[i + 1]});
  return given;
}

// ---- Messages

/// Returns "rank 3" or "ranks 0 to 2 and 5".
std::string ranks_text(std::vector<int> const& ranks) {
  constexpr std::size_t most_spans = 8;
  std::vector<std::string> spans;
  for (std::size_t first = 0, end = 0; first < ranks.size(); first = end) {
    end = first + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    spans.push_back(std::to_string(ranks[first]) + (end - first > 1 ? " to " + std::to_string(ranks[end - 1]) : ""));
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(spans.size(), most_spans); ++i)
    text += (i == 0 ? "" : i + 1 == spans.size() ? " and " : ", ") + spans[i];
  return text + (spans.size() > most_spans ? " and others" : "");
}

/// The ranks that have the same value.
struct Holders {
  std::string value;
  bool given = true;
  std::vector<int> ranks;
};

/// Groups ranks by value. value_of(rank): null if the rank has none. More than one group: the ranks differ.
template <class ValueOf>
std::vector<Holders> holders(int ranks, ValueOf const& value_of) {
  std::vector<Holders> all;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string const* const value = value_of(rank);
    Holders const mine{value != nullptr ? *value : "", value != nullptr, {}};
    auto same =
        std::ranges::find_if(all, [&](auto const& one) { return one.given == mine.given && one.value == mine.value; });
    if (same == all.end()) same = all.insert(all.end(), mine);
    same->ranks.push_back(rank);
  }
  return all;
}

/// Returns "--log is json on rank 0 and not given on rank 1".
std::string difference(std::string const& name, std::vector<Holders> const& all) {
  constexpr std::size_t most_shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_shown); ++i) {
    auto const& [value, given, ranks] = all[i];
    text += i == 0 ? name + " is " : i + 1 == all.size() ? " and " : ", ";
    text += (!given ? "not given" : value.empty() ? "given" : value) + " on " + ranks_text(ranks);
  }
  return text + (all.size() > most_shown ? " and so on" : "");
}

std::string const* value_in(GivenCommand const& given, std::string const& name) {
  auto const found = std::ranges::find(given.options, name, &GivenOption::name);
  return found == given.options.end() ? nullptr : &found->value;
}

std::vector<std::string> differences(std::vector<GivenCommand> const& given) {
  int const ranks = static_cast<int>(given.size());
  auto const at = [&](int rank) -> GivenCommand const& { return given[static_cast<std::size_t>(rank)]; };
  if (auto const programs = holders(ranks, [&](int rank) { return &at(rank).program; }); programs.size() > 1)
    return {difference("the program", programs) + "; start the same program on every rank"};
  if (auto const commands = holders(ranks, [&](int rank) { return &at(rank).command; }); commands.size() > 1)
    return {difference("the command", commands) + "; start the same command on every rank"};
  std::vector<std::string> names, faults;
  for (auto const& one : given)
    for (auto const& option : one.options)
      if (std::ranges::find(names, option.name) == names.end()) names.push_back(option.name);
  for (auto const& name : names)
    if (auto const values = holders(ranks, [&](int rank) { return value_in(at(rank), name); }); values.size() > 1)
      faults.push_back(difference(name, values) + "; give every rank the same options");
  return faults;
}

}  // namespace

bool runs_alone(GivenCommand const& given) {
  constexpr std::array<std::string_view, 4> alone = {"prepare", "tokenize", "inspect", "report"};
  return std::ranges::find(alone, given.command) != alone.end();
}

void require_same_command(comm::RankGroup& group, GivenCommand const& mine) {
  auto const text = packed(mine);
  double different = broadcast_text(group, text) == text ? 0 : 1;
  group.sum_host({&different, 1}, "bellwether::app::count_commands");
  if (different == 0) return;
  std::vector<GivenCommand> given;
  for (int rank = 0; rank < group.size(); ++rank) given.push_back(unpacked(broadcast_text(group, text, rank)));
  throw CommonError(differences(given));
}

}  // namespace bellwether::app
