// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/one_bit.hpp"

#include "core/system/error.hpp"
#include "model/optim/strategies/one_bit/exchange_bounds.hpp"
#include "model/optim/strategies/one_bit/exchange_form.hpp"

#include <algorithm>
#include <limits>

namespace bellwether::optim {
namespace {

bool has_norms(std::vector<std::string_view> const& names) {
  return std::ranges::find(names, "update_norm") != names.end();
}

/// Adds to the rule's names: UpdateRecord, the growth of the frozen variance, and comm::CompressionShares.
std::vector<std::string_view> with_common(std::vector<std::string_view> names, bool freezes_variance) {
  if (!has_norms(names)) names.insert(names.end(), {"weight_norm", "update_norm"});
  names.insert(names.end(), {"momentum_norm", "largest_update"});
  if (freezes_variance) names.push_back("root_growth");
  names.insert(names.end(), comm::CompressionShares::names().begin(), comm::CompressionShares::names().end());
  return names;
}

/// The papers run these methods without bias correction, and a frozen variance has no step to be corrected for.
OptimizerConfig without_bias_correction(OptimizerConfig config) {
  config.bias_correction = false;
  return config;
}

std::string thaw_notice(std::int64_t frozen_after, std::int64_t freeze) {
  return "the freeze after step " + std::to_string(frozen_after) + " is undone: dense steps until step " +
         std::to_string(freeze) + "; compression errors are dropped";
}

}  // namespace

OneBit::OneBit(OptimizerConfig const& config, OptimizerContext const& context)
    : config_(without_bias_correction(config)),
      context_(context),
      rule_(make_rule(config_, context, Freezing::possible)),
      record_(config, context, with_common(rule_->quantities(), rule_->variance() != nullptr)),
      sums_norms_(has_norms(rule_->quantities())),
      norms_at_(rule_->quantities().size()),
      growth_at_(norms_at_ + (sums_norms_ ? 2 : 4)),
      shares_at_(growth_at_ + (rule_->variance() != nullptr ? 1 : 0)),
      update_sums_("bellwether::optim::update_sums", static_cast<std::size_t>(update_sums * record_.blocks().count())),
      dense_(std::make_unique<DenseStep>(config, context, record_)),
      freeze_point_(config, context.steps, context.rate_warmup_steps) {
  rule_->begin(context.exec, record_);
  clear_compressed_record(context.exec);
  if (rule_->variance() != nullptr) drift_.emplace(record_.blocks());
}

/// Sets the numbers by tensor that not every step writes to NaN.
void OneBit::clear_compressed_record(Exec const& exec) {
  for (std::size_t i = norms_at_; i < shares_at_ + comm::CompressionShares::names().size(); ++i)
    Kokkos::deep_copy(exec, record_.values(i), std::numeric_limits<float>::quiet_NaN());
}

bool OneBit::will_keep_bits() const {
  return rule_->variance() != nullptr && config_.exchange == Exchange::momentum &&
         CompressedPhase::compresses(context_);
}

void OneBit::free_read_momentum() {
  // Call applied_steps() in any case: it waits for the last step, whose momentum callers read next.
  auto const steps = record_.applied_steps();
  if (auto* const momentum = rule_->momentum()) momentum->free_read_numbers(steps);
}

bool OneBit::reaches_freeze(Exec const& exec, std::int64_t step) {
  return !compressing() && freeze_point_.reached(step, [&](double factor) {
    return drift_->since_last(exec, rule_->variance()->data(), factor);
  });
}

void OneBit::allocate_compressed() {
  bool const grows = rule_->variance() != nullptr;
  compressed_ =
      std::make_unique<CompressedPhase>(config_, context_, record_, grows ? record_.values(growth_at_) : Vec<float>());
  if (steps_ahead()) {
    auto const last = compressed_->last_mean();
    ahead_ = std::make_unique<StepAhead>(context_.layout, last.origin, last.count);
  }
  if (auto* const momentum = rule_->momentum())
    momentum->set_units(compressed_->active(), compressed_->units(rule_->variance()));
  survey_due_ = true;
}

void OneBit::freeze(Exec const& exec, std::int64_t step) {
  require(!dense_->under_way(), "the freeze is not at the step that follows the last one");
  dense_steps_ = step - 1;
  if (rule_->variance() != nullptr) Kokkos::deep_copy(exec, record_.values(growth_at_), 1.0f);
  dense_.reset();
  if (will_keep_bits()) rule_->momentum()->store_in_bits(dense_steps_);
  allocate_compressed();
  survey(exec);
  rule_->freeze(exec, record_);
}

void OneBit::survey(Exec const& exec) {
  auto* const momentum = rule_->momentum();
  if (survey_due_) compressed_->survey(exec, rule_->variance(), momentum != nullptr ? momentum->arena() : nullptr);
  survey_due_ = false;
}

void OneBit::gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) {
  // A compressed step needs this rank's local gradients, and only reduce() decides whether the next step is compressed.
  if (compressing() || freeze_point_.possible(record_.applied_steps() + 1)) return;
  dense_->gradient_ready(exec, local_gradients, range);
}

void OneBit::reduce(Exec const& exec, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(local_gradients.count() == context_.layout.count(), "arenas have another layout than the optimizer");
  free_read_momentum();
  if (ahead_) ahead_->update(exec);  // if gradient_point() was not called since the last step
  bool const freezing = reaches_freeze(exec, scalars.step);
  if (freezing) freeze(exec, scalars.step);
  if (compressing()) {
    survey(exec);
    auto& report = compressed_->reduce(exec, local_gradients, scalars.step, scalars.step - dense_steps_);
    if (freezing) report.notices = freeze_notices();
    report.variance_check = freeze_point_.last_check();
    return;
  }
  auto& report = dense_->reduce(exec, local_gradients);
  report.variance_check = freeze_point_.last_check();
  if (thawed_ >= 0) report.notices = {thaw_notice(thawed_, *config_.freeze.step)};
  thawed_ = -1;
}

void OneBit::check_gradient(Exec const& exec, Arena<> const& gradients) {
  if (compressing())
    compressed_->check_gradient(exec);
  else
    dense_->check_gradient(exec, gradients);
}

void OneBit::update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) {
  require(parameters.count() == context_.layout.count(), "arenas have another layout than the optimizer");
  RuleStep const step{
      .exec = exec, .record = record_, .parameters = parameters, .scratch = gradients.data(), .scalars = scalars};
  if (compressing()) {
    auto const mean = exchange(exec, parameters, gradients, scalars);
    rule_->update(step, {.decoded = mean, .units = compressed_->units(rule_->variance())});
    if (ahead_) ahead_->follow(compressed_->last_mean(), static_cast<float>(config_.beta1), record_.gradient_check());
    compressed_->measure_shares(exec, scalars.layers, record_.layer(shares_at_));
  } else {
    rule_->update(step, {.values = gradients.data()});
  }
  measure(exec, parameters, gradients, scalars);
  record_.close(exec);
}

comm::Decoded OneBit::exchange(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients,
                               StepScalars const& scalars) {
  GradientCheck const* const checked = record_.gradient_check().data();
  auto const units = compressed_->units(rule_->variance());
  auto const mean_of = [&](auto const& form) { return compressed_->exchange(exec, form); };
  if (rule_->decay_in_gradient()) {
    require_neighbours<Exec>(parameters.data(), gradients.data());
    return mean_of(GradientForm{units, rule_->tensors().data(), parameters.data(), gradients.data(), checked});
  }
  auto const* const momentum = rule_->momentum();
  return with_exchange_form(units, coefficients<float>(config_, scalars.step),
                            momentum != nullptr ? momentum->held() : HeldMomentum{}, gradients.data(), checked,
                            mean_of);
}

bool OneBit::steps_ahead() const {
  bool const gradients = rule_->variance() == nullptr || config_.exchange == Exchange::gradient;
  return gradients && config_.step_ahead > 0 && CompressedPhase::leaves_residuals(context_);
}

float const* OneBit::gradient_point(Exec const& exec, Arena<> const& parameters, double learning_rate) {
  if (!ahead_) return parameters.data();
  return ahead_->point(exec, record_.blocks(), compressed_->units(rule_->variance()), rule_->rate_factors(record_),
                       config_.step_ahead * rule_->reach() * learning_rate, parameters);
}

void OneBit::measure(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients,
                     StepScalars const& scalars) {
  auto const at = [&](std::size_t i) { return record_.layer(norms_at_ + i); };
  auto const numbers =
      sums_norms_ ? UpdateRecord{nullptr, nullptr, at(0), at(1)} : UpdateRecord{at(0), at(1), at(2), at(3)};
  auto const* const momentum = rule_->momentum();
  if (scalars.layers && momentum != nullptr)
    measure_update(exec,
                   {.table = record_.blocks(), .rules = rule_->tensors(), .gradient_check = record_.gradient_check()},
                   {.made = rule_->made_step(gradients.data()),
                    .learning_rate = scalars.learning_rate,
                    .parameters = parameters.data(),
                    .momentum = momentum->in_bits() ? momentum->made() : momentum->held(),
                    .units = compressed_ ? compressed_->units(rule_->variance()) : Units{}},
                   update_sums_, numbers);
  else
    forget_update(exec, record_.blocks().tensors(), record_.gradient_check(), numbers);
}

std::vector<std::string> OneBit::freeze_notices() const {
  auto const sent = CompressedPhase::predicted_bytes(config_, context_);
  bool const compresses = sent.worker + sent.server > 0;
  std::vector<std::string> texts{
      (rule_->variance() != nullptr ? "the variance is frozen after step " : "compression begins after step ") +
      std::to_string(dense_steps_) +
      (compresses ? "; one bit an element is sent from here on"
                  : "; gradients are not compressed, because there is only one " +
                        std::string(context_.groups.node ? "node" : "rank"))};
  if (auto const& names = compressed_->without_variance(); !names.empty())
    texts.push_back("elements without a gradient so far, which only weight decay changes from here on: " + names);
  for (auto& text : rule_->freeze_notices(context_.layout)) texts.push_back(std::move(text));
  return texts;
}

void OneBit::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void OneBit::visit_state(StateVisitor& visit) {
  free_read_momentum();
  rule_->visit_state(visit);
  record_.visit_state(visit);
  freeze_point_.visit_state(visit);
  if (drift_) drift_->visit_state(visit);
  bool const was_dense = !compressing();
  visit.scalar(counter("dense_steps", -1), dense_steps_);
  if (!compressing()) return;
  if (was_dense && config_.freeze.step && *config_.freeze.step > record_.applied_steps())
    return return_to_dense_steps(visit);
  // Reading: bits replace the momentum's numbers before the memory of the compressed phase is allocated.
  if (will_keep_bits())
    rule_->momentum()->visit_bits(visit, record_.values(growth_at_), record_.applied_steps());
  else
    Momentum::drop_bits(visit);
  dense_.reset();
  if (!compressed_) allocate_compressed();
  rule_->visit_frozen(visit);
  if (ahead_) ahead_->update(context_.exec);  // from the residuals of the last exchange
  compressed_->visit_state(visit);
  if (ahead_)
    ahead_->visit_state(visit);
  else
    StepAhead::drop_state(visit);
  // Masked elements must read as 0 even if the momentum is asked for before the next step.
  if (will_keep_bits()) survey(context_.exec);
}

// The new freeze step is after the steps already made. Residuals are dropped, because their units end here.
void OneBit::return_to_dense_steps(StateVisitor& visit) {
  Exec const& exec = context_.exec;
  thawed_ = dense_steps_;
  dense_steps_ = -1;
  if (rule_->variance() != nullptr) VarianceGrowth::apply(visit, exec, record_.blocks(), rule_->variance()->data());
  clear_compressed_record(exec);
  rule_->thaw(exec, record_, visit);
  CompressedPhase::drop_state(visit);
  StepAhead::drop_state(visit);
  Momentum::drop_bits(visit);
}

StepReport const& OneBit::last_report() const {
  if (compressed_) record_.set_exchange(compressed_->last_report());
  return record_.report();
}

std::optional<std::int64_t> OneBit::frozen_after() const {
  return compressing() ? std::optional(dense_steps_) : std::nullopt;
}

bool OneBit::near_freeze(std::int64_t step) const {
  return compressing() ? step <= dense_steps_ + freeze_surroundings : freeze_point_.near(step);
}

std::optional<SentBytes> OneBit::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? DenseStep::predicted_bytes(context_)
                               : CompressedPhase::predicted_bytes(config_, context_);
}

std::int64_t OneBit::residual_bytes() const {
  return CompressedPhase::residual_count(config_, context_) * static_cast<std::int64_t>(sizeof(float)) *
         (steps_ahead() ? 2 : 1);
}

std::int64_t OneBit::ahead_bytes() const {
  if (!steps_ahead()) return 0;
  return StepAhead::predicted_bytes(context_.layout.count(), CompressedPhase::residual_count(config_, context_));
}

// Until the first exchange has been applied, both forms of the momentum exist.
std::int64_t OneBit::momentum_bytes() const {
  auto const* const momentum = rule_->momentum();
  if (momentum == nullptr) return 0;
  if (!will_keep_bits()) return momentum->number_bytes();
  return momentum->bit_bytes() + (momentum->arena() != nullptr ? momentum->number_bytes() : 0);
}

std::int64_t OneBit::dense_bytes() const {
  auto const* const momentum = rule_->momentum();
  return dense_ ? dense_->bytes() + (momentum != nullptr ? momentum->number_bytes() : 0) : 0;
}

std::int64_t OneBit::compressed_bytes() const {
  return (compressed_ ? compressed_->bytes() : CompressedPhase::predicted_memory(config_, context_, record_.blocks())) +
         rule_->frozen_bytes() + ahead_bytes() + momentum_bytes();
}

std::int64_t OneBit::freeze_bytes() const {
  return dense_ ? std::max<std::int64_t>(0, compressed_bytes() - dense_bytes()) : 0;
}

// Returns the size of the larger phase, since callers before the freeze need to know whether memory suffices.
std::int64_t OneBit::state_bytes() const {
  auto const* const momentum = rule_->momentum();
  return rule_->bytes() - (momentum != nullptr ? momentum->number_bytes() : 0) +
         static_cast<std::int64_t>(update_sums_.extent(0) * sizeof(double)) + record_.bytes() +
         (drift_ ? drift_->bytes() : 0) + std::max(dense_bytes(), compressed_bytes());
}

StrategyEntry one_bit_strategy() {
  return {.name = "one_bit",
          .help = "ranks average gradients until the freeze, then exchange one bit an element with error feedback",
          .traits = {.compresses = true},
          .make = [](OptimizerConfig const& config, OptimizerContext const& context) -> std::unique_ptr<Optimizer> {
            return std::make_unique<OneBit>(config, context);
          },
          .refusal = [](RuleEntry const& rule) -> std::string {
            return rule.traits.decodes ? "" : std::string(rule.title) + " cannot update from a compressed mean";
          },
          .exchange_kernels = exchange_kernels,
          .decoded_mean = decoded_mean};
}

}  // namespace bellwether::optim
