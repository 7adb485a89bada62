// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/replay.hpp"

#include "comm/transport/communicator.hpp"
#include "model/optim/optimizer.hpp"
#include "tests/support/memory_state.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::test {
namespace {

using Json = nlohmann::json;
using Values = std::vector<float>;

void upload(Arena<> const& to, Values const& from) {
  Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const view(from.data(), from.size());
  Kokkos::deep_copy(to.flat(), view);
}

Values download(Arena<> const& from) {
  Values values(static_cast<std::size_t>(from.count()));
  Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()),
                    from.flat());
  return values;
}

/// Returns the numbers (P) of all ranks.
std::vector<double> of_all(comm::Communicator& ranks, double mine) {
  std::vector<double> all(static_cast<std::size_t>(ranks.size()), 0.0);
  all[static_cast<std::size_t>(ranks.rank())] = mine;
  ranks.sum_host(all, "bellwether::test::replay");
  return all;
}

/// Returns a number for each rank if each has one scale, else a list for each rank.
Json scales_of_all(comm::Communicator& ranks, Values const& mine, bool single) {
  if (single) return of_all(ranks, mine.empty() ? 0 : mine[0]);
  std::size_t longest = 0;
  for (double const size : of_all(ranks, static_cast<double>(mine.size())))
    longest = std::max(longest, static_cast<std::size_t>(size));
  auto lists = std::vector<Json>(static_cast<std::size_t>(ranks.size()), Json::array());
  auto const sizes = of_all(ranks, static_cast<double>(mine.size()));
  for (std::size_t i = 0; i < longest; ++i) {
    auto const values = of_all(ranks, i < mine.size() ? mine[i] : 0);
    for (std::size_t rank = 0; rank < lists.size(); ++rank)
      if (static_cast<double>(i) < sizes[rank]) lists[rank].push_back(values[rank]);
  }
  return lists;
}

Json by_tensor(ParameterLayout const& layout, Values const& flat) {
  Json lists = Json::array();
  for (auto const& tensor : layout.tensors())
    lists.push_back(Values(flat.begin() + tensor.offset, flat.begin() + tensor.offset + tensor.count));
  return lists;
}

std::vector<double> norms(ParameterLayout const& layout, Values const& flat) {
  std::vector<double> result;
  for (auto const& tensor : layout.tensors()) {
    double squares = 0;
    for (auto k = tensor.offset; k < tensor.offset + tensor.count; ++k) {
      double const x = flat[static_cast<std::size_t>(k)];
      squares += x * x;
    }
    result.push_back(std::sqrt(squares));
  }
  return result;
}

/// Returns the numbers by layer, or `otherwise` for each layer if the method has no such number.
Values layer_or(optim::StepReport const& report, std::string_view name, std::size_t tensors, float otherwise) {
  for (auto const& quantity : report.layers)
    if (quantity.name == name) return quantity.values;
  return Values(tensors, otherwise);
}

}  // namespace

nlohmann::ordered_json replay(ReplayInput const& input, comm::Communicator& ranks) {
  auto const& config = input.settings.optimizer;
  auto const& comm = input.settings.comm;
  auto const& layout = input.layout;

  Exec const exec;
  Arena<> parameters(layout, "bellwether::test::parameters"), gradients(layout, "bellwether::test::gradients");
  upload(parameters, input.initial);
  auto const optimizer = optim::make_optimizer(config, {.layout = layout,
                                                        .groups = {ranks},
                                                        .exec = exec,
                                                        .comm = comm,
                                                        .seed = static_cast<std::uint64_t>(input.settings.seed),
                                                        .steps = input.calls});

  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  std::int64_t t = 0;
  std::size_t const count = layout.tensors().size();
  for (int call = 1; call <= input.calls; ++call) {
    upload(gradients, input.gradient(call, ranks.rank()));
    optimizer->gradient_ready(exec, gradients, {0, layout.count()});
    optimizer->step(exec, parameters, gradients, {t + 1, input.rates.at(static_cast<std::size_t>(t))});
    auto const& report = optimizer->last_report();
    nlohmann::ordered_json row;
    row["phase"] = report.phase == optim::Phase::dense ? "warmup" : "compressed";
    if (report.skipped) {
      row["skipped"] = true;
      if (report.first_bad_layer >= 0)
        row["bad_tensor"] = layout.tensors().at(static_cast<std::size_t>(report.first_bad_layer)).name;
      row["bad_rank"] = report.bad_rank;
      steps.push_back(row);
      continue;
    }
    ++t;
    bool const single = comm.scale_groups == 1 || report.phase == optim::Phase::dense;
    row["coefficient"] = layer_or(report, "trust_ratio", count, 1);
    row["average"] = layer_or(report, "average", count, 0);
    row["factor"] = layer_or(report, "factor", count, 1);
    row["weight_norm"] = norms(layout, download(parameters));
    row["worker_scale"] = scales_of_all(ranks, report.exchange.worker_scales, single);
    row["server_scale"] = scales_of_all(ranks, report.exchange.server_scales, single);
    row["bytes_sent"] = of_all(ranks, static_cast<double>(report.sent.exchange));
    row["scalar_bytes_sent"] = of_all(ranks, static_cast<double>(report.sent.scalars));
    if (config.clip > 0) row["clip_factor"] = report.clip_factor;
    steps.push_back(row);
  }
  auto const& exchange = optimizer->last_report().exchange;
  auto const worker_error = of_all(ranks, exchange.worker_error_squared_norm);
  auto const server_error = of_all(ranks, exchange.server_error_squared_norm);
  MemoryState state;
  optimizer->visit_state(state);
  auto const vector = [&](char const* name) {
    auto const found = state.arrays.find(name);
    return by_tensor(layout,
                     found == state.arrays.end() ? Values(static_cast<std::size_t>(layout.count())) : found->second);
  };
  nlohmann::ordered_json result;
  result["steps"] = steps;
  result["final"] = {{"parameters", by_tensor(layout, download(parameters))},
                     {"momentum", vector("momentum")},
                     {"variance", vector("variance")},
                     {"fresh_variance", vector("fresh_variance")},
                     {"worker_error_squared_norm", worker_error},
                     {"server_error_squared_norm", server_error}};
  return result;
}

}  // namespace bellwether::test
