// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/build_report.hpp"

#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/machine/timing.hpp"
#include "app/train/transport_check.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/world.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <array>

namespace bellwether::app {
namespace {

std::string line(std::string name, std::string const& value) {
  name.resize(std::max<std::size_t>(24, name.size()), ' ');
  return "  " + name + value + "\n";
}

std::optional<SentInStep> sent_in_step(std::optional<PhaseTraffic> const& mine, comm::World& world) {
  if (!mine) return {};  // unset on all ranks or on none
  std::array<double, 2> all{static_cast<double>(mine->intra_node_bytes), static_cast<double>(mine->inter_node_bytes())};
  world.group().sum_host(all, "bellwether::app::predicted_bytes");
  return SentInStep{.mine = *mine,
                    .all_intra_node = static_cast<std::int64_t>(all[0]),
                    .all_inter_node = static_cast<std::int64_t>(all[1])};
}

/// Returns the parts of a step's bytes for a method that compresses, and the bytes that a dense mean would send.
std::string parts_text(PhaseTraffic const& sent) {
  std::string text;
  auto const part = [&](char const* name, std::int64_t bytes) {
    if (bytes > 0) text += line(name, counted(bytes, "byte"));
  };
  part(sent.phase == 0 ? "  gradients" : "  inside the node", sent.other_bytes());
  part("  workers, all-to-all", sent.worker_bytes);
  part("  servers, all-gather", sent.server_bytes);
  part(sent.phase == 0 ? "  scalars" : "  scalars and sketches", sent.scalar_bytes);
  return text + line("dense mean in fp32", compared_with(sent.dense_bytes_fp32, sent)) +
         line("dense mean in 16 bit", compared_with(sent.dense_bytes_16bit, sent));
}

/// Returns the bytes that a step sends. Separates intra-node from inter-node bytes if there are several nodes.
std::string sent_text(std::optional<SentInStep> const& sent, int nodes, bool compresses) {
  if (!sent) return "";
  auto const text = [&](std::int64_t inside, std::int64_t across) {
    auto const split = ", " + std::to_string(inside) + " inside its node and " + std::to_string(across) + " to others";
    return std::to_string(inside + across) + " bytes" + (nodes > 1 ? split : "");
  };
  auto const& mine = sent->mine;
  return line("sent by rank 0", text(mine.intra_node_bytes, mine.inter_node_bytes())) +
         (compresses && mine.sent_bytes > 0 ? parts_text(mine) : "") +
         line("sent by all ranks", text(sent->all_intra_node, sent->all_inter_node));
}

/// Returns which steps the reported bytes refer to: steps that sketch gradients send more than others.
std::string steps_after_freeze(optim::OptimizerConfig const& optimizer, int ranks) {
  if (optimizer.clip_norm != optim::CompressedClip::sketch || optimizer.sketch_every == 1 || ranks == 1)
    return "each step after the freeze";
  return "each step after the freeze that sketches gradients, one in " + std::to_string(optimizer.sketch_every);
}

/// Returns the bytes that the residuals of compression add to a checkpoint after the freeze.
std::string residual_text(BuildReport const& report, input::WorkerError kept) {
  auto const exact = bytes_text(report.residual_bytes), mean = bytes_text(report.residual_bytes / report.ranks);
  auto const after = [](std::string const& bytes) { return "about " + bytes + " more of each rank after the freeze"; };
  if (kept == input::WorkerError::mean) return after(mean) + "; " + exact + " with checkpoint.worker_error: exact";
  return after(exact) + (report.ranks > 1 ? "; " + mean + " with checkpoint.worker_error: mean" : "");
}

}  // namespace

BuildReport build_report(input::Deck const& deck, comm::World& world) {
  input::IoThread io;
  auto const before = world.free_device_memory();
  Trainer trainer(deck, world, io);
  auto const after = world.free_device_memory();
  auto const& grid = trainer.grid();
  auto const share = (deck.batch.global + grid.replicas() - 1) / grid.replicas();
  return {.ranks = world.size(),
          .nodes = grid.nodes().count,
          .transport = grid.transport(),
          .transports = compare_transports(world),
          .parameters = trainer.layout().count(),
          .tensors = std::ssize(trainer.layout().tensors()),
          .sequence_length = trainer.sequence_length(),
          .masked_length = trainer.masked_length(),
          .training_rows = trainer.training_rows(),
          .static_masks = trainer.static_masks(),
          .share = share,
          .micro_batches = (share + deck.batch.micro - 1) / deck.batch.micro,
          .steps = deck.schedule.steps,
          .memory = trainer.memory_use(),
          .device_allocated = before && after ? std::optional(*before - *after) : std::nullopt,
          .checkpoint_bytes = checkpoint_bytes(trainer.state(), world.rank(), world.size()),
          .residual_bytes = trainer.residual_bytes(),
          .dense_step = sent_in_step(trainer.dense_step(), world),
          .compressed_step = sent_in_step(trainer.compressed_step(), world),
          .step_flops = trainer.next_step_flops(),
          .gemm_speed = measured_gemm_speed(world.group(), deck.model.compute),
          .layout_fingerprint = trainer.layout().fingerprint(),
          .warnings = trainer.warnings()};
}

std::string report_text(BuildReport const& report, input::Deck const& deck) {
  auto const number = [](std::int64_t value) { return std::to_string(value); };
  auto const epochs = static_cast<double>(report.steps) * static_cast<double>(deck.batch.global) /
                      static_cast<double>(std::max<std::int64_t>(1, report.training_rows));
  auto const seen = formatted(" (%.2f times the data)", epochs);
  std::string text = "model\n";
  text += line("parameters", number(report.parameters) + " in " + number(report.tensors) + " tensors");
  text += "data\n";
  text += line("training sequences", number(report.training_rows) + " of up to " + number(report.sequence_length) +
                                         " tokens, " + number(report.masked_length) + " of them predicted");
  text += line("masks", report.static_masks ? "static, stored in the shards" : "drawn while training");
  text += "batch\n";
  text += line("ranks", number(report.ranks) + (report.nodes > 1 ? " on " + number(report.nodes) + " nodes" : ""));
  text += line("transport", report.transport);
  text += line("transports compared", report.transports);
  text += line("sequences a step", number(deck.batch.global));
  text += line("a rank", "up to " + number(report.share) + ", in " + number(report.micro_batches) +
                             (report.micro_batches == 1 ? " micro-batch" : " micro-batches") + " of up to " +
                             number(std::min(deck.batch.micro, report.share)));
  text += line("steps", number(report.steps) + seen);
  auto const& memory = report.memory;
  text += "memory of rank 0\n";
  text += line("parameters", bytes_text(memory.parameters));
  text += line("gradients", bytes_text(memory.gradients));
  text += line("optimizer, exchange", bytes_text(memory.optimizer));
  text += line("activations", bytes_text(memory.activations));
  if (memory.libraries > 0) text += line("libraries", bytes_text(memory.libraries));
  text += line("together", bytes_text(memory.device()));
  if (report.device_allocated) {
    // The measurement precedes the first matrix product and the freeze, which allocate more.
    auto const predicted = static_cast<double>(memory.device() - memory.libraries - memory.freeze);
    text += line("of the GPU",
                 bytes_text(*report.device_allocated) +
                     (memory.freeze > 0 ? " before the first product and the freeze" : " before the first product") +
                     formatted(", %+.1f %%", 100.0 * (static_cast<double>(*report.device_allocated) / predicted - 1)));
  }
  text += line("rows of data", "up to " + bytes_text(memory.data) + " of host memory");
  text += line("checkpoint", bytes_text(report.checkpoint_bytes) +
                                 (deck.checkpoint.asynchronous ? " of host memory for a copy of what is written"
                                                               : ", written without a copy while training waits"));
  bool const freezes = report.compressed_step.has_value();
  if (freezes) text += line("its residuals", residual_text(report, deck.checkpoint.worker_error));
  text += freezes ? "on the network, each step up to the freeze\n" : "gradients on the network, each step\n";
  text += sent_text(report.dense_step, report.nodes, freezes);
  if (freezes)
    text += "on the network, " + steps_after_freeze(deck.optimizer, report.ranks) + "\n" +
            sent_text(report.compressed_step, report.nodes, true);
  auto const seconds = report.step_flops / report.gemm_speed;
  auto const speed = formatted("%.3g GFLOP, here %.3g GFLOP/s", report.step_flops * 1e-9, report.gemm_speed * 1e-9);
  text += "time of the matrix products alone\n";
  text += line("a step", speed);
  text += line("all steps", std::string("above ") + duration_text(seconds * static_cast<double>(report.steps)).data());
  return text;
}

}  // namespace bellwether::app
