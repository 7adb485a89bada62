// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/traffic.hpp"

#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"

#include <string_view>

namespace bellwether::app {
namespace {

std::string ratio(std::int64_t dense, std::int64_t sent) {
  return formatted("%.2f", static_cast<double>(dense) / static_cast<double>(sent));
}

std::string bytes_of(std::int64_t bytes) { return counted(bytes, "byte"); }

}  // namespace

void PhaseTraffic::add(PhaseTraffic const& more) {
  steps += more.steps;
  sent_bytes += more.sent_bytes;
  worker_bytes += more.worker_bytes;
  server_bytes += more.server_bytes;
  scalar_bytes += more.scalar_bytes;
  intra_node_bytes += more.intra_node_bytes;
  dense_bytes_fp32 += more.dense_bytes_fp32;
  dense_bytes_16bit += more.dense_bytes_16bit;
}

PhaseTraffic traffic_of(optim::Phase phase, optim::SentBytes const& sent) {
  return {.phase = phase == optim::Phase::compressed ? 1 : 0,
          .steps = 1,
          .sent_bytes = sent.all(),
          .worker_bytes = sent.worker,
          .server_bytes = sent.server,
          .scalar_bytes = sent.scalars,
          .intra_node_bytes = sent.intra_node,
          .dense_bytes_fp32 = sent.dense_fp32,
          .dense_bytes_16bit = sent.dense_16bit};
}

PhaseTraffic TrafficTotals::all() const {
  PhaseTraffic sum = dense;
  sum.add(compressed);
  return sum;
}

void TrafficTotals::visit_state(StateVisitor& visit) {
  for (auto* const phase : {&dense, &compressed}) {
    std::string const group = phase == &dense ? "traffic_dense/" : "traffic_compressed/";
    PhaseTraffic::describe(*phase, [&](std::string_view name, std::string_view, std::int64_t& value) {
      if (name != "phase") visit.scalar(counter(group + std::string(name)), value);
    });
  }
}

std::string compared_with(std::int64_t dense_bytes, PhaseTraffic const& sent) {
  auto text = bytes_of(dense_bytes) + ", " + ratio(dense_bytes, sent.sent_bytes) + " times as much";
  if (sent.scalar_bytes > 0 && sent.exchange_bytes() > 0)
    text += "; " + ratio(dense_bytes, sent.exchange_bytes()) + " without scalars and sketches";
  return text;
}

std::vector<std::string> traffic_lines(TrafficTotals const& totals) {
  auto const& [dense, compressed] = totals;
  auto const all = totals.all();
  if (all.sent_bytes == 0) return {};
  std::vector<std::string> lines;
  auto const in_steps = [](PhaseTraffic const& phase, char const* when) {
    return "sent by rank 0 in " + counted(phase.steps, "step") + when + ": " + bytes_of(phase.sent_bytes);
  };
  if (dense.steps > 0)
    lines.push_back(in_steps(dense, compressed.steps > 0 ? " before the freeze" : "") + ", " +
                    bytes_of(dense.scalar_bytes) + " of them scalars");
  if (compressed.steps > 0) {
    auto const other = compressed.other_bytes();
    lines.push_back(in_steps(compressed, " after the freeze") + ", to servers (all-to-all) " +
                    bytes_of(compressed.worker_bytes) + ", from them (all-gather) " +
                    bytes_of(compressed.server_bytes) +
                    (other > 0 ? ", other exchange inside the node " + bytes_of(other) : "") +
                    ", scalars and sketches " + bytes_of(compressed.scalar_bytes));
    auto const over = " over the same " + counted(all.steps, "step") + " would have sent ";
    lines.push_back("dense means in fp32" + over + compared_with(all.dense_bytes_fp32, all));
    lines.push_back("dense means in 16 bit" + over + compared_with(all.dense_bytes_16bit, all));
  }
  if (all.intra_node_bytes > 0 && all.inter_node_bytes() > 0)
    lines.push_back("sent by rank 0 inside its node " + bytes_of(all.intra_node_bytes) + ", to other nodes " +
                    bytes_of(all.inter_node_bytes()));
  return lines;
}

}  // namespace bellwether::app
