// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/lamb.hpp"

#include "core/system/error.hpp"
#include "model/optim/registry.hpp"
#include "model/optim/rules/bit_kernels.hpp"
#include "model/optim/rules/dense_kernels.hpp"

#include <algorithm>

namespace bellwether::optim {
namespace {

/// Indices of the numbers by tensor in the record.
struct Place {
  static constexpr std::size_t trust_ratio = 0, weight_norm = 1, update_norm = 2, average = 3, factor = 4;
};

constexpr auto fresh_name = "fresh_variance";

// With a sign momentum, the sums read x, the new bits and, unless bits are in its units, the variance. With steer:
// variance they also read the variance and the old bits, and read and write f. Then apply reads x, v and the bits
// again, and writes x.
std::vector<KernelBound> decoded_lamb_kernels(DecodedMean const& mean) {
  constexpr double bit = 1.0 / 8;
  double const fresh = mean.fresh ? 8 : 0, variance = mean.by_root ? 0 : 4, apply = 8 + variance;
  double const sums = 4 + (mean.fresh ? 4 : variance) + fresh;
  int const sets = mean.fresh ? 2 : 1;
  if (mean.in_bits)
    return {{"bellwether::optim::bit_lamb_sums", sums + sets * bit, sums + sets * mean.bytes},
            {"bellwether::optim::bit_apply", apply + bit, apply + mean.bytes},
            {"bellwether::optim::keep_momentum_bits", 0, 4 * bit}};
  // Read m, v, x; write m, u; read and write f if there is one.
  return {{"bellwether::optim::decoded_lamb_moments", mean.momenta ? sums + sets * bit : 20.25 + fresh,
           20 + fresh + mean.bytes},
          {"bellwether::optim::lamb_apply", mean.momenta ? apply + bit : 12, 12}};
}

}  // namespace

Lamb::Lamb(OptimizerConfig const& settings, OptimizerContext const& context, Freezing freezing)
    : UpdateRule(settings, context),
      layout_(context.layout),
      freezing_(freezing),
      momentum_(context.exec, context.layout),
      variance_(context.layout, "bellwether::optim::variance"),
      blocks_(std::ssize(cut_into_blocks(context.layout))),
      norms_("bellwether::optim::norms", static_cast<std::size_t>((freezing == Freezing::possible ? 4 : 2) * blocks_)),
      sampled_("bellwether::optim::sampled",
               freezing == Freezing::possible ? context.layout.tensors().size() : std::size_t{0}) {
  if (config().min_coefficient > config().max_coefficient)
    throw InputError(
        "optimizer.min_coefficient is above optimizer.max_coefficient; allowed: at most optimizer.max_coefficient");
}

std::vector<std::string_view> Lamb::quantities() const {
  std::vector<std::string_view> names{"trust_ratio", "weight_norm", "update_norm"};
  if (freezing_ == Freezing::possible) names.insert(names.end(), {"average", "factor"});
  return names;
}

FrozenLambRecord Lamb::numbers(StepRecord const& record) const {
  bool const freezes = freezing_ == Freezing::possible;
  return {
      .lamb = {record.layer(Place::trust_ratio), record.layer(Place::weight_norm), record.layer(Place::update_norm)},
      .average = freezes ? record.layer(Place::average) : nullptr,
      .factor = freezes ? record.layer(Place::factor) : nullptr,
      .sampled = sampled_.data()};
}

Vec<double> Lamb::squares() const { return Vec<double>(norms_.data(), static_cast<std::size_t>(2 * blocks_)); }

TrustBounds Lamb::trust_bounds() const { return {config().min_coefficient, config().max_coefficient}; }

float const* Lamb::rate_factors(StepRecord const& record) const { return record.layer(Place::trust_ratio); }

void Lamb::begin(Exec const& exec, StepRecord const& record) {
  if (freezing_ == Freezing::possible) Kokkos::deep_copy(exec, record.values(Place::factor), 1.0f);
}

void Lamb::update(RuleStep const& step, ReducedGradient const& gradient) {
  if (gradient.in_memory())
    dense_update(step, gradient.values);
  else
    frozen_update(step, gradient);
}

void Lamb::dense_update(RuleStep const& step, float* gradient) {
  auto const& exec = step.exec;
  auto const context = step.context(tensors());
  auto const layers = numbers(step.record);
  float* const parameters = step.parameters.data();
  lamb_moments(exec, context,
               {.coefficients = coefficients<float>(config(), step.scalars.step),
                .parameters = parameters,
                .gradient = gradient,
                .momentum = momentum_.numbers(),
                .variance = variance_.data()},
               squares());
  lamb_ratios(exec, context, trust_bounds(), squares(), layers.lamb);
  if (freezing_ == Freezing::possible)
    average_ratios(exec, context.table.tensors(), config().coefficient_beta, context.gradient_check, layers);
  lamb_apply(exec, context,
             {.learning_rate = step.scalars.learning_rate,
              .ratios = layers.lamb.trust_ratio,
              .update = gradient,
              .parameters = parameters});
}

void Lamb::frozen_update(RuleStep const& step, ReducedGradient const& gradient) {
  auto const& exec = step.exec;
  auto const context = step.context(tensors());
  auto const& [_, mean, units] = gradient;
  auto const layers = numbers(step.record);
  auto const c = coefficients<float>(config(), step.scalars.step);
  double const rate = step.scalars.learning_rate;
  float const* const ratios = layers.lamb.trust_ratio;
  float* const parameters = step.parameters.data();
  float* const fresh = fresh_ ? fresh_->data() : nullptr;
  bool const in_bits = momentum_.in_bits();
  if (in_bits)
    bit_lamb_sums(exec, context,
                  {.coefficients = c,
                   .units = units,
                   .mean = mean,
                   .before = momentum_.held(),
                   .parameters = parameters,
                   .direction = step.scalars.layers ? step.scratch : nullptr,
                   .fresh = fresh},
                  norms_);
  else
    decoded_lamb_moments(exec, context,
                         {.coefficients = c,
                          .units = units,
                          .mean = mean,
                          .parameters = parameters,
                          .variance = variance_.data(),
                          .direction = step.scratch,
                          .momentum = momentum_.numbers(),
                          .fresh = fresh},
                         norms_);
  if (fresh_) {
    decoded_lamb_factors(exec, context, {config().factor_min, config().factor_max, config().factor_threshold}, norms_,
                         layers);
  } else {
    lamb_ratios(exec, context, trust_bounds(), squares(), layers.lamb);
    relate_ratios(exec, context.table.tensors(), context.gradient_check, layers);
  }
  if (in_bits) {
    bit_apply(exec, context,
              {.units = units,
               .mean = mean,
               .learning_rate = rate,
               .ratios = ratios,
               .parameters = parameters,
               .direction = nullptr});
    momentum_.keep(mean, units.growth, context.gradient_check);
    return;
  }
  lamb_apply(exec, context,
             {.learning_rate = rate, .ratios = ratios, .update = step.scratch, .parameters = parameters});
}

void Lamb::visit_state(StateVisitor& visit) {
  momentum_.visit_state(visit);
  visit.array(replicated("variance").not_negative(), variance_.span());
  if (freezing_ == Freezing::possible) visit.array(replicated("sampled"), {sampled_.data(), sampled_.extent(0)});
}

void Lamb::allocate_fresh() {
  if (config().steer == Steer::variance && !fresh_)
    fresh_ = std::make_unique<Arena<>>(layout_, "bellwether::optim::fresh_variance");
}

void Lamb::freeze(Exec const& exec, StepRecord const& record) {
  allocate_fresh();
  if (fresh_) Kokkos::deep_copy(exec, fresh_->flat(), variance_.flat());
  // A tensor without a ratio so far uses the largest one that LAMB's first step could have.
  fill_unsampled(exec, record, static_cast<float>(std::min(1.0, config().max_coefficient)));
}

void Lamb::fill_unsampled(Exec const& exec, StepRecord const& record, float average) {
  auto const averages = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), record.values(Place::average));
  auto const sampled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sampled_);
  for (std::size_t l = 0; l < sampled.extent(0); ++l)
    if (sampled(l) == 0) averages(l) = average;
  Kokkos::deep_copy(exec, record.values(Place::average), averages);
  exec.fence("bellwether::optim::fill_unsampled, averages are copied before the host's memory goes");
}

std::vector<std::string> Lamb::freeze_notices(ParameterLayout const& layout) const {
  auto const sampled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sampled_);
  std::string names;
  for (std::size_t l = 0; l < sampled.extent(0); ++l)
    if (sampled(l) == 0) names += (names.empty() ? "" : ", ") + layout.tensors()[l].name;
  if (names.empty()) return {};
  return {"tensors without a trust ratio so far, which use min(1, optimizer.max_coefficient): " + names};
}

void Lamb::visit_frozen(StateVisitor& visit) {
  allocate_fresh();
  if (fresh_) visit.array(replicated(fresh_name), fresh_->span());
}

void Lamb::thaw(Exec const& exec, StepRecord const& record, StateVisitor& visit) {
  visit.drop(fresh_name);
  fill_unsampled(exec, record, 0);
  Kokkos::deep_copy(exec, record.values(Place::factor), 1.0f);
}

std::int64_t Lamb::bytes() const {
  return momentum_.number_bytes() + static_cast<std::int64_t>(variance_.span().size_bytes()) + tensor_bytes() +
         static_cast<std::int64_t>(sampled_.extent(0) * sizeof(float) + norms_.extent(0) * sizeof(double));
}

std::int64_t Lamb::frozen_bytes() const {
  return config().steer == Steer::variance && freezing_ == Freezing::possible
             ? static_cast<std::int64_t>(variance_.span().size_bytes())
             : 0;
}

RuleEntry lamb_rule() {
  return {.name = "lamb",
          .title = "LAMB",
          .help = "layer-wise adaptive rates: Adam's direction, scaled for each tensor by a trust ratio",
          .traits = {.variance = true, .bias_correction = true, .trust_ratio = true, .decodes = true},
          .make = [](OptimizerConfig const& config, OptimizerContext const& context, Freezing freezing)
              -> std::unique_ptr<UpdateRule> { return std::make_unique<Lamb>(config, context, freezing); },
          .dense_kernels =
              [] {
                return std::vector<KernelBound>{
                    {"bellwether::optim::lamb_moments", 28, 28},  // read g, m, v, x; write m, v, u
                    {"bellwether::optim::lamb_apply", 12, 12}};   // read u, x; write x
              },
          .decoded_kernels = decoded_lamb_kernels};
}

}  // namespace bellwether::optim
