// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/bert/initialise.hpp"

#include "core/device/launch.hpp"
#include "core/random/random.hpp"

namespace bellwether::model {
namespace {

std::uint32_t hash_of(std::string const& name) {
  std::uint32_t hash = 0x811c9dc5u;  // FNV-1a
  for (unsigned char const letter : name) hash = (hash ^ letter) * 0x01000193u;
  return hash;
}

/// Box and Muller, "A note on the generation of random normal deviates" (1958); u in (0, 1].
KOKKOS_INLINE_FUNCTION double normal_deviate(Philox4 const& bits) {
  double const u = (bits.x[0] + 1.0) * 0x1p-32, angle = 6.283185307179586 * 0x1p-32 * bits.x[1];
  return Kokkos::sqrt(-2 * Kokkos::log(u)) * Kokkos::cos(angle);
}

template <class Real, class Space>
void fill(Space const& exec, TensorInfo const& tensor, RandomKey key, double deviation, Real* values) {
  auto const kind = tensor.initialisation;
  auto const name = hash_of(tensor.name);
  launch<"bellwether::model::initialise">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensor.count), KOKKOS_LAMBDA(Index k) {
        if (kind == Initialisation::normal) {
          auto const bits =
              philox(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32), name, 0, key.k0, key.k1);
          values[k] = static_cast<Real>(deviation * normal_deviate(bits));
        } else {
          values[k] = kind == Initialisation::one ? Real(1) : Real(0);
        }
      });
}

}  // namespace

template <class Real, class Space>
void initialise(Space const& exec, ParameterLayout const& layout, std::uint64_t seed, double deviation,
                Real* parameters) {
  auto const key = random_key(seed, Purpose::initialisation);
  for (auto const& tensor : layout.tensors()) fill(exec, tensor, key, deviation, parameters + tensor.offset);
}

#define BELLWETHER_INITIALISE(SPACE)                                                             \
  template void initialise(SPACE const&, ParameterLayout const&, std::uint64_t, double, float*); \
  template void initialise(SPACE const&, ParameterLayout const&, std::uint64_t, double, double*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INITIALISE)

}  // namespace bellwether::model
