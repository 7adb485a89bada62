// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/one_bit/onebit_lamb.hpp"

#include "model/optim/one_bit/bit_kernels.hpp"
#include "model/optim/one_bit/exchange_form.hpp"

#include <algorithm>

namespace bellwether::optim {
namespace {

/// Indices of the numbers by layer in the record.
struct Place {
  static constexpr std::size_t trust_ratio = 0, weight_norm = 1, update_norm = 2, average = 3, factor = 4;
};

constexpr auto fresh_name = "fresh_variance";

}  // namespace

OnebitLamb::OnebitLamb(OptimizerConfig const& settings, OptimizerContext const& context)
    : OnebitMethod(settings, context, Variance::frozen_at_freeze,
                   {"trust_ratio", "weight_norm", "update_norm", "average", "factor"}),
      sampled_("bellwether::optim::sampled", context.layout.tensors().size()),
      norms_("bellwether::optim::norms", static_cast<std::size_t>(4 * record().blocks().count())) {
  Kokkos::deep_copy(context.exec, record().values(Place::factor), 1.0f);
}

OnebitRecord OnebitLamb::numbers() const {
  return {.lamb = {record().layer(Place::trust_ratio), record().layer(Place::weight_norm),
                   record().layer(Place::update_norm)},
          .average = record().layer(Place::average),
          .factor = record().layer(Place::factor),
          .sampled = sampled_.data()};
}

void OnebitLamb::dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  auto const& blocks = record().blocks();
  auto const& gradient_check = record().gradient_check();
  auto const layers = numbers();
  lamb_moments(exec, blocks, rules(), coefficients<float>(config(), scalars.step), gradient_check, parameters.data(),
               gradients.data(), momentum(), variance()->data(), squares());
  lamb_ratios(exec, blocks, rules(), trust_bounds(), gradient_check, squares(), layers.lamb);
  average_ratios(exec, blocks.tensors(), config().coefficient_beta, gradient_check, layers);
  lamb_apply(exec, blocks, scalars.learning_rate, gradient_check, layers.lamb, gradients.data(), parameters.data());
}

Vec<double> OnebitLamb::squares() const {
  return Vec<double>(norms_.data(), static_cast<std::size_t>(2 * record().blocks().count()));
}

TrustBounds OnebitLamb::trust_bounds() const { return {config().min_coefficient, config().max_coefficient}; }

float const* OnebitLamb::rate_factors() const { return record().layer(Place::trust_ratio); }

void OnebitLamb::allocate_compressed() {
  if (config().steer == Steer::variance)
    fresh_ = std::make_unique<Arena<>>(layout(), "bellwether::optim::fresh_variance");
}

void OnebitLamb::enter_compressed(Exec const& exec) {
  if (takes_momentum() && keeps_bits()) {
    fresh_ = std::make_unique<Arena<>>(give_momentum());
  } else {
    allocate_compressed();
    if (fresh_) Kokkos::deep_copy(exec, fresh_->flat(), variance()->flat());
  }
  // A tensor without a ratio so far uses the largest one that LAMB's first step could have.
  fill_unsampled(exec, static_cast<float>(std::min(1.0, config().max_coefficient)));
}

// The first exchange reads the momentum from the memory of the fresh variance, which starts as the frozen one.
Arena<> const& OnebitLamb::fresh_before() const {
  return held_momentum().numbers == fresh_->data() ? *variance() : *fresh_;
}

void OnebitLamb::fill_unsampled(Exec const& exec, float average) {
  auto const averages = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), record().values(Place::average));
  auto const sampled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sampled_);
  for (std::size_t l = 0; l < sampled.extent(0); ++l)
    if (sampled(l) == 0) averages(l) = average;
  Kokkos::deep_copy(exec, record().values(Place::average), averages);
  exec.fence("bellwether::optim::fill_unsampled, averages are copied before the host's memory goes");
}

std::vector<std::string> OnebitLamb::more_notices() const {
  auto const sampled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sampled_);
  std::string names;
  for (std::size_t l = 0; l < sampled.extent(0); ++l)
    if (sampled(l) == 0) names += (names.empty() ? "" : ", ") + layout().tensors()[l].name;
  if (names.empty()) return {};
  return {"tensors without a trust ratio so far, which use min(1, optimizer.max_coefficient): " + names};
}

void OnebitLamb::compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients,
                                   StepScalars const& scalars, StepReport& report) {
  auto const& blocks = record().blocks();
  auto const& gradient_check = record().gradient_check();
  auto const layers = numbers();
  auto const c = coefficients<float>(config(), scalars.step);
  auto const units = compressed().units(variance());
  auto const before = held_momentum();
  float* const fresh = fresh_ ? fresh_->data() : nullptr;
  auto const mean = with_exchange_form(units, c, before, gradients.data(), gradient_check.data(),
                                       [&](auto const& form) { return compressed().exchange(exec, form, report); });
  if (keeps_bits())
    bit_lamb_sums(exec, blocks, rules(), c, units, mean, before, gradient_check, parameters.data(),
                  scalars.layers ? gradients.data() : nullptr, fresh_ ? fresh_before().data() : nullptr, fresh, norms_);
  else
    onebit_lamb_moments(exec, blocks, rules(), c, units, mean, gradient_check, parameters.data(), variance()->data(),
                        gradients.data(), momentum(), fresh, norms_);
  if (fresh_) {
    onebit_lamb_factors(exec, blocks, rules(), {config().factor_min, config().factor_max, config().factor_threshold},
                        gradient_check, norms_, layers);
  } else {
    lamb_ratios(exec, blocks, rules(), trust_bounds(), gradient_check, squares(), layers.lamb);
    relate_ratios(exec, blocks.tensors(), gradient_check, layers);
  }
  if (keeps_bits()) {
    bit_apply(exec, blocks, rules(), units, mean, scalars.learning_rate, gradient_check, layers.lamb.trust_ratio,
              parameters.data(), nullptr);
    keep_bits(exec, mean);
    return;
  }
  lamb_apply(exec, blocks, scalars.learning_rate, gradient_check, layers.lamb, gradients.data(), parameters.data());
}

void OnebitLamb::visit_dense(StateVisitor& visit) {
  visit.replicated("sampled", {sampled_.data(), sampled_.extent(0)});
}

void OnebitLamb::visit_compressed(StateVisitor& visit) {
  if (fresh_) visit.replicated(fresh_name, fresh_before().span());
}

void OnebitLamb::leave_compressed(Exec const& exec, StateVisitor& visit) {
  visit.drop(fresh_name);
  fill_unsampled(exec, 0);
  Kokkos::deep_copy(exec, record().values(Place::factor), 1.0f);
}

std::int64_t OnebitLamb::more_bytes() const {
  return static_cast<std::int64_t>(sampled_.extent(0) * sizeof(float) + norms_.extent(0) * sizeof(double));
}

std::int64_t OnebitLamb::more_compressed_bytes() const {
  return config().steer == Steer::variance ? layout().count() * static_cast<std::int64_t>(sizeof(float)) : 0;
}

}  // namespace bellwether::optim
