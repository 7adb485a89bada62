// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/build_report.hpp"

#include "comm/mean.hpp"
#include "comm/world.hpp"
#include "core/arena.hpp"
#include "core/error.hpp"
#include "input/batch_stream.hpp"
#include "input/io_thread.hpp"
#include "model/bert.hpp"
#include "model/optim/optimizer.hpp"

#include <algorithm>
#include <cstdio>

namespace bellwether::app {
namespace {

std::string amount(double bytes) {
  char text[32];
  char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string line(std::string name, std::string const& value) {
  name.resize(std::max<std::size_t>(24, name.size()), ' ');
  return "  " + name + value + "\n";
}

}  // namespace

BuildReport build_report(input::Deck const& deck, comm::World& world) {
  auto& ranks = world.communicator();
  BuildReport report;
  report.ranks = world.size();
  report.steps = deck.schedule.steps;
  report.share = (deck.batch.global + world.size() - 1) / world.size();
  report.passes = (report.share + deck.batch.micro - 1) / deck.batch.micro;

  input::IoThread io;
  auto const seed = static_cast<std::uint64_t>(deck.run.seed);
  input::BatchStream const stream(io, deck.data.train, deck.data,
                                  {.rank = world.rank(),
                                   .size = world.size(),
                                   .global = deck.batch.global,
                                   .micro = deck.batch.micro,
                                   .seed = seed,
                                   .vocabulary = deck.model.vocabulary});
  report.sequence_length = stream.info().sequence_length;
  report.training_rows = stream.info().rows;
  if (report.sequence_length > deck.model.positions)
    throw InputError("model.positions: " + std::to_string(deck.model.positions) +
                     " is less than the shards' sequences; " + std::to_string(report.sequence_length) + " or more");

  Exec const exec;
  model::Bert<float> const bert(exec, deck.model,
                                {.sequences = std::min(deck.batch.micro, report.share),
                                 .longest = report.sequence_length,
                                 .masked = stream.info().masked_length},
                                seed);
  ParameterLayout const& layout = bert.layout().table;
  Arena<> const parameters(layout, "bellwether::app::parameters"), gradients(layout, "bellwether::app::gradients");
  auto const optimizer = optim::make_optimizer(deck.optimizer, {layout, {ranks}, exec, deck.comm});
  report.parameters = layout.count();
  report.tensors = static_cast<std::int64_t>(layout.tensors().size());
  report.layout_fingerprint = layout.fingerprint();
  report.parameter_bytes = static_cast<std::int64_t>(parameters.span().size_bytes());
  report.gradient_bytes = static_cast<std::int64_t>(gradients.span().size_bytes());
  report.optimizer_bytes = optimizer->state_bytes();
  report.activation_bytes = bert.workspace_bytes();
  for (int rank = 0; rank < world.size(); ++rank) {
    auto const sent =
        comm::DenseMean::predicted_bytes(layout.count(), rank, world.size(), deck.comm.dense_wire, deck.comm.allreduce);
    report.sent_bytes_all += sent;
    if (rank == world.rank()) report.sent_bytes = sent;
  }
  return report;
}

std::string report_text(BuildReport const& report, input::Deck const& deck) {
  auto const number = [](std::int64_t value) { return std::to_string(value); };
  auto const epochs = static_cast<double>(report.steps) * static_cast<double>(deck.batch.global) /
                      static_cast<double>(std::max<std::int64_t>(1, report.training_rows));
  char seen[64];
  std::snprintf(seen, sizeof seen, " (%.2f times the data)", epochs);
  std::string text = "model\n";
  text += line("parameters", number(report.parameters) + " in " + number(report.tensors) + " tensors");
  text += "data\n";
  text += line("training sequences",
               number(report.training_rows) + " of up to " + number(report.sequence_length) + " tokens");
  text += "batch\n";
  text += line("ranks", number(report.ranks));
  text += line("sequences a step", number(deck.batch.global));
  text += line("a rank", "up to " + number(report.share) + ", in " + number(report.passes) + " passes of up to " +
                             number(std::min(deck.batch.micro, report.share)));
  text += line("steps", number(report.steps) + seen);
  text += "memory of rank 0\n";
  text += line("parameters", amount(static_cast<double>(report.parameter_bytes)));
  text += line("gradients", amount(static_cast<double>(report.gradient_bytes)));
  text += line("optimizer, exchange", amount(static_cast<double>(report.optimizer_bytes)));
  text += line("activations", amount(static_cast<double>(report.activation_bytes)));
  text += line("together", amount(static_cast<double>(report.bytes())));
  text += "gradients on the network, each step\n";
  text += line("sent by rank 0", number(report.sent_bytes) + " bytes");
  text += line("sent by all ranks", number(report.sent_bytes_all) + " bytes");
  return text;
}

}  // namespace bellwether::app
