// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/memory/block_table.hpp"
#include "model/optim/rules/dense_kernels.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/optimizer_reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bellwether::test {

/// Returns tensors of awkward sizes (empty, single, around one block, several blocks) with all kinds of rules.
inline ParameterLayout awkward_layout() {
  ParameterLayout layout;
  layout.add({.name = "matrix", .shape = {96, 100}});
  layout.add({.name = "empty", .shape = {0}});
  layout.add({.name = "bias", .shape = {33}, .decays = false});
  layout.add({.name = "one", .shape = {1}});
  layout.add({.name = "block", .shape = {4096}});
  layout.add({.name = "block_and_one", .shape = {4097}, .decays = false, .adapts = false});
  layout.add({.name = "block_less_one", .shape = {4095}});
  layout.add({.name = "zero_weights", .shape = {70}, .decays = false});
  layout.add({.name = "zero_gradient", .shape = {65}, .decays = false});
  return layout;
}

/// Returns value(k) for every element, but 0 for the tensor `zero`.
template <class Value>
std::vector<float> sampled(ParameterLayout const& layout, char const* zero, Value const& value) {
  std::vector<float> values(static_cast<std::size_t>(layout.count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = value(static_cast<Index>(k));
  auto const& tensor = layout.find(zero);
  std::fill_n(values.begin() + tensor.offset, tensor.count, 0.0f);
  return values;
}
/// Reproducible values: parameters of a few hundredths, and gradients that differ between steps and ranks.
inline std::vector<float> sample_parameters(ParameterLayout const& layout) {
  return sampled(layout, "zero_weights",
                 [](Index k) { return 0.04f * std::sin(0.37f * static_cast<float>(k % 10007) + 0.1f); });
}
inline std::vector<float> sample_gradients(ParameterLayout const& layout, int step, int rank = 0) {
  return sampled(layout, "zero_gradient", [=](Index k) {
    float const phase = static_cast<float>(k % 9973);
    return 0.02f * std::sin(0.7f * static_cast<float>(step) + 0.9f * phase + 1.1f * static_cast<float>(rank)) +
           0.01f * std::cos(0.031f * phase * static_cast<float>(step));
  });
}

/// Runs the kernels of one method in one execution space, as the optimizers do.
template <class Space>
class KernelRun {
 public:
  KernelRun(ParameterLayout const& layout, optim::OptimizerConfig const& config, Space const& exec = Space())
      : exec_(exec),
        config_(config),
        table_(layout),
        rules_(optim::tensor_rules<Space>(layout, config.weight_decay)),
        x("x", static_cast<std::size_t>(layout.count())),
        g("g", static_cast<std::size_t>(layout.count())),
        m("m", static_cast<std::size_t>(layout.count())),
        v("v", static_cast<std::size_t>(layout.count())),
        layers("layers", 3 * layout.tensors().size()),
        gradient_check_("gradient_check", 1),
        partial_("partial", static_cast<std::size_t>(table_.count())),
        norms_("norms", static_cast<std::size_t>(2 * table_.count())) {}

  static void set(Vec<float, Space> const& to, std::vector<float> const& from) {
    Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const view(from.data(), from.size());
    Kokkos::deep_copy(to, view);
  }
  static std::vector<float> get(Vec<float, Space> const& from) {
    std::vector<float> values(from.extent(0));
    Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()),
                      from);
    return values;
  }

  optim::GradientCheck step(int t, double rate) {
    auto const c = optim::coefficients<float>(config_, t);
    optim::KernelContext<Space> const context{table_, rules_, gradient_check_};
    optim::check_gradient(exec_, table_, {.values = g.data()}, {.clip = config_.clip}, partial_, gradient_check_);
    if (config_.method == optim::Method::lamb) {
      auto const tensors = static_cast<std::size_t>(table_.tensors());
      optim::LayerRecord const record{layers.data(), layers.data() + tensors, layers.data() + 2 * tensors};
      optim::lamb_moments(
          exec_, context,
          {.coefficients = c, .parameters = x.data(), .gradient = g.data(), .momentum = m.data(), .variance = v.data()},
          norms_);
      optim::lamb_ratios(exec_, context, {config_.min_coefficient, config_.max_coefficient}, norms_, record);
      optim::lamb_apply(
          exec_, context,
          {.learning_rate = rate, .ratios = record.trust_ratio, .update = g.data(), .parameters = x.data()});
    } else {
      optim::adamw_update(exec_, context,
                          {.coefficients = c,
                           .learning_rate = rate,
                           .gradient = g.data(),
                           .parameters = x.data(),
                           .momentum = m.data(),
                           .variance = v.data()});
    }
    exec_.fence("bellwether::test::step");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient_check_)(0);
  }

 private:
  Space exec_;
  optim::OptimizerConfig config_;
  BlockTable<Space> table_;
  Vec<optim::TensorRule, Space> rules_;

 public:
  Vec<float, Space> x, g, m, v;  // (n)
  Vec<float, Space> layers;      // (3 tensors)

 private:
  Vec<optim::GradientCheck, Space> gradient_check_;
  Vec<double, Space> partial_, norms_;
};

/// Returns the largest difference of `values` from the reference, relative to the reference's largest magnitude.
inline double worst(std::vector<float> const& values, std::vector<double> const& reference) {
  double difference = 0, scale = 1e-30;
  for (std::size_t k = 0; k < values.size(); ++k) {
    difference = larger(difference, values[k] - reference[k]);
    scale = larger(scale, reference[k]);
  }
  return difference / scale;
}

}  // namespace bellwether::test
