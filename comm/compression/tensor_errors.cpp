// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/tensor_errors.hpp"

#include "comm/compression/signs.hpp"
#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"
#include "core/system/error.hpp"

namespace bellwether::comm {
namespace {

/// Returns a mask of lanes [first, last) of a word.
KOKKOS_INLINE_FUNCTION std::uint32_t lanes_between(int first, int last) {
  return (~0u >> first) & (last < word_elements ? ~(~0u >> last) : ~0u);
}

/// Adds the squares of a word's masked values and residuals, lane by lane.
KOKKOS_INLINE_FUNCTION void add_squares(float const* values, float scale, std::uint32_t mask, int lanes, double* errors,
                                        double* squares) {
  BELLWETHER_INDEPENDENT
  for (int lane = 0; lane < lanes; ++lane) {
    double const e = masked(residual(values[lane], scale), mask, lane);
    double const z = masked(values[lane], mask, lane);
    errors[lane] += e * e;
    squares[lane] += z * z;
  }
}

KOKKOS_INLINE_FUNCTION double sum_of_lanes(double const* values) {
  double sum = 0;
  for (int lane = 0; lane < word_elements; ++lane) sum += values[lane];
  return sum;
}

/// Sums elements [first, last) on a host by whole words; a mask drops masked elements and those outside the range.
KOKKOS_INLINE_FUNCTION Sums<tensor_error_sums> sum_words(Index first, Index last, LastMean const& mean) {
  double e[word_elements] = {}, z[word_elements] = {}, d[word_elements] = {}, y[word_elements] = {};
  std::int64_t active = 0, agreeing = 0;
  if (first >= last) return {};  // the block does not overlap the elements
  for (Index w = first / word_elements; w * word_elements < last; ++w) {
    Index const k = w * word_elements;
    int const lanes = static_cast<int>(Kokkos::min(Index{word_elements}, mean.count - k));
    std::uint32_t const mask =
        mean.active[w] & lanes_between(static_cast<int>(Kokkos::max(Index{0}, first - k)),
                                       static_cast<int>(Kokkos::min(Index{word_elements}, last - k)));
    active += Kokkos::popcount(mask);
    agreeing += Kokkos::popcount(~(mean.signs[w] ^ mean.mean_signs[w]) & mask);
    add_squares(mean.z + k, mean.scales[w / mean.group_words], mask, lanes, e, z);
    if (k >= mean.first && k < mean.first + mean.mine)
      add_squares(mean.y + (k - mean.first), mean.server_scales[w / mean.group_words - mean.first_group], mask, lanes,
                  d, y);
  }
  return {{sum_of_lanes(e), sum_of_lanes(z), sum_of_lanes(d), sum_of_lanes(y), static_cast<double>(active),
           static_cast<double>(agreeing)}};
}

/// Returns the terms of one element, on a device.
KOKKOS_INLINE_FUNCTION Sums<tensor_error_sums> sums_of_element(Index k, LastMean const& mean) {
  Index const w = word_of(k);
  std::uint32_t const bit = lane_bit(lane_of(k));
  if ((mean.active[w] & bit) == 0) return {};
  double const z = mean.z[k], e = residual(mean.z[k], mean.scales[w / mean.group_words]);
  double y = 0, d = 0;
  if (k >= mean.first && k < mean.first + mean.mine) {
    y = mean.y[k - mean.first];
    d = residual(mean.y[k - mean.first], mean.server_scales[w / mean.group_words - mean.first_group]);
  }
  return {{e * e, z * z, d * d, y * y, 1, ((mean.signs[w] ^ mean.mean_signs[w]) & bit) == 0 ? 1.0 : 0.0}};
}

template <class Space, class Team>
KOKKOS_INLINE_FUNCTION Sums<tensor_error_sums> sum_block(Team const& team, Block const& block, LastMean const& mean) {
  Index const first = Kokkos::max(Index{0}, block.first - mean.origin);
  Index const last = Kokkos::max(first, Kokkos::min(mean.count, block.first + block.count - mean.origin));
  if constexpr (TeamShape<Space>::host) {
    static_cast<void>(team);
    return sum_words(first, last, mean);
  } else {
    return team_sum<tensor_error_sums, Space>(team, first, last, [=](Index k) { return sums_of_element(k, mean); });
  }
}

Index partial_of(bool compresses, BlockTable<Exec> const& blocks) {
  return compresses ? tensor_error_sums * blocks.count() : 0;
}
Index sums_of(bool compresses, BlockTable<Exec> const& blocks) {
  return compresses ? tensor_error_sums * blocks.tensors() : 0;
}

/// Computes the shares. sums: from tensor_errors(), or their mean over ranks; nullptr: not measured.
void write_shares(Exec const& exec, Index tensors, float const* sums, std::int32_t const* skip, float* values) {
  launch<"bellwether::comm::compression_shares">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (*skip != 0) return;
        auto const share = [&](Index part, Index whole) {
          return sums != nullptr && sums[whole * tensors + l] > 0 ? sums[part * tensors + l] / sums[whole * tensors + l]
                                                                  : Kokkos::Experimental::quiet_NaN_v<float>;
        };
        values[l] = share(0, 1);
        values[tensors + l] = share(2, 3);
        values[2 * tensors + l] = share(5, 4);
      });
}

}  // namespace

template <class Space>
void tensor_errors(Space const& exec, BlockTable<Space> const& table, LastMean const& mean,
                   Vec<double, Space> const& partial, Vec<float, Space> const& sums) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const blocks = table.count(), tensors = table.tensors();
  require(static_cast<Index>(partial.extent(0)) >= tensor_error_sums * blocks &&
              static_cast<Index>(sums.extent(0)) >= tensor_error_sums * tensors,
          "the scratch memory of the tensor errors is too small");
  Block const* const block_of = table.blocks().data();
  Index const* const first_block = table.first_block().data();
  double* const by_block = partial.data();
  float* const out = sums.data();
  LastMean const last = mean;
  launch<"bellwether::comm::tensor_error_blocks">(
      team_policy(exec, blocks), KOKKOS_LAMBDA(Team const& team) {
        auto const block = sum_block<Space>(team, block_of[team.league_rank()], last);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int i = 0; i < tensor_error_sums; ++i) by_block[i * blocks + team.league_rank()] = block.value[i];
        });
      });
  launch<"bellwether::comm::tensor_errors">(
      team_policy(exec, tensors), KOKKOS_LAMBDA(Team const& team) {
        Index const l = team.league_rank();
        auto const tensor =
            team_sum<tensor_error_sums, Space>(team, first_block[l], first_block[l + 1], [=](Index block) {
              Sums<tensor_error_sums> of_block;
              for (int i = 0; i < tensor_error_sums; ++i) of_block.value[i] = by_block[i * blocks + block];
              return of_block;
            });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int i = 0; i < tensor_error_sums; ++i) out[i * tensors + l] = static_cast<float>(tensor.value[i]);
        });
      });
}

std::vector<std::string_view> const& CompressionShares::names() {
  static std::vector<std::string_view> const list{"worker_error_share", "server_error_share", "sign_agreement"};
  return list;
}

CompressionShares::CompressionShares(Communicator& all, bool compresses, BlockTable<Exec> const& blocks)
    : mean_(all, sums_of(compresses, blocks), Wire::fp32, Allreduce::ordered),
      partial_("bellwether::comm::tensor_error_partial", static_cast<std::size_t>(partial_of(compresses, blocks))),
      sums_("bellwether::comm::tensor_error_sums", static_cast<std::size_t>(sums_of(compresses, blocks))) {}

void CompressionShares::measure(Exec const& exec, BlockTable<Exec> const& blocks, LastMean const& mean, bool wanted,
                                std::int32_t const* skip, float* values) {
  bool const known = wanted && sums_.extent(0) > 0;
  if (known) {
    tensor_errors(exec, blocks, mean, partial_, sums_);
    mean_.start(exec, sums_);
    mean_.wait(exec);
  }
  write_shares(exec, blocks.tensors(), known ? sums_.data() : nullptr, skip, values);
}

std::int64_t CompressionShares::bytes() const {
  return mean_.buffer_bytes() +
         static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + sums_.extent(0) * sizeof(float));
}

std::int64_t CompressionShares::predicted_bytes(Communicator& all, bool compresses, BlockTable<Exec> const& blocks) {
  DenseMean const mean(all, sums_of(compresses, blocks), Wire::fp32, Allreduce::ordered);
  return mean.buffer_bytes() + static_cast<std::int64_t>(sizeof(double)) * partial_of(compresses, blocks) +
         static_cast<std::int64_t>(sizeof(float)) * sums_of(compresses, blocks);
}

#define BELLWETHER_INSTANTIATE(Space)                                                         \
  template void tensor_errors<Space>(Space const&, BlockTable<Space> const&, LastMean const&, \
                                     Vec<double, Space> const&, Vec<float, Space> const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::comm
