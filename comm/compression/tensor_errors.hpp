// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "comm/compression/signs.hpp"
#include "core/memory/block_table.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bellwether::comm {

/// Worker residuals of up to 32 neighbouring elements, +0 for masked ones.
template <class Access = InMemory>
struct ResidualRun {
  KOKKOS_INLINE_FUNCTION float operator()(int lane) const {
    return masked(residual(z[lane], lane < split ? scale : next_scale), active_bits, lane);
  }

  std::uint32_t active_bits;  ///< the first element in the most significant bit
  float scale, next_scale;    ///< of the lanes below `split`, of the others
  int split;
  typename Access::Read z;
};

/// State after a compressed mean. At the worker: z, its scales and signs. At the server: y of this rank's chunk and its
/// scales, and the signs of the mean. Covers n elements that begin at `origin` of the vector of all tensors. Points to
/// memory of the collective; valid as long as Decoded.
struct LastMean {
  Index origin = 0, count = 0;                ///< n; origin is a multiple of 32
  Index group_words = 1;                      ///< words per scale group
  std::uint32_t const* active = nullptr;      ///< (ceil(n / 32))
  std::uint32_t const* signs = nullptr;       ///< (ceil(n / 32)) of this rank's z
  std::uint32_t const* mean_signs = nullptr;  ///< (ceil(n / 32)) of the mean
  float const* z = nullptr;                   ///< (n)
  float const* scales = nullptr;              ///< (groups) S
  Index first = 0, mine = 0;                  ///< [first, first + mine): this rank's chunk, in whole words
  Index first_group = 0;                      ///< scale group of its first word
  float const* y = nullptr;                   ///< (mine)
  float const* server_scales = nullptr;       ///< (parts of the chunk) R

  /// Returns the residuals of elements [k, k + many), many <= 32, from at most two words; from one word if they are a
  /// pack.
  template <class Access = InMemory>
  KOKKOS_INLINE_FUNCTION ResidualRun<Access> residuals(Index k, int many) const {
    Index const word = word_of(k);
    int const shift = lane_of(k);
    Index const group = word < group_words ? 0 : word / group_words;  // usually one group: no division
    float const scale = scales[group];
    if constexpr (std::is_same_v<Access, InRegisters>) {
      return {active[word] << shift, scale, scale, InRegisters::count, z + k};
    } else {
      bool const both = shift + many > static_cast<int>(word_elements);
      bool const crosses = both && word + 1 == (group + 1) * group_words;
      return {bits_from(active, k, many), scale, crosses ? scales[group + 1] : scale,
              static_cast<int>(word_elements) - shift, z + k};
    }
  }
};

/// Number of sums per tensor. |e|^2 and |z|^2 of the part that this rank compresses; |d|^2 and |y|^2 of the part in its
/// chunk. The last two count active elements, and those whose sign equals the sign of the mean.
inline constexpr int tensor_error_sums = 6;

/// Computes these sums in one pass over z and y: 4 bytes per element of each, and one word of each kind of signs per 32
/// elements. `partial`: (tensor_error_sums blocks), scratch. `sums`: (tensor_error_sums, tensors), output. The order of
/// summation depends only on the layout and Space. Added over ranks, the sums cover everything that was compressed.
template <class Space>
void tensor_errors(Space const& exec, BlockTable<Space> const& table, LastMean const& mean,
                   Vec<double, Space> const& partial, Vec<float, Space> const& sums);

/// Compression quality per tensor. The relative errors of the workers, |e|^2 / |z|^2, and of the servers, |d|^2 /
/// |y|^2. The share of active elements whose sign at a worker equals that of the mean. Numerators and denominators are
/// summed over the ranks. NaN for a tensor without active elements, if nothing is compressed, and if not wanted.
class CompressionShares {
 public:
  static std::vector<std::string_view> const& names();

  /// all: every rank of the exchange, including local ranks. compresses: true if the exchange compresses.
  CompressionShares(Communicator& all, bool compresses, BlockTable<Exec> const& blocks);

  /// Measures the last exchange. Collective. values: (names(), tensors), output; unchanged if *skip, (1), is not 0.
  void measure(Exec const& exec, BlockTable<Exec> const& blocks, LastMean const& mean, bool wanted,
               std::int32_t const* skip, float* values);
  std::int64_t bytes() const;
  /// Returns bytes() of an object with these arguments, without constructing it.
  static std::int64_t predicted_bytes(Communicator& all, bool compresses, BlockTable<Exec> const& blocks);

 private:
  DenseMean mean_;
  Vec<double> partial_;  // (tensor_error_sums blocks)
  Vec<float> sums_;      // (tensor_error_sums tensors); both are empty if nothing is compressed
};

}  // namespace bellwether::comm
