// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/optimizer.hpp"
#include "tests/model/optim/optimizer_harness.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/memory_state.hpp"

#include <catch2/catch_message.hpp>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>

namespace bellwether::test {

inline void upload(Arena<> const& to, std::vector<float> const& from) {
  Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const view(from.data(), from.size());
  Kokkos::deep_copy(to.flat(), view);
}
inline std::vector<float> download(Arena<> const& from) {
  std::vector<float> values(static_cast<std::size_t>(from.count()));
  Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()),
                    from.flat());
  return values;
}

/// An optimizer behind its interface, with parameters and gradients on the ranks of a communicator.
struct Training {
  Training(ParameterLayout const& table, optim::OptimizerConfig const& config, comm::Communicator& ranks,
           comm::CommConfig const& comm = {}, comm::NodeGroups const* nodes = nullptr, std::int64_t steps = 0)
      : layout(table),
        group(ranks),
        parameters(layout, "bellwether::test::parameters"),
        gradients(layout, "bellwether::test::gradients"),
        optimizer(optim::make_optimizer(
            config, {.layout = layout, .groups = {ranks, nodes}, .exec = exec, .comm = comm, .steps = steps})) {}

  std::vector<float> sample(int step, int rank) const { return sample_gradients(layout, step, rank); }
  void start() { upload(parameters, sample_parameters(layout)); }
  void step(int t, std::vector<float> const& gradient, double rate = 0.01, bool layers = false) {
    upload(gradients, gradient);
    optimizer->gradient_ready(exec, gradients, {0, layout.count()});
    optimizer->step(exec, parameters, gradients, {t, rate, layers});
  }
  /// Returns the point at which the gradients of the next step are evaluated.
  std::vector<float> point(double rate = 0.01) {
    float const* const at = optimizer->gradient_point(exec, parameters, rate);
    std::vector<float> values(static_cast<std::size_t>(layout.count()));
    Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(values.data(), values.size());
    exec.fence("bellwether::test::point");
    Kokkos::deep_copy(to, Kokkos::View<float const*, Mem, Kokkos::MemoryUnmanaged>(at, values.size()));
    return values;
  }
  MemoryState state() {
    MemoryState visitor;
    optimizer->visit_state(visitor);
    return visitor;
  }
  /// Resumes from a saved state and the parameters saved with it.
  void restore(MemoryState state, std::vector<float> const& saved_parameters) {
    upload(parameters, saved_parameters);
    state.direction = MemoryState::Direction::load;
    optimizer->visit_state(state);
  }

  ParameterLayout const& layout;
  comm::Communicator& group;
  Exec exec;
  Arena<> parameters, gradients;
  std::unique_ptr<optim::Optimizer> optimizer;
};

template <class T>
bool same_bits(std::vector<T> const& one, std::vector<T> const& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

/// Returns whether two states have the same names, counts and bits. Adds the differences to the next check's message.
inline bool same_bits(MemoryState const& one, MemoryState const& other) {
  auto const names = [](auto const& map) {
    std::vector<std::string> keys;
    for (auto const& entry : map) keys.push_back(entry.first);
    return keys;
  };
  if (one.integers != other.integers || names(one.arrays) != names(other.arrays) ||
      names(one.reals) != names(other.reals)) {
    for (auto const* const state : {&one, &other}) {
      std::string told;
      for (auto const& [name, value] : state->integers) told += " " + name + "=" + std::to_string(value);
      for (auto const& name : names(state->arrays)) told += " " + name;
      UNSCOPED_INFO("counts and names of states:" << told);
    }
    return false;
  }
  for (auto const& [name, value] : one.reals) {
    if (same_bits(std::vector{value}, std::vector{other.reals.at(name)})) continue;
    UNSCOPED_INFO("state '" << name << "' differs");
    return false;
  }
  for (auto const& [name, values] : one.arrays) {
    if (same_bits(values, other.arrays.at(name))) continue;
    UNSCOPED_INFO("state '" << name << "' differs");
    return false;
  }
  return true;
}

/// Returns the layers of tests/golden/lamb_trace.py, with its initial values and gradients below.
inline ParameterLayout golden_layout() {
  ParameterLayout layout;
  layout.add({.name = "first", .shape = {7}});
  layout.add({.name = "second", .shape = {9}, .decays = false});
  return layout;
}
inline std::vector<float> golden_start() {
  std::vector<float> x;
  for (int k = 0; k < 7; ++k) x.push_back(static_cast<float>(0.5 * std::sin(k + 1.0)));
  for (int k = 0; k < 9; ++k) x.push_back(static_cast<float>(0.2 * std::cos(1.0 * k)));
  return x;
}
inline std::vector<double> golden_gradient(int t, int rank, double phase) {
  std::vector<double> g;
  for (auto const& [count, height] : {std::pair{7, 0.1}, std::pair{9, 0.02}})
    for (int k = 0; k < count; ++k)
      g.push_back(height * (std::sin(0.7 * t + k + phase * rank) + 0.25 * std::cos(1.3 * t * k + rank)));
  return g;
}
inline nlohmann::json golden_traces() {
  return nlohmann::json::parse(std::ifstream(test::golden_file("lamb_trace.json"))).at("traces");
}
inline optim::OptimizerConfig golden_config(nlohmann::json const& trace) {
  optim::OptimizerConfig config;
  config.bias_correction = trace.at("bias_correction");
  config.clip = 0;
  return config;
}

/// Returns the largest relative difference between a step of a golden trace and the optimizer's step.
inline double golden_difference(nlohmann::json const& row, Training const& training) {
  auto const& report = training.optimizer->last_report();
  double difference = worst(download(training.parameters), row.at("x").get<std::vector<double>>());
  for (auto const* name : {"trust_ratio", "weight_norm", "update_norm"})
    difference = larger(difference, worst(report.layer(name), row.at(name).get<std::vector<double>>()));
  return difference;
}

}  // namespace bellwether::test
