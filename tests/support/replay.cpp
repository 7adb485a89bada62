// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/replay.hpp"

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "model/optim/optimizer.hpp"
#include "tests/support/memory_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace bellwether::test {
namespace {

using Json = nlohmann::json;
using Values = std::vector<float>;

template <class Enum>
Enum one_of(std::string const& key, Json const& value, std::map<std::string, Enum> const& names) {
  auto const found = names.find(value.get<std::string>());
  if (found == names.end()) throw InputError("optimizer." + key + ": unknown value " + value.dump());
  return found->second;
}

/// The deck's keys, and the pair `betas`.
optim::OptimizerConfig config_of(Json const& settings, comm::CommConfig& comm, std::uint64_t& seed) {
  using namespace optim;
  OptimizerConfig config;
  config.bias_correction = false;
  config.clip = 0;
  config.unify = Unify::layer;  // as the papers have it, until the file says otherwise
  config.scale = comm::Scale::rms;
  comm.scale_groups = 1;
  config.exchange = Exchange::momentum;
  config.kept_variance = KeptVariance::whole;
  config.steer = Steer::variance;
  config.gradient_limit = 0;
  std::map<std::string, std::function<void(Json const&)>> const readers{
      {"name",
       [&](Json const& v) {
         config.method = one_of<Method>("name", v,
                                        {{"lamb", Method::lamb},
                                         {"adamw", Method::adamw},
                                         {"onebit_lamb", Method::onebit_lamb},
                                         {"onebit_adam", Method::onebit_adam},
                                         {"onebit_sgd", Method::onebit_sgd}});
         if (config.method == Method::onebit_adam) config.unify = Unify::none;
       }},
      {"betas",
       [&](Json const& v) {
         config.beta1 = v.at(0);
         config.beta2 = v.at(1);
       }},
      {"beta1", [&](Json const& v) { config.beta1 = v; }},
      {"beta2", [&](Json const& v) { config.beta2 = v; }},
      {"epsilon", [&](Json const& v) { config.epsilon = v; }},
      {"bias_correction", [&](Json const& v) { config.bias_correction = v; }},
      {"freeze",
       [&](Json const& v) {
         if (v.is_object() && v.contains("step") && !v["step"].is_null()) config.freeze.step = v["step"];
         if (v.is_object() && v.contains("latest")) config.freeze.latest = v["latest"];
       }},
      {"coefficient_beta", [&](Json const& v) { config.coefficient_beta = v; }},
      {"min_coefficient", [&](Json const& v) { config.min_coefficient = v; }},
      {"max_coefficient", [&](Json const& v) { config.max_coefficient = v; }},
      {"factor_min", [&](Json const& v) { config.factor_min = v; }},
      {"factor_max", [&](Json const& v) { config.factor_max = v; }},
      {"factor_threshold", [&](Json const& v) { config.factor_threshold = v; }},
      {"exchange",
       [&](Json const& v) {
         config.exchange =
             one_of<Exchange>("exchange", v, {{"gradient", Exchange::gradient}, {"momentum", Exchange::momentum}});
       }},
      {"kept_variance",
       [&](Json const& v) {
         config.kept_variance =
             one_of<KeptVariance>("kept_variance", v, {{"shape", KeptVariance::shape}, {"whole", KeptVariance::whole}});
       }},
      {"steer",
       [&](Json const& v) {
         config.steer = one_of<Steer>("steer", v, {{"variance", Steer::variance}, {"norm", Steer::norm}});
       }},
      {"unify",
       [&](Json const& v) {
         config.unify =
             one_of<Unify>("unify", v, {{"layer", Unify::layer}, {"element", Unify::element}, {"none", Unify::none}});
       }},
      {"scale",
       [&](Json const& v) {
         config.scale = one_of<comm::Scale>(
             "scale", v, {{"rms", comm::Scale::rms}, {"mean_magnitude", comm::Scale::mean_magnitude}});
       }},
      {"gradient_limit", [&](Json const& v) { config.gradient_limit = v; }},
      {"scale_groups", [&](Json const& v) { comm.scale_groups = v; }},
      {"clip", [&](Json const& v) { config.clip = v; }},
      {"clip_norm",
       [&](Json const& v) {
         config.clip_norm = one_of<CompressedClip>("clip_norm", v,
                                                   {{"exact", CompressedClip::sketch},
                                                    {"sketch", CompressedClip::sketch},
                                                    {"local_rms", CompressedClip::local_rms}});
       }},
      {"sketch_columns", [&](Json const& v) { config.sketch_columns = v; }},
      {"seed", [&](Json const& v) { seed = v; }},
  };
  if (settings.contains("name")) readers.at("name")(settings["name"]);  // other defaults depend on it
  for (auto const& [key, value] : settings.items()) {
    auto const reader = readers.find(key);
    if (reader == readers.end()) throw InputError("optimizer." + key + ": unknown key");
    if (!value.is_null() && key != "name") reader->second(value);
  }
  return config;
}

ParameterLayout layout_of(Json const& tensors, optim::OptimizerConfig& config) {
  ParameterLayout layout;
  config.weight_decay = 0;
  for (auto const& tensor : tensors)
    config.weight_decay = std::max(config.weight_decay, tensor.value("weight_decay", 0.0));
  for (auto const& tensor : tensors) {
    double const decay = tensor.value("weight_decay", 0.0);
    auto const& initial = tensor.at("initial");
    std::int64_t const count =
        initial.is_object() ? initial.at("count").get<std::int64_t>() : static_cast<std::int64_t>(initial.size());
    auto dead = tensor.value("dead", std::vector<std::int64_t>{});
    std::ranges::sort(dead);
    layout.add({.name = tensor.at("name"),
                .shape = {count},
                .decays = decay > 0,
                .decay_share = decay > 0 ? decay / config.weight_decay : 0,
                .live = count,
                .dead = dead});
  }
  return layout;
}

Values initial_of(Json const& tensors) {
  Values all;
  for (auto const& tensor : tensors) {
    auto const& initial = tensor.at("initial");
    if (initial.is_array()) {
      for (double const value : initial) all.push_back(static_cast<float>(value));
      continue;
    }
    double const height = initial.at("height"), step = initial.at("step"), shift = initial.at("shift");
    for (int k = 0; k < initial.at("count").get<int>(); ++k)
      all.push_back(static_cast<float>(height * std::sin(step * k + shift)));
  }
  return all;
}

Values from_formula(Json const& spec, ParameterLayout const& layout, int call, int rank) {
  Values all;
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    double const height = spec.at("height").at(l), phase = spec.at("phase");
    for (std::int64_t k = 0; k < layout.tensors()[l].count; ++k) {
      double value = height * (std::sin(0.7 * call + static_cast<double>(k) + phase * rank) +
                               0.25 * std::cos(1.3 * call * static_cast<double>(k) + rank));
      for (auto const& late : spec.value("late", Json::array()))
        if (late[0] == l && k >= late[1] && k < late[1].get<std::int64_t>() + late[2].get<std::int64_t>() &&
            call < late[3])
          value = 0;
      for (auto const& bad : spec.value("not_finite", Json::array()))
        if (bad[0] == call && bad[1] == rank && bad[2] == l && bad[3] == k)
          value = std::numeric_limits<double>::quiet_NaN();
      all.push_back(static_cast<float>(value));
    }
  }
  return all;
}

/// Gradient of a rank at a call, counted from 1.
Values gradient_of(Json const& given, ParameterLayout const& layout, int call, int rank) {
  if (given.is_object()) return from_formula(given, layout, call, rank);
  Values all;
  for (auto const& tensor : given.at(static_cast<std::size_t>(call - 1)).at(static_cast<std::size_t>(rank)))
    for (auto const& value : tensor)
      all.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                    : static_cast<float>(value.get<double>()));
  if (static_cast<std::int64_t>(all.size()) != layout.count())
    throw InputError("gradients: step " + std::to_string(call) + ", rank " + std::to_string(rank) + " has " +
                     std::to_string(all.size()) + " elements, the tensors " + std::to_string(layout.count()));
  return all;
}

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

/// (P) what every rank has.
std::vector<double> of_all(comm::Communicator& ranks, double mine) {
  std::vector<double> all(static_cast<std::size_t>(ranks.size()), 0.0);
  all[static_cast<std::size_t>(ranks.rank())] = mine;
  ranks.sum_host(all, "bellwether::test::replay");
  return all;
}

/// A number a rank where each has one scale, else a list a rank.
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

/// A number by layer, or `otherwise` for each where the method has none.
Values layer_or(optim::StepReport const& report, std::string_view name, std::size_t tensors, float otherwise) {
  for (auto const& quantity : report.layers)
    if (quantity.name == name) return quantity.values;
  return Values(tensors, otherwise);
}

}  // namespace

nlohmann::ordered_json replay(Json const& input, comm::Communicator& ranks) {
  comm::CommConfig comm;
  std::uint64_t seed = 0;
  auto config = config_of(input.at("optimizer"), comm, seed);
  auto const& tensors = input.at("tensors");
  auto const layout = layout_of(tensors, config);
  auto const& given = input.at("gradients");
  auto const recorded = given.is_object() ? given.at("ranks").get<int>() : static_cast<int>(given.at(0).size());
  if (recorded != ranks.size())
    throw InputError("gradients: of " + std::to_string(recorded) + " ranks; run on as many");
  int const calls = given.is_object() ? given.at("calls").get<int>() : static_cast<int>(given.size());
  std::vector<double> const rates = input.at("learning_rates");
  if (!config.freeze.step) config.freeze.latest = 1;

  Exec const exec;
  Arena<> parameters(layout, "bellwether::test::parameters"), gradients(layout, "bellwether::test::gradients");
  upload(parameters, initial_of(tensors));
  auto const optimizer = optim::make_optimizer(
      config, {.layout = layout, .groups = {ranks}, .exec = exec, .comm = comm, .seed = seed, .steps = calls + 1});

  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  std::int64_t t = 0;
  std::size_t const count = layout.tensors().size();
  for (int call = 1; call <= calls; ++call) {
    upload(gradients, gradient_of(given, layout, call, ranks.rank()));
    optimizer->gradient_ready(exec, {0, layout.count()});
    optimizer->step(exec, parameters, gradients, {t + 1, rates.at(static_cast<std::size_t>(t))});
    auto const& report = optimizer->last_report();
    nlohmann::ordered_json row;
    row["phase"] = report.phase == optim::Phase::dense ? "warmup" : "compressed";
    if (report.skipped) {
      row["skipped"] = true;
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
