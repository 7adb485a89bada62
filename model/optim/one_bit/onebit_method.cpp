// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/one_bit/onebit_method.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <limits>

namespace bellwether::optim {
namespace {

bool sums_norms(std::vector<std::string_view> const& names) {
  return std::ranges::find(names, "update_norm") != names.end();
}

/// Adds to the method's names: UpdateRecord, the growth of the frozen variance, and comm::CompressionShares.
std::vector<std::string_view> with_common(std::vector<std::string_view> names, bool freezes_variance) {
  if (!sums_norms(names)) names.insert(names.end(), {"weight_norm", "update_norm"});
  names.insert(names.end(), {"momentum_norm", "largest_update"});
  if (freezes_variance) names.push_back("root_growth");
  names.insert(names.end(), comm::CompressionShares::names().begin(), comm::CompressionShares::names().end());
  return names;
}

constexpr auto momentum_name = "momentum", in_bits_name = "momentum_in_bits", magnitudes_name = "momentum_magnitudes";

std::string thaw_notice(std::int64_t frozen_after, std::int64_t freeze) {
  return "the freeze after step " + std::to_string(frozen_after) + " is undone: dense steps until step " +
         std::to_string(freeze) + "; compression errors are dropped";
}

}  // namespace

OnebitMethod::OnebitMethod(OptimizerConfig const& config, OptimizerContext const& context, Variance variance,
                           std::vector<std::string_view> const& quantities)
    : config_(config),
      context_(context),
      momentum_(std::in_place, context.layout, "bellwether::optim::momentum"),
      rules_(tensor_rules<Exec>(context.layout, config.weight_decay)),
      record_(config, context, with_common(quantities, variance == Variance::frozen_at_freeze)),
      sums_norms_(sums_norms(quantities)),
      norms_at_(quantities.size()),
      growth_at_(norms_at_ + (sums_norms_ ? 2 : 4)),
      shares_at_(growth_at_ + (variance == Variance::frozen_at_freeze ? 1 : 0)),
      update_sums_("bellwether::optim::update_sums", static_cast<std::size_t>(update_sums * record_.blocks().count())),
      dense_(std::make_unique<DenseStep>(config, context, record_)),
      freeze_point_(config, context.steps, context.rate_warmup_steps) {
  // The papers run these methods without bias correction, and a frozen variance has no step to be corrected for.
  config_.bias_correction = false;
  clear_compressed_record(context.exec);
  if (variance == Variance::none) return;
  variance_.emplace(context.layout, "bellwether::optim::variance");
  drift_.emplace(record_.blocks());
}

/// Sets the numbers by layer that not every step writes to NaN.
void OnebitMethod::clear_compressed_record(Exec const& exec) {
  for (std::size_t i = norms_at_; i < shares_at_ + comm::CompressionShares::names().size(); ++i)
    Kokkos::deep_copy(exec, record_.values(i), std::numeric_limits<float>::quiet_NaN());
}

bool OnebitMethod::will_keep_bits() const {
  return variance_ && config_.exchange == Exchange::momentum && CompressedPhase::compresses(context_);
}

/// Frees the momentum's numbers once an applied step has stored the sign momentum. A skipped step does not count.
void OnebitMethod::release_read_momentum() {
  // Call applied_steps() even if nothing is left to free: it waits for the last step, whose momentum callers read next.
  if (!bits_ || record_.applied_steps() <= read_at_) return;
  momentum_.reset();
  given_ = nullptr;
}

HeldMomentum OnebitMethod::held_momentum() const {
  float const* const numbers = momentum_ ? momentum_->data() : given_;
  if (numbers != nullptr) return {.numbers = numbers};
  return {.bits = bits_->view(compressed_->active())};
}

void OnebitMethod::keep_bits(Exec const& exec, comm::Decoded const& mean) {
  bits_->keep(exec, mean, compressed_->units(variance()).growth, record_.gradient_check());
}

Arena<> OnebitMethod::give_momentum() {
  given_ = momentum_->data();
  Arena<> memory = std::move(*momentum_);
  momentum_.reset();
  return memory;
}

void OnebitMethod::allocate() {
  dense_.reset();
  if (will_keep_bits() && !bits_) bits_.emplace(layout().count(), std::ssize(layout().tensors()));
  compressed_ = std::make_unique<CompressedPhase>(config_, context_, record_,
                                                  variance_ ? record_.values(growth_at_) : Vec<float>());
  if (steps_ahead()) {
    auto const last = compressed_->last_mean();
    ahead_ = std::make_unique<StepAhead>(layout(), last.origin, last.count);
  }
  survey_due_ = true;
}

bool OnebitMethod::freezes(Exec const& exec, std::int64_t step) {
  return dense_steps_ < 0 && freeze_point_.reached(step, [&](double factor) {
    return drift_->since_last(exec, variance_->data(), factor);
  });
}

void OnebitMethod::survey(Exec const& exec) {
  if (survey_due_) compressed_->survey(exec, variance(), momentum_ ? &*momentum_ : nullptr);
  survey_due_ = false;
}

void OnebitMethod::gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) {
  // A compressed step needs this rank's local gradients, and only step() decides whether the next step is compressed.
  if (dense_steps_ >= 0 || freeze_point_.possible(record_.applied_steps() + 1)) return;
  dense_->gradient_ready(exec, local_gradients, range);
}

void OnebitMethod::step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) {
  require(scalars.step >= 1, "steps count from 1");
  require(parameters.count() == layout().count() && local_gradients.count() == layout().count(),
          "arenas have another layout than the optimizer");
  release_read_momentum();
  if (ahead_) ahead_->update(exec);  // if gradient_point() was not called since the last step
  bool const freezing = freezes(exec, scalars.step);
  if (freezing) {
    require(!dense_->under_way(), "the freeze is not at the step that follows the last one");
    dense_steps_ = read_at_ = scalars.step - 1;
    if (variance_) Kokkos::deep_copy(exec, record_.values(growth_at_), 1.0f);
    allocate();
  }
  survey(exec);
  if (freezing) enter_compressed(exec);
  if (dense_steps_ < 0) {
    auto& report = dense_->reduce(exec, local_gradients);
    report.variance_check = freeze_point_.last_check();
    if (thawed_ >= 0) report.notices = {thaw_notice(thawed_, *config_.freeze.step)};
    thawed_ = -1;
    dense_update(exec, parameters, local_gradients, scalars);
  } else {
    auto& report = compressed_->check_gradient(exec, local_gradients, scalars.step, scalars.step - dense_steps_);
    if (freezing) report.notices = notices();
    report.variance_check = freeze_point_.last_check();
    compressed_update(exec, parameters, local_gradients, scalars, report);
    if (ahead_) ahead_->follow(compressed_->last_mean(), static_cast<float>(config_.beta1), record_.gradient_check());
    compressed_->measure_shares(exec, scalars.layers, record_.layer(shares_at_), report);
  }
  measure(exec, parameters, local_gradients, scalars);
  record_.close(exec);
}

bool OnebitMethod::steps_ahead() const {
  bool const gradients = !variance_ || config_.exchange == Exchange::gradient;
  return gradients && config_.step_ahead > 0 && CompressedPhase::leaves_residuals(context_);
}

float const* OnebitMethod::gradient_point(Exec const& exec, Arena<> const& parameters, double learning_rate) {
  if (!ahead_) return parameters.data();
  return ahead_->point(exec, record_.blocks(), compressed_->units(variance()), rate_factors(),
                       config_.step_ahead * reach() * learning_rate, parameters);
}

std::int64_t OnebitMethod::ahead_bytes() const {
  if (!steps_ahead()) return 0;
  return StepAhead::predicted_bytes(layout().count(), CompressedPhase::residual_count(config_, context_));
}

void OnebitMethod::measure(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients,
                           StepScalars const& scalars) {
  auto const at = [&](std::size_t i) { return record_.layer(norms_at_ + i); };
  auto const numbers =
      sums_norms_ ? UpdateRecord{nullptr, nullptr, at(0), at(1)} : UpdateRecord{at(0), at(1), at(2), at(3)};
  HeldMomentum const made =
      keeps_bits() ? HeldMomentum{.bits = bits_->view(compressed_->active())} : HeldMomentum{.numbers = momentum()};
  if (scalars.layers)
    measure_update(exec, record_.blocks(), rules_, made_step(gradients), scalars.learning_rate,
                   record_.gradient_check(), parameters.data(), made,
                   compressed_ ? compressed_->units(variance()) : Units{}, update_sums_, numbers);
  else
    forget_update(exec, record_.blocks().tensors(), record_.gradient_check(), numbers);
}

std::vector<std::string> OnebitMethod::notices() const {
  auto const sent = CompressedPhase::predicted_bytes(config_, context_);
  bool const compresses = sent.worker + sent.server > 0;
  std::vector<std::string> texts{(variance_ ? "the variance is frozen after step " : "compression begins after step ") +
                                 std::to_string(dense_steps_) +
                                 (compresses ? "; one bit an element is sent from here on"
                                             : "; gradients are not compressed, because there is only one " +
                                                   std::string(context_.groups.node ? "node" : "rank"))};
  if (auto const& names = compressed_->without_variance(); !names.empty())
    texts.push_back("elements without a gradient so far, which only weight decay changes from here on: " + names);
  for (auto& text : more_notices()) texts.push_back(std::move(text));
  return texts;
}

void OnebitMethod::consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const {
  if (out.data() != mine.data()) Kokkos::deep_copy(exec, out.flat(), mine.flat());
}

void OnebitMethod::visit_momentum(StateVisitor& visit) {
  auto const held = held_momentum();
  if (held.numbers == nullptr)
    visit.formed(momentum_name,
                 MomentumNumbers(context_.exec, layout().count(), held.bits, compressed_->units(variance())));
  else
    visit.replicated(momentum_name,
                     {momentum_ ? momentum_->data() : given_, static_cast<std::size_t>(layout().count())});
}

/// Visits the magnitudes of the momentum if it is in bits. Reading: converts the numbers just read to bits, before the
/// memory of the compressed phase is allocated.
void OnebitMethod::visit_bits(StateVisitor& visit) {
  std::int64_t in_bits = keeps_bits() && held_momentum().numbers == nullptr ? 1 : 0;
  if (visit.has(in_bits_name)) visit.count(in_bits_name, in_bits, 0);
  if (in_bits == 0) return;
  if (!bits_) bits_.emplace(layout().count(), std::ssize(layout().tensors()));
  visit.not_negative(magnitudes_name, bits_->magnitudes());
  if (!momentum_) return;
  bits_->take_signs(context_.exec, momentum_->data());
  Kokkos::deep_copy(context_.exec, bits_->growth(), record_.values(growth_at_));
  context_.exec.fence("bellwether::optim::visit_bits, signs are taken before the numbers go");
  momentum_.reset();
}

void OnebitMethod::visit_state(StateVisitor& visit) {
  release_read_momentum();
  visit_momentum(visit);
  if (variance_) visit.not_negative("variance", variance_->span());
  record_.visit_state(visit);
  freeze_point_.visit_state(visit);
  if (drift_) drift_->visit_state(visit);
  visit_dense(visit);
  bool const was_dense = dense_steps_ < 0;
  visit.count("dense_steps", dense_steps_, -1);
  if (dense_steps_ < 0) return;
  if (was_dense && config_.freeze.step && *config_.freeze.step > record_.applied_steps())
    return take_up_dense_steps(visit);
  if (will_keep_bits()) {
    visit_bits(visit);
  } else {
    visit.drop(in_bits_name);
    visit.drop(magnitudes_name);
  }
  read_at_ = record_.applied_steps();
  if (!compressed_) {
    allocate();
    allocate_compressed();
  }
  visit_compressed(visit);
  if (ahead_) ahead_->update(context_.exec);  // from the residuals of the last exchange
  compressed_->visit_state(visit);
  if (ahead_)
    ahead_->visit_state(visit);
  else
    StepAhead::drop_state(visit);
  // Masked elements must read as 0 even if the momentum is asked for before the next step.
  if (keeps_bits()) survey(context_.exec);
}

// The new freeze step is after the steps already made. Residuals are dropped, because their units end here.
void OnebitMethod::take_up_dense_steps(StateVisitor& visit) {
  Exec const& exec = context_.exec;
  thawed_ = dense_steps_;
  dense_steps_ = -1;
  if (variance_) VarianceGrowth::apply(visit, exec, record_.blocks(), variance_->data());
  clear_compressed_record(exec);
  leave_compressed(exec, visit);
  CompressedPhase::drop_state(visit);
  StepAhead::drop_state(visit);
  visit.drop(in_bits_name);
  visit.drop(magnitudes_name);
}

StepReport const& OnebitMethod::last_report() const {
  if (compressed_) record_.set_exchange(compressed_->last_report());
  return record_.report();
}

std::optional<std::int64_t> OnebitMethod::frozen_after() const {
  return dense_steps_ < 0 ? std::nullopt : std::optional(dense_steps_);
}

bool OnebitMethod::near_freeze(std::int64_t step) const {
  return dense_steps_ < 0 ? freeze_point_.near(step) : step <= dense_steps_ + freeze_surroundings;
}

std::optional<SentBytes> OnebitMethod::predicted_bytes(Phase phase) const {
  return phase == Phase::dense ? DenseStep::predicted_bytes(context_)
                               : CompressedPhase::predicted_bytes(config_, context_);
}

std::int64_t OnebitMethod::residual_bytes() const {
  return CompressedPhase::residual_count(config_, context_) * static_cast<std::int64_t>(sizeof(float)) *
         (steps_ahead() ? 2 : 1);
}

std::int64_t OnebitMethod::dense_bytes() const {
  return dense_ ? dense_->bytes() + layout().count() * static_cast<std::int64_t>(sizeof(float)) : 0;
}

std::int64_t OnebitMethod::compressed_bytes() const {
  return (compressed_ ? compressed_->bytes() : CompressedPhase::predicted_memory(config_, context_, record_.blocks())) +
         more_compressed_bytes() + ahead_bytes() + momentum_bytes();
}

std::int64_t OnebitMethod::freeze_bytes() const {
  return dense_ ? std::max<std::int64_t>(0, compressed_bytes() - dense_bytes()) : 0;
}

// Returns the size of the larger phase, since callers before the freeze need to know whether memory suffices.
std::int64_t OnebitMethod::state_bytes() const {
  auto const numbers = layout().count() * static_cast<std::int64_t>(sizeof(float));
  return (variance_ ? numbers : 0) +
         static_cast<std::int64_t>(rules_.extent(0) * sizeof(TensorRule) + update_sums_.extent(0) * sizeof(double)) +
         record_.bytes() + (drift_ ? drift_->bytes() : 0) + more_bytes() + std::max(dense_bytes(), compressed_bytes());
}

/// Returns the largest size after the freeze. Until the first exchange the numbers exist too, unless a method reuses
/// their memory.
std::int64_t OnebitMethod::momentum_bytes() const {
  auto const numbers = layout().count() * static_cast<std::int64_t>(sizeof(float));
  if (!will_keep_bits()) return numbers;
  bool const both = momentum_.has_value() && (dense_steps_ >= 0 || !takes_momentum());
  return SignMomentum::predicted_bytes(layout().count(), std::ssize(layout().tensors())) + (both ? numbers : 0);
}

}  // namespace bellwether::optim
