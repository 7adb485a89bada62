// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_kernels.hpp"

#include "core/compiler.hpp"
#include "core/device/launch.hpp"
#include "core/simd/device_math.hpp"

#include <type_traits>

namespace bellwether::comm {
namespace {

template <class Space>
Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> elements(Space const& exec, Index count) {
  return {exec, 0, count};
}

/// Source of signs_and_sums() for servers. On a host, the sum over ranks is formed for the 32 elements of a word at
/// once; on a device each thread has four elements. `known`: the number of ranks as a constant, or 0.
template <class Space, int known>
struct ServerSource {
  static constexpr bool host = TeamShape<Space>::host;
  static constexpr int lanes = host ? static_cast<int>(word_elements) : 1, most_known = known > 0 ? known : 1;

  KOKKOS_INLINE_FUNCTION float scale_of(int rank) const {
    return from_bits(received.words[block.scale_place + rank * received.scale_stride]);
  }
  KOKKOS_INLINE_FUNCTION std::uint32_t received_word(int rank, Index t) const {
    return received.words[block.place + rank * received.stride + t];
  }
  /// Loads the scales, which all elements of the block share.
  KOKKOS_INLINE_FUNCTION void begin_block() {
    for (int rank = 0; rank < known; ++rank) scales[rank] = scale_of(rank);
  }

  KOKKOS_INLINE_FUNCTION std::uint32_t active(Index t) const { return buffers.active[block.word + t]; }
  KOKKOS_INLINE_FUNCTION void begin(Index t) {
    if constexpr (host && known > 0) mean_of_known(t);
    if constexpr (host && known == 0) mean_of_many(t);
  }
  /// In one loop, so that the sums stay in registers.
  KOKKOS_INLINE_FUNCTION void mean_of_known(Index t) {
    std::uint32_t words[most_known];
    for (int rank = 0; rank < known; ++rank) words[rank] = received_word(rank, t);
    for (int lane = 0; lane < lanes; ++lane) sums[lane] = mean_of_words(words, lane);
  }
  KOKKOS_INLINE_FUNCTION float mean_of_words(std::uint32_t const (&words)[most_known], int lane) const {
    float total = with_sign(scales[0], words[0], lane);
    BELLWETHER_UNROLL
    for (int rank = 1; rank < known; ++rank) total += with_sign(scales[rank], words[rank], lane);
    constexpr float ranks = static_cast<float>(most_known);
    return (known & (known - 1)) == 0 ? device_math::rounded_product(total, 1 / ranks) : total / ranks;
  }
  KOKKOS_INLINE_FUNCTION void mean_of_many(Index t) {
    if constexpr (host) {
      int rank = 0;
      for (int lane = 0; lane < lanes; ++lane) sums[lane] = -0.0f;
      // Four ranks at a time, because the sums go through memory between loops. -0 + x is x.
      for (; rank + 4 <= received.ranks; rank += 4) {
        float const s0 = scale_of(rank), s1 = scale_of(rank + 1), s2 = scale_of(rank + 2), s3 = scale_of(rank + 3);
        std::uint32_t const w0 = received_word(rank, t), w1 = received_word(rank + 1, t),
                            w2 = received_word(rank + 2, t), w3 = received_word(rank + 3, t);
        for (int lane = 0; lane < lanes; ++lane)
          sums[lane] = (((sums[lane] + with_sign(s0, w0, lane)) + with_sign(s1, w1, lane)) + with_sign(s2, w2, lane)) +
                       with_sign(s3, w3, lane);
      }
      for (; rank < received.ranks; ++rank) {
        float const from = scale_of(rank);
        std::uint32_t const word = received_word(rank, t);
        for (int lane = 0; lane < lanes; ++lane) sums[lane] += with_sign(from, word, lane);
      }
      // Divides instead of multiplying by 1/P, unless P is a power of two, where both are equal.
      float const divisor = static_cast<float>(received.ranks);
      if ((received.ranks & (received.ranks - 1)) == 0)
        for (int lane = 0; lane < lanes; ++lane) sums[lane] = device_math::rounded_product(sums[lane], 1 / divisor);
      else
        for (int lane = 0; lane < lanes; ++lane) sums[lane] /= divisor;
    }
  }
  KOKKOS_INLINE_FUNCTION float sum(Index k, Index, int lane) const {
    return sums[lane] + residual(buffers.z[k], scale);
  }
  KOKKOS_INLINE_FUNCTION void keep(Index k, float value) const { buffers.z[k] = value; }
  KOKKOS_INLINE_FUNCTION void keep(Index k, float const (&values)[LaneShare::elements]) const {
    store(buffers.z + k, values);
  }
  /// Device version for n elements of word t, counted from `first`.
  template <int n>
  KOKKOS_INLINE_FUNCTION void sums_of(Index k, Index t, int first, float (&y)[n]) const {
    float before[n];
    load(static_cast<float const*>(buffers.z) + k, before);
    if constexpr (known > 0) {
      std::uint32_t words[most_known];
      BELLWETHER_UNROLL
      for (int rank = 0; rank < known; ++rank) words[rank] = received_word(rank, t) << first;
      BELLWETHER_UNROLL
      for (int e = 0; e < n; ++e) y[e] = mean_of_words(words, e);
    } else {
      for (int rank = 0; rank < received.ranks; ++rank) {
        float const from = scale_of(rank);
        std::uint32_t const word = received_word(rank, t) << first;
        BELLWETHER_UNROLL
        for (int e = 0; e < n; ++e) y[e] = (rank == 0 ? -0.0f : y[e]) + with_sign(from, word, e);
      }
      BELLWETHER_UNROLL
      for (int e = 0; e < n; ++e) y[e] /= static_cast<float>(received.ranks);
    }
    BELLWETHER_UNROLL
    for (int e = 0; e < n; ++e) y[e] += residual(before[e], scale);
  }
  KOKKOS_INLINE_FUNCTION void signs(Index t, std::uint32_t word) const { out[block.word + t] = word; }

  ResidualBuffers buffers;
  WordBlock block;
  float scale;
  Received received;
  std::uint32_t* out;
  alignas(64) float sums[lanes] = {};
  float scales[most_known] = {};
};

template <class Space, int known>
struct ServeWords {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (buffers.skipped()) return;
    WordBlock const block = slice.blocks[team.league_rank()];
    ServerSource<Space, known> source{buffers, block, buffers.kept[block.scale], received, signs};
    source.begin_block();
    auto const sums = signs_and_sums<Space>(team, block, buffers.count, source);
    buffers.put(team, block, sums);
  }

  BlockSlice slice;
  ResidualBuffers buffers;
  Received received;
  std::uint32_t* signs;
};

/// Computes the sign words of a team: one after the other on a host; with eight lanes per word on a device.
template <class Space>
struct SignWords {
  static constexpr Index own = 256;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Index const first = Index{team.league_rank()} * own;
    int const here = static_cast<int>(Kokkos::min(Index{own}, words - first));
    if constexpr (TeamShape<Space>::host) {
      for (int t = 0; t < here; ++t) {
        Index const k = (first + t) * word_elements;
        constexpr int lanes = static_cast<int>(word_elements);
        float const* const of = values + k;
        std::uint32_t word = 0;
        auto const element = [&](int lane) { word |= positive(of[lane]) ? lane_bit(lane) : 0u; };
        // The constant loop length of a whole word lets the compiler vectorise.
        if (count - k >= lanes)
          for (int lane = 0; lane < lanes; ++lane) element(lane);
        else
          for (int lane = 0; k + lane < count; ++lane) element(lane);
        signs[first + t] = word & active[first + t];
      }
    } else {
      // The lanes of a thread load several groups of words before they form any.
      using L = Lanes<Space>;
      constexpr int own_of_lane = LaneShare::elements, together = LaneShare::words, ahead = loads_ahead;
      int const groups = (here + together - 1) / together;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (groups + ahead - 1) / ahead), [&](int const batch) {
        float read[ahead][L::here][own_of_lane];
        L::all(team, [&](int const lane, int const mine) {
          LaneShare const share(lane);
          BELLWETHER_UNROLL
          for (int i = 0; i < ahead; ++i) {
            Index const word = first + (ahead * batch + i) * together + share.word;
            load_before(count, -1.0f, values, word * word_elements + share.first, read[i][mine]);
          }
        });
        BELLWETHER_UNROLL
        for (int i = 0; i < ahead; ++i)
          write_words<Space>(
              team, [&](int const, int const mine) { return signs_of(read[i][mine]); },
              [&](int const w, std::uint32_t const word) {
                int const t = (ahead * batch + i) * together + w;
                if (t < here) signs[first + t] = word & active[first + t];
              });
      });
    }
  }

  Index count, words;
  float const* values;
  std::uint32_t const* active;
  std::uint32_t* signs;
};

}  // namespace

template <class Space>
void serve_words(Space const& exec, BlockSlice const& slice, ResidualBuffers const& buffers, Received const& received,
                 std::uint32_t* signs) {
  if (slice.count == 0) return;
  require_neighbours<Space>(buffers.z);
  auto const serve = [&]<int known>(std::integral_constant<int, known>) {
    launch<"bellwether::comm::serve_words">(lanes_policy(exec, slice.count),
                                            ServeWords<Space, known>{slice, buffers, received, signs});
  };
  switch (received.ranks) {  // common numbers of ranks as constants
    case 2:
      return serve(std::integral_constant<int, 2>());
    case 3:
      return serve(std::integral_constant<int, 3>());
    case 4:
      return serve(std::integral_constant<int, 4>());
    case 8:
      return serve(std::integral_constant<int, 8>());
    default:
      return serve(std::integral_constant<int, 0>());
  }
}

template <class Space>
void scales_from_sums(Space const& exec, ScaleTable const& table, ResidualBuffers const& buffers, Scale rule) {
  if (table.count == 0) return;
  ScaleRange const* const ranges = table.ranges;
  float* const scales = table.scales;
  double* const errors = table.errors;
  launch<"bellwether::comm::scales_from_sums">(
      team_policy(exec, table.count), KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        if (buffers.skipped()) return;
        Index const at = team.league_rank();
        auto const sums = team_sum<sums_of_words, Space>(team, ranges[at].first, ranges[at].last, [&](Index block) {
          double const* of_block = buffers.partial + sums_of_words * block;
          return Sums<sums_of_words>{{of_block[0], of_block[1], of_block[2]}};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          double const squares = sums.value[0];
          double const magnitudes = sums.value[1];
          double const active = sums.value[2];
          float scale = 0;
          if (active > 0)
            scale = static_cast<float>(rule == Scale::rms ? Kokkos::sqrt(squares / active) : magnitudes / active);
          double const used = static_cast<double>(scale);
          scales[at] = scale;
          // Rounding can make this negative if every |z| equals the scale.
          errors[at] = Kokkos::max(0.0, squares - 2 * used * magnitudes + used * used * active);
        });
      });
}

template <class Space>
void mark_spent(Space const& exec, ResidualBuffers const& buffers, std::int32_t* spent) {
  launch<"bellwether::comm::mark_spent">(
      elements(exec, 1), KOKKOS_LAMBDA(Index) {
        if (!buffers.skipped()) *spent = 1;
      });
}

template <class Space>
void clear_spent(Space const& exec, Index count, float* z, std::int32_t* spent) {
  launch<"bellwether::comm::clear_spent">(
      elements(exec, count), KOKKOS_LAMBDA(Index k) {
        if (*spent != 0) z[k] = 0;
      });
  launch<"bellwether::comm::end_spent">(
      elements(exec, 1), KOKKOS_LAMBDA(Index) { *spent = 0; });
}

template <class Space>
void place_scales(Space const& exec, Index count, ScaleSlot const* slots, float const* scales, std::uint32_t* message) {
  launch<"bellwether::comm::place_scales">(
      elements(exec, count), KOKKOS_LAMBDA(Index at) {
        ScaleSlot const slot = slots[at];
        message[slot.place] = slot.scale < 0 ? 0u : to_bits(scales[slot.scale]);
      });
}

template <class Space>
void unpack_words(Space const& exec, BlockSlice const& slice, std::uint32_t const* messages, std::uint32_t* signs,
                  float* magnitudes) {
  if (slice.count == 0) return;
  launch<"bellwether::comm::unpack_words">(
      team_policy(exec, slice.count), KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        WordBlock const block = slice.blocks[team.league_rank()];
        float const magnitude = from_bits(messages[block.scale_place]);
        team_for<Space>(team, 0, block.words, [&](Index t) {
          signs[block.word + t] = messages[block.place + t];
          magnitudes[block.word + t] = magnitude;
        });
      });
}

template <class Space>
void pack_slice(Space const& exec, Index words, Index parts, Index const* part_first, Decoded const& slice,
                std::uint32_t* message) {
  Decoded const decoded = slice;
  launch<"bellwether::comm::pack_slice">(
      elements(exec, words + parts), KOKKOS_LAMBDA(Index at) {
        message[at] = at < words ? decoded.signs(at) : to_bits(decoded.magnitude(part_first[at - words]));
      });
}

template <class Space>
void sign_words(Space const& exec, Index count, float const* values, std::uint32_t const* active,
                std::uint32_t* signs) {
  Index const words = (count + word_elements - 1) / word_elements;
  constexpr Index own = SignWords<Space>::own;
  require_neighbours<Space>(values);
  launch<"bellwether::comm::sign_words">(lanes_policy(exec, (words + own - 1) / own),
                                         SignWords<Space>{count, words, values, active, signs});
}

template <class Space>
void keep_residual(Space const& exec, BlockSlice const& slice, ResidualBuffers const& buffers) {
  if (slice.count == 0) return;
  launch<"bellwether::comm::keep_residual">(
      team_policy(exec, slice.count), KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        WordBlock const block = slice.blocks[team.league_rank()];
        float const scale = buffers.kept[block.scale];
        if constexpr (TeamShape<Space>::host) {
          for (Index w = block.word; w < block.word + block.words; ++w) {
            std::uint32_t const active = buffers.active[w];
            float* const z = buffers.z + w * word_elements;
            int const lanes = static_cast<int>(Kokkos::min(Index{word_elements}, buffers.count - w * word_elements));
            for (int lane = 0; lane < lanes; ++lane) z[lane] = masked(residual(z[lane], scale), active, lane);
          }
        } else {
          Index const last = Kokkos::min((block.word + block.words) * word_elements, buffers.count);
          struct Element {
            float z;
            std::uint32_t active;
          };
          team_for<Space>(
              team, block.word * word_elements, last,
              [&](Index k) {
                return Element{buffers.z[k], buffers.active[word_of(k)]};
              },
              [&](Index k, Element const& at) { buffers.z[k] = masked(residual(at.z, scale), at.active, lane_of(k)); });
        }
      });
}

template <class Space>
void copy_active(Space const& exec, Index count, std::uint32_t const* from, std::uint32_t* to) {
  launch<"bellwether::comm::copy_active">(
      elements(exec, (count + word_elements - 1) / word_elements), KOKKOS_LAMBDA(Index w) {
        Index const left = count - w * word_elements;
        std::uint32_t const inside = left >= word_elements ? ~0u : ~(~0u >> left);
        to[w] = inside & (from == nullptr ? ~0u : from[w]);
      });
}

template <class Space>
void add_values(Space const& exec, Index count, float const* from, float* to) {
  launch<"bellwether::comm::add_values">(
      elements(exec, count), KOKKOS_LAMBDA(Index k) { to[k] += from[k]; });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                               \
  template void serve_words<Space>(Space const&, BlockSlice const&, ResidualBuffers const&, Received const&,        \
                                   std::uint32_t*);                                                                 \
  template void scales_from_sums<Space>(Space const&, ScaleTable const&, ResidualBuffers const&, Scale);            \
  template void mark_spent<Space>(Space const&, ResidualBuffers const&, std::int32_t*);                             \
  template void clear_spent<Space>(Space const&, Index, float*, std::int32_t*);                                     \
  template void place_scales<Space>(Space const&, Index, ScaleSlot const*, float const*, std::uint32_t*);           \
  template void unpack_words<Space>(Space const&, BlockSlice const&, std::uint32_t const*, std::uint32_t*, float*); \
  template void pack_slice<Space>(Space const&, Index, Index, Index const*, Decoded const&, std::uint32_t*);        \
  template void sign_words<Space>(Space const&, Index, float const*, std::uint32_t const*, std::uint32_t*);         \
  template void keep_residual<Space>(Space const&, BlockSlice const&, ResidualBuffers const&);                      \
  template void copy_active<Space>(Space const&, Index, std::uint32_t const*, std::uint32_t*);                      \
  template void add_values<Space>(Space const&, Index, float const*, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::comm
