// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/deck_broadcast.hpp"

#include "app/format/formatted.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/interrupt.hpp"
#include "app/launch/version.hpp"
#include "comm/transport/rank_group.hpp"

namespace bellwether::app {
namespace {

void share(comm::RankGroup& group, input::DeckSource& source) {
  for (auto* text : {&source.path, &source.text, &source.folder, &source.working_directory})
    *text = broadcast_text(group, *text);
  std::string const count = broadcast_text(group, std::to_string(source.overrides.size()));
  source.overrides.resize(std::stoul(count));
  for (auto& change : source.overrides) change = broadcast_text(group, change);
}

/// Thrown through read_deck_source() when a signal ends the wait.
struct Interrupted {
  int signal;
};

/// Reads the deck on rank 0.
void read_source(SharedDeck& shared, std::string const& path, std::vector<std::string> const& overrides,
                 Interrupt const* interrupt) {
  auto const poll = [&] {
    if (interrupt != nullptr && interrupt->requested()) throw Interrupted{interrupt->signal()};
  };
  try {
    shared.source = input::read_deck_source(path, overrides, poll);
  } catch (Interrupted const& by) {
    shared.signal = by.signal;
  }
}

}  // namespace

SharedDeck read_shared_deck(comm::RankGroup& group, std::string const& path, std::vector<std::string> const& overrides,
                            input::DeckPaths paths, Interrupt const* interrupt) {
  SharedDeck shared;
  together(group, [&] {
    if (group.rank() == 0) read_source(shared, path, overrides, interrupt);
  });
  shared.signal = std::stoi(broadcast_text(group, std::to_string(shared.signal)));
  if (shared.signal != 0) return shared;
  share(group, shared.source);
  together(group, [&] { shared.deck = input::parse_deck(shared.source, paths); });
  return shared;
}

void with_places(input::DeckSource const& source, std::function<void()> const& work) {
  try {
    work();
  } catch (CommonError const& error) {
    std::vector<std::string> faults = error.faults(), ranks;
    for (auto& fault : faults) {  // "rank 2: " precedes the key if rank 0 did not have the fault
      auto const rank = fault.starts_with("rank ") ? fault.find(": ") : std::string::npos;
      ranks.push_back(rank == std::string::npos ? "" : fault.substr(0, rank + 2));
      fault.erase(0, ranks.back().size());
    }
    faults = input::placed_faults(source, faults);
    for (std::size_t i = 0; i < faults.size(); ++i) faults[i].insert(0, ranks[i]);
    throw CommonError(faults);
  }
}

std::vector<StartFact> start_facts(std::uint64_t layout_fingerprint) {
  return {{"program version", program_version()},
          {"build options", build_options()},
          {"layout", hexadecimal(layout_fingerprint)}};
}

void require_equal_start(comm::RankGroup& group, std::vector<StartFact> const& facts) {
  std::vector<std::string> different;
  for (auto const& fact : facts) {
    auto const zero = broadcast_text(group, fact.value);
    if (fact.value != zero)
      different.push_back(fact.name + " is " + fact.value + ", on rank 0 " + zero +
                          "; start the same program and deck on every rank");
  }
  raise_together(group, different);
}

}  // namespace bellwether::app
