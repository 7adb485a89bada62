// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/launch/interrupt.hpp"
#include "app/train/deck_broadcast.hpp"
#include "app/train/training_run.hpp"
#include "comm/transport/world.hpp"

#include <iostream>
#include <memory>
#include <optional>

namespace bellwether::app {
namespace {

struct TrainOptions {
  std::string deck;
  std::vector<std::string> overrides;
  std::string log = "automatic";
  TrainingOptions run;
};

LogForm log_form(std::string const& name) {
  return name == "json" ? LogForm::json : name == "lines" ? LogForm::lines : LogForm::automatic;
}

int train(TrainOptions const& options, Session& session) {
  Interrupt const interrupt;  // first, so that it also catches a signal while MPI starts
  auto const shared =
      read_shared_deck(session.world().group(), options.deck, options.overrides, input::DeckPaths::checked, &interrupt);
  if (shared.signal != 0) {
    if (session.rank() == 0) std::cerr << "interrupted: no deck was read, and nothing was trained\n";
    return 128 + shared.signal;
  }
  std::optional<TrainingRun> run;
  with_places(shared.source, [&] { run.emplace(shared.deck, shared.source, options.run, interrupt, session.world()); });
  int const code = run->finish();
  session.note_end(code);
  return code;
}

}  // namespace

void add_train(Command program) {
  auto options = std::make_shared<TrainOptions>();
  auto const command = program.subcommand("train", "Train what a deck describes; also under mpirun or srun");
  command.option("deck", options->deck, "the deck, a YAML file; - for standard input").required().check(paths());
  command.option("--set", options->overrides, "section.key=value in place of the deck's value")
      .type_name("KEY=VALUE")
      .one_value_each();
  command.flag("--resume", options->run.resume, "continue from the newest complete checkpoint, if there is one");
  command.option("--log", options->log, "automatic: a renewed line on a terminal, plain lines elsewhere")
      .check(one_of({"automatic", "lines", "json"}));
  command.when_given([options] {
    options->run.log = log_form(options->log);
    return [options](Session& session) { return train(*options, session); };
  });
}

}  // namespace bellwether::app
