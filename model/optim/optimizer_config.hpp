// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "core/config_visitor.hpp"
#include "model/optim/method.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::optim {

enum class Unify { layer, element, none };        ///< units in which momenta share one scale
enum class Exchange { gradient, momentum };       ///< what is compressed after the freeze
enum class FrozenVariance { shape, whole };       ///< the part of the variance that is fixed after the freeze
enum class Steer { variance, norm };              ///< what changes the rate of a tensor after the freeze
enum class CompressedClip { sketch, local_rms };  ///< the norm for clipping when no mean gradient exists

/// Steps before and after a freeze that are reported in more detail.
inline constexpr std::int64_t freeze_surroundings = 10;

/// When a 1-bit method stops averaging gradients and freezes its variance.
struct FreezeConfig {
  std::optional<std::int64_t> step;  ///< T_w, real steps before the freeze; not set: chosen during training
  double latest = 0.25;              ///< share of all steps

  /// Returns the last possible freeze, in real steps, of a run of `steps` without a fixed freeze step.
  std::int64_t latest_step(std::int64_t steps) const {
    // 0.07 of 100 steps is a little more than 7 in binary.
    auto const share = static_cast<std::int64_t>(std::ceil(latest * static_cast<double>(steps) - 1e-9));
    return std::max<std::int64_t>(2, share);
  }
};

/// Deck section `optimizer`.
struct OptimizerConfig {
  Method method;
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool bias_correction = false;
  double min_coefficient = 0.01;
  double max_coefficient = 0.3;
  FreezeConfig freeze;
  double gradient_limit = 1;
  double coefficient_beta = 0.9;
  Exchange exchange = Exchange::gradient;
  bool nesterov = false;
  double step_ahead = 1;
  FrozenVariance frozen_variance = FrozenVariance::shape;
  Steer steer = Steer::norm;
  double factor_min = 0.5;
  double factor_max = 4.0;
  double factor_threshold = 0.1;
  Unify unify = Unify::element;
  comm::Scale scale = comm::Scale::mean_magnitude;
  double clip = 1.0;
  CompressedClip clip_norm = CompressedClip::sketch;
  std::int64_t sketch_columns = 16384;
  std::int64_t sketch_every = 1;
  std::optional<double> norm_limit;
  std::int64_t skip_limit = 20;

  /// Returns whether the sums of the frozen variance by tensor are updated.
  bool variance_grows() const {
    if (frozen_variance != FrozenVariance::shape || !freezes_variance(method)) return false;
    return !has_trust_ratio(method) || steer == Steer::norm;
  }

  /// Returns the factor of the momentum's last change that the update after the freeze adds to the momentum.
  double lead() const { return nesterov && exchange == Exchange::gradient ? beta1 : 0; }

  /// Returns the fields that no run may change after the freeze, because they determine the units of the residuals or
  /// which state exists.
  std::vector<std::string_view> keys_fixed_at_freeze() const {
    std::vector<std::string_view> names{"exchange", "frozen_variance", "steer", "unify"};
    if (unify == Unify::element) names.push_back("epsilon");
    if (exchange == Exchange::momentum) names.push_back("beta1");
    return names;
  }

  void describe(ConfigVisitor& visit) {
    auto const methods = named_methods();
    std::vector<std::string> names;
    for (auto const& each : methods) names.push_back(name_of(each));
    auto index = static_cast<int>(std::ranges::find(methods, method) - methods.begin());
    visit.choice({.name = "method",
                  .help = "update rule; the onebit methods average gradients before the freeze and send one bit an "
                          "element after it"},
                 {names.begin(), names.end()}, index);
    method = methods.at(static_cast<std::size_t>(index));
    auto const adaptive_methods = methods_where(has_variance), onebit_methods = methods_where(optim::compresses),
               freezing_methods = methods_where(optim::freezes_variance),
               trust_methods = methods_where(has_trust_ratio), onebit_trust_methods = methods_where(averages_ratios);
    bool const trusts = has_trust_ratio(method);
    bool const adaptive = has_variance(method);
    bool const compresses = optim::compresses(method);
    bool const freezes_variance = optim::freezes_variance(method);
    bool const averages = averages_ratios(method);
    visit.field({.name = "lr", .help = "peak learning rate; the schedule scales it", .minimum = 0, .maximum = 1e6}, lr);
    visit.field(
        {.name = "beta1", .help = "decay of the momentum", .minimum = 0, .maximum = 1, .maximum_allowed = false},
        beta1);
    visit.field({.name = "beta2",
                 .help = "decay of the variance",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false,
                 .only_with = adaptive_methods,
                 .applies = adaptive},
                beta2);
    visit.field({.name = "epsilon",
                 .help = "added to the root of the variance",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false,
                 .only_with = adaptive_methods,
                 .applies = adaptive},
                epsilon);
    visit.field({.name = "weight_decay",
                 .help = "decoupled decay of matrices and embeddings; biases and layer norms never decay",
                 .minimum = 0,
                 .maximum = 10},
                weight_decay);
    visit.field({.name = "bias_correction",
                 .help = "divide momentum and variance by 1 - beta^t; usual with AdamW, off in the 1-bit LAMB paper's "
                         "LAMB, not possible with the onebit methods"},
                bias_correction);
    visit.field({.name = "min_coefficient",
                 .help = "lower bound of the trust ratio",
                 .minimum = 0,
                 .maximum = 1e6,
                 .only_with = trust_methods,
                 .applies = trusts},
                min_coefficient);
    visit.field({.name = "max_coefficient",
                 .help = "upper bound of the trust ratio",
                 .minimum = 0,
                 .maximum = 1e6,
                 .minimum_allowed = false,
                 .only_with = trust_methods,
                 .applies = trusts},
                max_coefficient);
    visit.field({.name = "freeze.step",
                 .help = "real steps before the variance is frozen and compression begins; not set ('freeze: auto'): "
                         "once the variance has settled. At least 2; with 'onebit_sgd', which has no variance, at "
                         "least 0, which compresses from the first step on",
                 .unit = "steps",
                 .minimum = 0,
                 .maximum = 1e12,
                 .only_with = onebit_methods,
                 .applies = compresses},
                freeze.step);
    visit.field({.name = "freeze.latest",
                 .help = "if freeze.step is not set: share of all steps after which the freeze comes in any case",
                 .minimum = 0,
                 .maximum = 1,
                 .minimum_allowed = false,
                 .only_with = "freeze: auto",
                 .applies = compresses && !freeze.step},
                freeze.latest);
    visit.field({.name = "coefficient_beta",
                 .help = "decay of each tensor's average of trust ratios before the freeze",
                 .minimum = 0,
                 .maximum = 1,
                 .maximum_allowed = false,
                 .only_with = onebit_trust_methods,
                 .applies = averages},
                coefficient_beta);
    visit.choice(
        {.name = "exchange",
         .help =
             "what is compressed after the freeze: each rank's 'gradient', whose mean updates the momentum, or each "
             "rank's 'momentum', as in the 1-bit papers",
         .only_with = freezing_methods,
         .applies = freezes_variance},
        {"gradient", "momentum"}, exchange);
    visit.field(
        {.name = "nesterov",
         .help = "after the freeze the update uses Nesterov's momentum: m plus beta1 times the step's change of m; "
                 "this compensates the delay of error feedback",
         .only_with = "exchange: gradient",
         .applies = freezes_variance && exchange == Exchange::gradient},
        nesterov);
    visit.field({.name = "step_ahead",
                 .help = "after the freeze a rank evaluates gradients this share of the way from its parameters to "
                         "those that it would have without compression errors; 0: at its parameters",
                 .minimum = 0,
                 .maximum = 1,
                 .only_with = "exchange: gradient",
                 .applies = compresses && (!freezes_variance || exchange == Exchange::gradient)},
                step_ahead);
    visit.choice({.name = "steer",
                  .help = "what scales the rate of each tensor after the freeze. With 'norm': LAMB's trust ratio of "
                          "the actual update. With 'variance', as in the 1-bit LAMB paper: the average ratio before "
                          "the freeze times a factor r from the frozen and a fresh variance",
                  .only_with = onebit_trust_methods,
                  .applies = averages},
                 {"variance", "norm"}, steer);
    visit.choice({.name = "frozen_variance",
                  .help = "what is frozen of the variance. With 'shape': its shape inside each tensor, while the "
                          "tensor's sum follows the norm of its mean gradient, which a sketch estimates. With 'whole', "
                          "as in the papers: all of it",
                  .only_with = "method: onebit_adam, or onebit_lamb and steer: norm",
                  .applies = freezes_variance && (!trusts || steer == Steer::norm)},
                 {"shape", "whole"}, frozen_variance);
    visit.field({.name = "factor_min",
                 .help = "lower bound of the factor r on the averaged trust ratio",
                 .minimum = 0,
                 .maximum = 1e6,
                 .minimum_allowed = false,
                 .only_with = "steer: variance",
                 .applies = averages && steer == Steer::variance},
                factor_min);
    visit.field({.name = "factor_max",
                 .help = "upper bound of the factor r",
                 .minimum = 0,
                 .maximum = 1e6,
                 .minimum_allowed = false,
                 .only_with = "steer: variance",
                 .applies = averages && steer == Steer::variance},
                factor_max);
    visit.field({.name = "factor_threshold",
                 .help = "largest relative change of the factor r from one step to the next",
                 .minimum = 0,
                 .maximum = 1,
                 .only_with = "steer: variance",
                 .applies = averages && steer == Steer::variance},
                factor_threshold);
    visit.choice({.name = "unify",
                  .help = "units of the exchange, before elements share one scale. With 'element': values are divided "
                          "by the root of the frozen variance. With 'layer', as in the 1-bit LAMB paper: each tensor "
                          "is brought to one magnitude. With 'none': values are not scaled",
                  .only_with = freezing_methods,
                  .applies = freezes_variance},
                 {"layer", "element", "none"}, unify);
    visit.choice(
        {.name = "scale",
         .help = "magnitude that a bit stands for: the mean magnitude leaves the smallest residual; the root mean "
                 "square preserves the norm, as in the 1-bit papers",
         .only_with = onebit_methods,
         .applies = compresses},
        {"rms", "mean_magnitude"}, scale);
    visit.field(
        {.name = "gradient_limit",
         .help =
             "after the freeze, elements of a rank's gradient are clamped to this times sqrt(ranks / (1 - beta2)) "
             "roots of their frozen variance. Before the freeze the variance bounds elements alike, because an element "
             "also raises its own variance. 0: no limit",
         .minimum = 0,
         .maximum = 1e6,
         .only_with = "unify: element",
         .applies = freezes_variance && unify == Unify::element},
        gradient_limit);
    visit.field({.name = "clip",
                 .help = "largest global norm of the mean gradient; 0 turns clipping off",
                 .minimum = 0,
                 .maximum = 1e9},
                clip);
    visit.choice({.name = "clip_norm",
                  .help = "norm for clipping after the freeze: 'sketch' estimates the norm of the mean gradient from a "
                          "sketch, 'local_rms' is the root mean square of the ranks' local norms",
                  .only_with = onebit_methods,
                  .applies = compresses},
                 {"sketch", "local_rms"}, clip_norm);
    visit.field({.name = "sketch_columns",
                 .help = "columns of the sketch, a multiple of 128; the relative error of the norm is near 1/sqrt(2 "
                         "columns), and a column takes 4 bytes",
                 .minimum = 128,
                 .maximum = 1 << 24,
                 .only_with = "clip_norm: sketch",
                 .applies = compresses && clip_norm == CompressedClip::sketch},
                sketch_columns);
    visit.field({.name = "sketch_every",
                 .help = "steps from one sketch to the next; between sketches the norm is estimated from the ranks' "
                         "local norms and the ratio that the last sketch found",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1000000,
                 .only_with = "clip_norm: sketch",
                 .applies = compresses && clip_norm == CompressedClip::sketch},
                sketch_every);
    visit.field({.name = "norm_limit",
                 .help = "skip a step whose gradient norm is more than this times the mean of about the last 100 "
                         "steps. Applies from the 21st step on. Not set: no limit",
                 .minimum = 1,
                 .maximum = 1e6,
                 .minimum_allowed = false},
                norm_limit);
    visit.field({.name = "skip_limit",
                 .help = "consecutive skipped steps after which the run ends with a checkpoint",
                 .unit = "steps",
                 .minimum = 1,
                 .maximum = 1000000},
                skip_limit);
  }
};

}  // namespace bellwether::optim
