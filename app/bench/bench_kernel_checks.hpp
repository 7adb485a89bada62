// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <cstdint>

/// Inputs of the kernels in `bench kernels`, and checks of their outputs by plain formulas. Pointers refer to memory of
/// `exec`. The functions that count wrong elements wait for `exec`.
namespace bellwether::comm {
class Decoded;
struct WordBlock;
}  // namespace bellwether::comm

namespace bellwether::app {

/// Several exchanges of one vector, (count) each.
struct CodedCalls {
  double const* outputs;  ///< sum of the means of all calls
  float const* residual;  ///< what is left after the last one
  int calls;              ///< number of exchanges
  float const* given;     ///< the vector
};

/// What a server read and wrote.
struct ServedWords {
  int ranks;                      ///< number of messages
  Index stride;                   ///< words between the messages of ranks
  std::uint32_t const* messages;  ///< (ranks, stride)
  float const* before;            ///< (count) z
  float const* after;             ///< (count) z
  std::uint32_t const* signs;     ///< (ceil(count / 32)) of z after
};

/// Fills `values` with U(-0.5, 0.5) and a few -0, which count as positive.
template <class Space>
void fill_bench_values(Space const& exec, Index count, float* values);

/// Fills the messages that `ranks` workers send to one server: random sign bits, and 0.1 (rank + 1) for all scales.
///
/// messages: `stride` words apart; only the places of the blocks `of[0..blocks)` are filled.
template <class Space>
void fill_bench_messages(Space const& exec, Index blocks, comm::WordBlock const* of, int ranks, Index stride,
                         std::uint32_t* messages);

/// Counts the elements of `after` that differ from the sign of `before` times `magnitude`.
template <class Space>
Index wrong_signs(Space const& exec, Index count, float magnitude, float const* before, float const* after);

/// Computes outputs[k] += mean(k).
template <class Space>
void add_bench_mean(Space const& exec, Index count, comm::Decoded const& mean, double* outputs);

/// Counts the elements for which |outputs + residual - calls given| exceeds `allowed`.
template <class Space>
Index lost_elements(Space const& exec, Index count, CodedCalls const& coded, double allowed);

/// Counts the elements of a server with a wrong value or sign. The expected value is the mean over the messages of
/// fill_bench_messages() plus `before`. Each message begins with its signs in the order of the elements.
template <class Space>
Index wrong_sums(Space const& exec, Index count, ServedWords const& served);

/// Counts the elements of `mean` that differ from the sum of the chunks (ranks, count) in rank order over `ranks`.
template <class Space>
Index wrong_means(Space const& exec, Index count, int ranks, float const* chunks, float const* mean);

/// Counts the elements that differ from `before` by more than 2^-8 of it, the bound for rounding to bf16.
template <class Space>
Index far_from_bf16(Space const& exec, Index count, float const* before, float const* after);

}  // namespace bellwether::app
