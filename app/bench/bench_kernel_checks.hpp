// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <cstdint>

/// What `bench kernels` gives to kernels, and what must come of it by plain formulas. Pointers are into the memory of
/// `exec`; the functions that count wrong elements wait for it.
namespace bellwether::comm {
class Decoded;
struct WordBlock;
}  // namespace bellwether::comm

namespace bellwether::app {

/// U(-0.5, 0.5), with a -0 here and there, whose sign is positive.
template <class Space>
void fill_bench_values(Space const& exec, Index count, float* values);

/// What `ranks` workers sent to one server: bits without order, and 0.1 (rank + 1) for all scales. Of each message,
/// `stride` words apart, the blocks' places are filled.
template <class Space>
void fill_bench_messages(Space const& exec, Index blocks, comm::WordBlock const* of, int ranks, Index stride,
                         std::uint32_t* messages);

/// Elements whose sign is not that of `before`, or whose magnitude is another.
template <class Space>
Index wrong_signs(Space const& exec, Index count, float magnitude, float const* before, float const* after);

/// outputs[k] += mean(k).
template <class Space>
void add_bench_mean(Space const& exec, Index count, comm::Decoded const& mean, double* outputs);

/// Elements of which |outputs + residual - calls given| is not at most `allowed`.
template <class Space>
Index lost_elements(Space const& exec, Index count, double const* outputs, float const* residual, int calls,
                    float const* given, double allowed);

/// Elements of a server that are not the mean over the messages of fill_bench_messages(), whose signs stand in order at
/// the beginning of each, plus `before`, or whose sign is another.
template <class Space>
Index wrong_sums(Space const& exec, Index count, int ranks, Index stride, std::uint32_t const* messages,
                 float const* before, float const* after, std::uint32_t const* signs);

/// Elements of a mean over `ranks` chunks, (ranks, count), that is not their sum in order over their number.
template <class Space>
Index wrong_means(Space const& exec, Index count, int ranks, float const* chunks, float const* mean);

/// Elements that are farther from `before` than 2^-8 of it, what rounding to bf16 leaves.
template <class Space>
Index far_from_bf16(Space const& exec, Index count, float const* before, float const* after);

}  // namespace bellwether::app
