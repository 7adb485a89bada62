// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/momentum.hpp"

namespace bellwether::optim {
namespace {

constexpr auto in_bits_name = "momentum_in_bits", magnitudes_name = "momentum_magnitudes";

}  // namespace

Momentum::Momentum(Exec const& exec, ParameterLayout const& layout)
    : exec_(exec),
      count_(layout.count()),
      tensors_(std::ssize(layout.tensors())),
      numbers_(std::in_place, layout, "bellwether::optim::momentum") {}

void Momentum::store_in_bits(std::int64_t steps) {
  if (!bits_) bits_.emplace(count_, tensors_);
  read_at_ = steps;
}

void Momentum::set_units(std::uint32_t const* active, Units const& units) {
  active_ = active;
  units_ = units;
}

void Momentum::keep(comm::Decoded const& mean, float const* growth, Vec<GradientCheck> const& gradient_check) {
  bits_->keep(exec_, mean, growth, gradient_check);
}

// A skipped step does not count, because it has not stored the bits.
void Momentum::free_read_numbers(std::int64_t steps) {
  if (bits_ && steps > read_at_) numbers_.reset();
}

void Momentum::visit_state(StateVisitor& visit) {
  constexpr auto name = "momentum";
  if (numbers_)
    visit.array(replicated(name), numbers_->span());
  else
    visit.formed(name, MomentumNumbers(exec_, count_, bits_->view(active_), units_));
}

void Momentum::visit_bits(StateVisitor& visit, Vec<float> const& growth, std::int64_t steps) {
  std::int64_t in_bits = bits_ && !numbers_ ? 1 : 0;
  if (visit.has(in_bits_name)) visit.scalar(counter(in_bits_name), in_bits);
  store_in_bits(steps);
  if (in_bits == 0) return;
  visit.array(replicated(magnitudes_name).not_negative(), bits_->magnitudes());
  if (!numbers_) return;
  bits_->take_signs(exec_, numbers_->data());
  Kokkos::deep_copy(exec_, bits_->growth(), growth);
  exec_.fence("bellwether::optim::visit_bits, signs are taken before the numbers go");
  numbers_.reset();
}

void Momentum::drop_bits(StateVisitor& visit) {
  visit.drop(in_bits_name);
  visit.drop(magnitudes_name);
}

}  // namespace bellwether::optim
