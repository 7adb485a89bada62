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

/// What a rank has left of at most 32 neighbours, +0 where they are masked.
template <class Access = InMemory>
struct ResidualRun {
  KOKKOS_INLINE_FUNCTION float operator()(int lane) const {
    return masked(residual(z[lane], lane < split ? scale : next_scale), active_bits, lane);
  }

  std::uint32_t active_bits;  ///< the first element in the most significant bit
  float scale, next_scale;    ///< of the lanes below `split`, and of the others
  int split;
  typename Access::Read z;
};

/// What a compressed mean leaves behind: at the worker z and its scales, at the server y of this rank's chunk and its
/// scales, and the signs of both, of n elements that begin at `origin` in the vector that tensors lie in. Points into
/// the collective's memory, valid as long as Decoded.
struct LastMean {
  Index origin = 0, count = 0;                ///< n; origin in whole words
  Index group_words = 1;                      ///< words that share a scale, counted from the first
  std::uint32_t const* active = nullptr;      ///< (ceil(n / 32))
  std::uint32_t const* signs = nullptr;       ///< (ceil(n / 32)) of this rank's z
  std::uint32_t const* mean_signs = nullptr;  ///< (ceil(n / 32)) of the mean
  float const* z = nullptr;                   ///< (n)
  float const* scales = nullptr;              ///< (groups) S
  Index first = 0, mine = 0;             ///< elements [first, first + mine) of n, of this rank's chunk, in whole words
  Index first_group = 0;                 ///< group of its first word
  float const* y = nullptr;              ///< (mine)
  float const* server_scales = nullptr;  ///< (parts of the chunk) R

  /// Of elements [k, k + many) of n, many <= 32, which two words hold at most; one alone where they are a pack.
  template <class Access = InMemory>
  KOKKOS_INLINE_FUNCTION ResidualRun<Access> residuals(Index k, int many) const {
    Index const word = word_of(k);
    int const shift = lane_of(k);
    Index const group = word < group_words ? 0 : word / group_words;  // of the usual one group nothing is divided
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

/// What is summed of the part of a tensor that the rank compresses: |e|^2 and |z|^2; of that part of its chunk, |d|^2
/// and |y|^2; active elements, and those whose sign is that of the mean.
inline constexpr int tensor_error_sums = 6;

/// One pass over z and y, 4 bytes an element and one word of each kind of signs for 32. partial: (tensor_error_sums
/// blocks), scratch. sums: (tensor_error_sums, tensors), written, in an order that depends on the layout and Space
/// alone. Sums over ranks make shares: of all that was compressed, whatever part of it each rank held.
template <class Space>
void tensor_errors(Space const& exec, BlockTable<Space> const& table, LastMean const& mean,
                   Vec<double, Space> const& partial, Vec<float, Space> const& sums);

/// How well one bit stands for a number, by tensor: the workers' share of error |e|^2 / |z|^2, the servers' |d|^2 /
/// |y|^2, and the share of active elements whose sign at a worker is that of the mean, where each part of a fraction is
/// summed over the ranks. NaN without a active element, where nothing is compressed, and where not asked for.
class CompressionShares {
 public:
  static std::vector<std::string_view> const& names();

  /// all: every rank of the exchange, also those on one's own node. compresses: whether the exchange does.
  CompressionShares(Communicator& all, bool compresses, BlockTable<Exec> const& blocks);

  /// After an exchange; on all ranks alike. values: (names(), tensors), written; untouched where skip: (1) is not 0.
  void measure(Exec const& exec, BlockTable<Exec> const& blocks, LastMean const& mean, bool wanted,
               std::int32_t const* skip, float* values);
  std::int64_t bytes() const;
  /// bytes() of one that need not exist yet.
  static std::int64_t predicted_bytes(Communicator& all, bool compresses, BlockTable<Exec> const& blocks);

 private:
  DenseMean mean_;
  Vec<double> partial_;  // (tensor_error_sums blocks)
  Vec<float> sums_;      // (tensor_error_sums tensors); both empty where nothing is compressed
};

}  // namespace bellwether::comm
