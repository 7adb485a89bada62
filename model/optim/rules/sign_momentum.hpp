// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "core/layout/state_visitor.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/units.hpp"

namespace bellwether::optim {

/// The momentum that an exchange of momenta produced, for kernels: +-R of each element's chunk, +0 if masked, in the
/// units of that exchange.
struct MomentumBits {
  comm::Decoded mean;
  float const* growth = nullptr;  ///< (tensors) rho of those units

  /// Returns element k, which belongs to `tensor`.
  KOKKOS_INLINE_FUNCTION float at(Units const& units, Index k, std::int32_t tensor) const {
    return out_of_units(units, mean(k), growth[tensor], units.variance != nullptr ? units.variance[k] : 0, tensor);
  }
};

/// The momentum of a step: numbers, or nullptr and the bits of an exchange.
struct HeldMomentum {
  float const* numbers = nullptr;
  MomentumBits bits = {};

  KOKKOS_INLINE_FUNCTION float at(Units const& units, Index k, std::int32_t tensor) const {
    return numbers != nullptr ? numbers[k] : bits.at(units, k, tensor);
  }
};

/// Memory of a sign momentum: a sign for each element and a magnitude for each word, n / 4 bytes instead of 4 n. The
/// result of an exchange is all that 1-bit LAMB (arXiv 2104.06069) knows of the momentum. Numbers are computed from it
/// only to save or compare them.
class SignMomentum {
 public:
  /// n = count elements.
  SignMomentum(Index count, Index tensors);

  /// Copies the result of an exchange, unless the gradient check says skip. growth: (tensors) rho of its units.
  void keep(Exec const& exec, comm::Decoded const& mean, float const* growth, Vec<GradientCheck> const& gradient_check);
  /// Copies the signs of numbers that form() computed. The caller sets their magnitudes and rho.
  void take_signs(Exec const& exec, float const* numbers);
  /// Returns the momentum for kernels. active: (ceil(n / 32)) of the exchange.
  MomentumBits view(std::uint32_t const* active) const;
  std::span<float> magnitudes() const { return {magnitudes_.data(), magnitudes_.extent(0)}; }  ///< (ceil(n / 32))
  Vec<float> const& growth() const { return growth_; }                                         ///< (tensors)
  static std::int64_t predicted_bytes(Index count, Index tensors);

 private:
  Index count_;
  Vec<std::uint32_t> signs_;  // (ceil(n / 32))
  Vec<float> magnitudes_;
  Vec<float> growth_;
};

/// Converts a sign momentum to numbers for a checkpoint.
class MomentumNumbers final : public FormedValues {
 public:
  MomentumNumbers(Exec const& exec, Index count, MomentumBits const& bits, Units const& units)
      : exec_(exec), count_(count), bits_(bits), units_(units) {}
  std::int64_t count() const override { return count_; }
  void give(std::int64_t first, std::int64_t size, Use const& use) const override;

 private:
  Exec exec_;
  Index count_;
  MomentumBits bits_;
  Units units_;
};

}  // namespace bellwether::optim
