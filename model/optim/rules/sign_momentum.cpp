// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/sign_momentum.hpp"

#include "core/device/launch.hpp"
#include "core/simd/bits.hpp"
#include "core/system/error.hpp"

#include <string>

namespace bellwether::optim {
namespace {

Index words_of(Index count) { return (count + comm::word_elements - 1) / comm::word_elements; }

template <class T>
Vec<T> buffer(std::string const& label, Index count) {
  return Vec<T>(label, static_cast<std::size_t>(count));
}

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>;

}  // namespace

SignMomentum::SignMomentum(Index count, Index tensors)
    : count_(count),
      signs_(buffer<std::uint32_t>("bellwether::optim::momentum_signs", words_of(count))),
      magnitudes_(buffer<float>("bellwether::optim::momentum_magnitudes", words_of(count))),
      growth_(buffer<float>("bellwether::optim::momentum_growth", tensors)) {}

void SignMomentum::keep(Exec const& exec, comm::Decoded const& mean, float const* growth,
                        Vec<GradientCheck> const& gradient_check) {
  std::uint32_t* const signs = signs_.data();
  float* const magnitudes = magnitudes_.data();
  float* const kept_growth = growth_.data();
  GradientCheck const* const checked = gradient_check.data();
  comm::Decoded const from = mean;
  launch<"bellwether::optim::keep_momentum_bits">(
      Range(exec, 0, words_of(count_)), KOKKOS_LAMBDA(Index w) {
        if (checked->skip) return;
        signs[w] = from.signs(w);
        magnitudes[w] = from.magnitude(w);
      });
  launch<"bellwether::optim::keep_momentum_growth">(
      Range(exec, 0, static_cast<Index>(growth_.extent(0))), KOKKOS_LAMBDA(Index l) {
        if (!checked->skip) kept_growth[l] = growth[l];
      });
}

void SignMomentum::take_signs(Exec const& exec, float const* numbers) {
  std::uint32_t* const signs = signs_.data();
  Index const count = count_;
  launch<"bellwether::optim::take_momentum_signs">(
      Range(exec, 0, words_of(count)), KOKKOS_LAMBDA(Index w) {
        std::uint32_t word = 0;
        Index const first = w * comm::word_elements;
        // Test the sign bit: a comparison with 0 would lose the sign of a magnitude of 0.
        for (int lane = 0; lane < static_cast<int>(comm::word_elements) && first + lane < count; ++lane)
          if (to_bits(numbers[first + lane]) >> 31 == 0) word |= comm::lane_bit(lane);
        signs[w] = word;
      });
}

MomentumBits SignMomentum::view(std::uint32_t const* active) const {
  return {{signs_.data(), active, magnitudes_.data(), nullptr}, growth_.data()};
}

std::int64_t SignMomentum::predicted_bytes(Index count, Index tensors) {
  return (2 * words_of(count) + tensors) * static_cast<std::int64_t>(sizeof(float));
}

void MomentumNumbers::give(std::int64_t first, std::int64_t size, Use const& use) const {
  Vec<float> const numbers(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bellwether::optim::momentum_numbers"),
                           static_cast<std::size_t>(size));
  float* const to = numbers.data();
  MomentumBits const bits = bits_;
  Units const units = units_;
  launch<"bellwether::optim::momentum_numbers">(
      Range(exec_, 0, size),
      KOKKOS_LAMBDA(Index i) { to[i] = bits.at(units, first + i, tensor_at(units, first + i)); });
  exec_.fence("bellwether::optim::momentum_numbers, complete before they are saved");
  use(first, {to, static_cast<std::size_t>(size)});
}

}  // namespace bellwether::optim
