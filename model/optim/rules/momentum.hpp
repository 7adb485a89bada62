// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "model/optim/rules/sign_momentum.hpp"

#include <optional>

namespace bellwether::optim {

/// The momentum of a rule: numbers (n), or one bit an element once an exchange of momenta has computed it. It is the
/// only owner of either form. After store_in_bits(), the first exchange still reads the numbers; they are freed when a
/// step has replaced them.
class Momentum {
 public:
  Momentum(Exec const& exec, ParameterLayout const& layout);

  /// Returns the numbers (n). Only while there are numbers.
  float* numbers() const { return numbers_->data(); }
  /// Returns the numbers; nullptr once the momentum is in bits.
  Arena<> const* arena() const { return numbers_ ? &*numbers_ : nullptr; }
  /// Returns whether exchanges replace the momentum by bits.
  bool in_bits() const { return bits_.has_value(); }
  /// Returns the momentum after the last step, for kernels.
  HeldMomentum held() const { return numbers_ ? HeldMomentum{.numbers = numbers_->data()} : made(); }
  /// Returns the result of the exchange just kept; in_bits() only.
  HeldMomentum made() const { return {.bits = bits_->view(active_)}; }

  /// Makes the results of exchanges the momentum from the next one on. steps: number of steps made so far.
  void store_in_bits(std::int64_t steps);
  /// Sets the mask of active elements, (ceil(n / 32)), and the units of bits. Both must remain valid.
  void set_units(std::uint32_t const* active, Units const& units);
  /// Copies the result of an exchange, unless the gradient check says skip. growth: (tensors) rho of its units.
  void keep(comm::Decoded const& mean, float const* growth, Vec<GradientCheck> const& gradient_check);
  /// Frees the numbers if an applied step has replaced them. steps: number of steps made so far.
  void free_read_numbers(std::int64_t steps);

  /// Visits the momentum as numbers.
  void visit_state(StateVisitor& visit);
  /// Visits what distinguishes a momentum in bits. Reading: converts the numbers just read to bits. growth: (tensors)
  /// rho of their units. steps: number of steps made so far.
  void visit_bits(StateVisitor& visit, Vec<float> const& growth, std::int64_t steps);
  static void drop_bits(StateVisitor& visit);

  std::int64_t number_bytes() const { return count_ * static_cast<std::int64_t>(sizeof(float)); }
  std::int64_t bit_bytes() const { return SignMomentum::predicted_bytes(count_, tensors_); }

 private:
  Exec exec_;
  Index count_, tensors_;
  std::optional<Arena<>> numbers_;
  std::optional<SignMomentum> bits_;
  std::uint32_t const* active_ = nullptr;
  Units units_;
  std::int64_t read_at_ = 0;  // number of steps when the numbers that the next exchange reads were computed
};

}  // namespace bellwether::optim
