// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs_and_sums.hpp"
#include "core/device/launch.hpp"

#include <concepts>
#include <cstdint>

namespace bellwether::comm {

/// Blocks that one launch processes.
struct BlockSlice {
  WordBlock const* blocks = nullptr;
  Index count = 0;
};

/// Buffers of a kernel that reads and writes a vector and its residual. `z`: (count) on entry z of the previous call,
/// or the residual itself where `kept` is 0; on exit the new z; aligned to 16 bytes on devices. `active`: (ceil(count /
/// 32)) mask. `kept`: (scales) scale of each block's stored z. `partial`: (blocks, sums_of_words), in block order.
struct ResidualBuffers {
  Index count = 0;
  float* z = nullptr;
  std::uint32_t const* active = nullptr;
  float const* kept = nullptr;
  double* partial = nullptr;
  std::int32_t const* skip = nullptr;
  std::int32_t const* spent = nullptr;

  KOKKOS_INLINE_FUNCTION bool skipped() const { return skip != nullptr && *skip != 0; }
  /// Writes the sums of a block for scales_from_sums().
  template <class Team>
  KOKKOS_INLINE_FUNCTION void put(Team const& team, WordBlock const& block, Sums<sums_of_words> const& sums) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int i = 0; i < sums_of_words; ++i) partial[sums_of_words * block.order + i] = sums.value[i];
    });
  }
};

/// A form that can share work among the elements [first, last) of a word: after begin_word(first, last), at(k, lane)
/// returns form(k). On hosts this lets the compiler vectorise over the lanes.
template <class Form>
concept FormsWords = requires(Form& form, Index k) {
  form.begin_word(k, k);
  form.at(k, 0);
};

/// A form that can share work among the elements [first, last) of a team's block. If begin_block(first, last) returns
/// true, of_block(k, values) writes form(k), form(k + 1), ... to `values`: one element, or four with k a multiple of
/// four. On devices this saves the lookups per element and reads four neighbours with one access.
template <class Form>
concept FormsBlocks = requires(Form& form, Index k, float (&one)[1], float (&four)[4]) {
  { form.begin_block(k, k) } -> std::convertible_to<bool>;
  form.of_block(k, one);
  form.of_block(k, four);
};

namespace detail {

/// spent: the stored residual counts as 0. shared: the form shares work among the block's elements. Both are template
/// parameters, because a branch inside the loop over lanes would prevent vectorisation.
template <class Space, class Form, bool spent, bool shared>
struct WorkerSource {
  static constexpr bool by_word = TeamShape<Space>::host && FormsWords<Form>;

  KOKKOS_INLINE_FUNCTION std::uint32_t active(Index t) const { return buffers.active[block.word + t]; }
  KOKKOS_INLINE_FUNCTION void begin(Index t) {
    if constexpr (by_word) {
      Index const first = (block.word + t) * word_elements;
      form.begin_word(first, Kokkos::min(first + word_elements, buffers.count));
    }
  }
  KOKKOS_INLINE_FUNCTION float sum(Index k, Index, int lane) const {
    float value = 0;
    if constexpr (by_word)
      value = form.at(k, lane);
    else
      value = form(k);
    return with_residual(value, spent ? 0 : buffers.z[k]);
  }
  template <int n>
  KOKKOS_INLINE_FUNCTION void sums_of(Index k, Index, int, float (&z)[n]) const {
    float before[n] = {};
    if constexpr (!spent) load(static_cast<float const*>(buffers.z) + k, before);
    if constexpr (shared) {
      form.of_block(k, z);
    } else {
      BELLWETHER_UNROLL
      for (int e = 0; e < n; ++e) z[e] = form(k + e);
    }
    BELLWETHER_UNROLL
    for (int e = 0; e < n; ++e) z[e] = with_residual(z[e], before[e]);
  }
  KOKKOS_INLINE_FUNCTION float with_residual(float value, float before) const {
    return spent ? value + 0.0f : value + residual(before, scale);
  }
  KOKKOS_INLINE_FUNCTION void keep(Index k, float value) const { buffers.z[k] = value; }
  KOKKOS_INLINE_FUNCTION void keep(Index k, float const (&values)[LaneShare::elements]) const {
    store(buffers.z + k, values);
  }
  KOKKOS_INLINE_FUNCTION void signs(Index t, std::uint32_t word) const {
    message[block.place + t] = word;
    own[block.word + t] = word;
  }

  ResidualBuffers buffers;
  WordBlock block;
  float scale;
  std::uint32_t* message;
  std::uint32_t* own;
  Form form;
};

template <class Space, class Form>
struct FormWords {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (buffers.skipped()) return;
    WordBlock const block = slice.blocks[team.league_rank()];
    bool const spent = buffers.spent != nullptr && *buffers.spent != 0;
    auto const sums = spent ? formed<true>(team, block) : formed<false>(team, block);
    buffers.put(team, block, sums);
  }

  template <bool spent, class Team>
  KOKKOS_INLINE_FUNCTION Sums<sums_of_words> formed(Team const& team, WordBlock const& block) const {
    Form of = form;
    if constexpr (!TeamShape<Space>::host && FormsBlocks<Form>) {
      Index const first = block.word * word_elements, last = (block.word + block.words) * word_elements;
      if (of.begin_block(first, Kokkos::min(last, buffers.count))) return over<spent, true>(team, block, of);
    }
    return over<spent, false>(team, block, of);
  }
  template <bool spent, bool shared, class Team>
  KOKKOS_INLINE_FUNCTION Sums<sums_of_words> over(Team const& team, WordBlock const& block, Form const& of) const {
    WorkerSource<Space, Form, spent, shared> source{buffers, block, buffers.kept[block.scale], message, own, of};
    return signs_and_sums<Space>(team, block, buffers.count, source);
  }

  BlockSlice slice;
  ResidualBuffers buffers;
  std::uint32_t* message;
  std::uint32_t* own;
  Form form;
};

}  // namespace detail

/// Forms z = form(k) + residual, its signs and the sums for its scale in one pass over the vector (compressor of
/// docs/developer/onebit_methods.md, section 3). `message`: words at the places of the blocks. `own`: (ceil(count /
/// 32)) the same words in vector order. `form`: KOKKOS_FUNCTION float(Index), called once per element; values of masked
/// elements are ignored.
template <class Space, class Form>
void form_words(Space const& exec, BlockSlice const& slice, ResidualBuffers const& buffers, std::uint32_t* message,
                std::uint32_t* own, Form const& form) {
  if (slice.count == 0) return;
  require_neighbours<Space>(buffers.z);
  launch<"bellwether::comm::form_words">(lanes_policy(exec, slice.count),
                                         detail::FormWords<Space, Form>{slice, buffers, message, own, form});
}

/// Messages of `ranks` workers. Rank i's words start at block.place + i * stride, its scale is at
/// block.scale_place + i * scale_stride.
struct Received {
  std::uint32_t const* words = nullptr;
  Index stride = 0;
  Index scale_stride = 0;
  int ranks = 1;
};

/// Forms y = (sum over ranks i, in rank order, of S_i sign_i) / P + residual in fp32, its signs and the sums for its
/// scale. `signs`: (words of the chunk).
template <class Space>
void serve_words(Space const& exec, BlockSlice const& slice, ResidualBuffers const& buffers, Received const& received,
                 std::uint32_t* signs);

/// The scales that a pass computes.
struct ScaleTable {
  Index count;               ///< number of scales
  ScaleRange const* ranges;  ///< (count)
  float* scales;             ///< (count), written
  double* errors;            ///< (count), written: |z - S sgn(z)|^2 over each range
};

/// Computes the scale of each range from the sums of its blocks, over active elements only; 0 if there are none. Of
/// `buffers` it reads only the sums and the skip flag.
template <class Space>
void scales_from_sums(Space const& exec, ScaleTable const& table, ResidualBuffers const& buffers, Scale rule);

/// Marks z as spent after a pass, unless the pass was skipped: the next residual counts as 0. spent: (1).
template <class Space>
void mark_spent(Space const& exec, ResidualBuffers const& buffers, std::int32_t* spent);

/// If *spent is not 0, zeroes z (count) and *spent (1).
template <class Space>
void clear_spent(Space const& exec, Index count, float* z, std::int32_t* spent);

/// Writes the scales into their slots of a message.
template <class Space>
void place_scales(Space const& exec, Index count, ScaleSlot const* slots, float const* scales, std::uint32_t* message);

/// Unpacks the gathered messages into element order: signs and magnitudes, (words of the vector) each.
template <class Space>
void unpack_words(Space const& exec, BlockSlice const& slice, std::uint32_t const* messages, std::uint32_t* signs,
                  float* magnitudes);

/// Packs the message of a slice: the signs of its words, then the magnitude of each part. part_first: (parts)
/// first word of each part.
template <class Space>
void pack_slice(Space const& exec, Index words, Index parts, Index const* part_first, Decoded const& slice,
                std::uint32_t* message);

/// Sets the bit of every active element whose value is positive, see positive(). values: (count), on devices aligned to
/// 16 bytes. active, signs: (ceil(count / 32)).
template <class Space>
void sign_words(Space const& exec, Index count, float const* values, std::uint32_t const* active, std::uint32_t* signs);

/// Replaces z by the residual, +0 for masked elements.
template <class Space>
void keep_residual(Space const& exec, BlockSlice const& slice, ResidualBuffers const& buffers);

/// to[w] = from[w] for w < ceil(count / 32), with the bits beyond `count` cleared. from = nullptr means all ones.
template <class Space>
void copy_active(Space const& exec, Index count, std::uint32_t const* from, std::uint32_t* to);

/// to[k] += from[k] for k < count.
template <class Space>
void add_values(Space const& exec, Index count, float const* from, float* to);

}  // namespace bellwether::comm
