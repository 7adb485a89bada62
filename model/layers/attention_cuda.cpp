// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Attention on NVIDIA GPUs. Heads of 64 elements in bf16, which are those of BERT, on the matrix units, by tiles of 64
// queries and 64 keys (Dao, "FlashAttention-2", arXiv 2307.08691, sections 3.1 and 3.2, without its sums by atomics:
// gradients of queries and those of keys and values have a kernel each). All others by teams.
#include "core/error.hpp"
#include "model/layers/attention_team.hpp"
#include "model/layers/attention_tiles_cuda.hpp"

namespace bellwether::model {
namespace {

using namespace attention_tiles;

struct Forward {
  Params p;
  bf16* context;
  int tiles_of_head;

  /// While a tile of keys and values is worked on, the next one arrives.
  __device__ void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16;
    Tiles<5> const memory(team);
    Tile const q = memory[0];
    auto const fetch = [&](int key, int turn) {
      int const keys = at.rows_from(key);
      copy_async<team_threads>(memory[1 + 2 * turn], at.k + key * at.stride, at.stride, keys, thread);
      copy_async<team_threads>(memory[2 + 2 * turn], at.v + key * at.stride, at.stride, keys, thread);
    };
    copy_async<team_threads>(q, at.q + at.row * at.stride, at.stride, at.rows_from(at.row), thread);
    fetch(0, 0);
    Drops const drops(p, at, at.row + row);
    RunningSoftmax softmax;
    Result sums;
    clear(sums);
    for (int key = 0, turn = 0; key < at.length; key += extent, turn ^= 1) {
      await_copies();
      team.team_barrier();
      if (key + extent < at.length) fetch(key + extent, turn ^ 1);
      Result weights;
      clear(weights);
      multiply_by_transpose(weights, q, row, memory[1 + 2 * turn]);
      mask(weights, at.rows_from(key));
      float decay[2];
      softmax.add(weights, score_scale * log2_e, decay);
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[n][e] *= decay[half_of(e)];
      drops.apply(key, weights);
      Left left;
      as_left(left, weights);
      multiply(sums, left, memory[2 + 2 * turn]);
    }
    float scale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float const total = row_sum(softmax.total[half]);
      scale[half] = 1 / total;
      int const query = at.row + row + lane() / 4 + 8 * half;
      if (p.logarithms != nullptr && lane() % 4 == 0 && query < at.length)
        p.logarithms[at.first * p.heads + at.head * at.length + query] = softmax.largest[half] + log2f(total);
    }
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[n][e] *= scale[half_of(e)];
    store(team, q, sums, context + (at.first + at.row) * p.C + at.head * extent, p.C, at.rows_from(at.row));
  }

  /// A tile's result to a matrix, through shared memory, where nobody reads any more.
  __device__ static void store(Team const& team, Tile const& through, Result const& result, bf16* to, Index stride,
                               int rows) {
    int const thread = team.team_rank();
    Left rounded;
    as_left(rounded, result);
    write(through, thread / 32 * 16, rounded);
    team.team_barrier();
    copy<team_threads>(through, to, stride, rows, thread);
  }
};

/// Backward: with W = mask * P and dW = dO V^T, dV = W^T dO, dS = W * dW - P * rowsum(W * dW), as on a host.
/// rowsum(W * dW) is rowsum(O * dO) (section 2.3.2 there), which goes from the first kernel to the second, for each
/// query. P is formed again by the logarithm of softmax's sum, which forward has kept.
struct Backward {
  Params p;
  bf16 const* dcontext;
  bf16* dqkv;
  int tiles_of_head;

  __device__ Index first_query(Place const& at) const { return at.first * p.heads + at.head * at.length; }
  __device__ float const* logarithms(Place const& at) const { return p.logarithms + first_query(at); }
  __device__ float* row_sums(Place const& at) const { return p.scratch + first_query(at); }
  /// A word of Drops for each thread of the team that has a tile of queries, and tile of keys: what the first kernel
  /// has drawn, the second does not draw again.
  __device__ std::uint32_t* kept(Place const& at, int query, int key, int thread) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(p.scratch + p.sequences * p.longest * p.heads);
    Index const tile = (Index{at.pair} * tiles_of_head + query / extent) * tiles_of_head + key / extent;
    return words + tile * team_threads + thread;
  }
  __device__ Index context_of(Place const& at) const { return at.first * p.C + at.head * extent; }
  __device__ bf16* dqkv_of(Place const& at) const { return dqkv + at.first * at.stride + at.head * extent; }
};

struct QueryBackward : Backward {
  __device__ void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16, queries = at.rows_from(at.row);
    Tiles<7> const memory(team);
    Tile const q = memory[0], dcontext_tile = memory[1], context_tile = memory[2];
    auto const fetch = [&](int key, int turn) {
      int const keys = at.rows_from(key);
      copy_async<team_threads>(memory[3 + 2 * turn], at.k + key * at.stride, at.stride, keys, thread);
      copy_async<team_threads>(memory[4 + 2 * turn], at.v + key * at.stride, at.stride, keys, thread);
    };
    Index const of_tile = context_of(at) + at.row * p.C;
    copy_async<team_threads>(q, at.q + at.row * at.stride, at.stride, queries, thread);
    copy_async<team_threads>(dcontext_tile, dcontext + of_tile, p.C, queries, thread);
    copy_async<team_threads>(context_tile, p.context + of_tile, p.C, queries, thread);
    fetch(0, 0);
    Drops const drops(p, at, at.row + row);
    float logarithm[2], row_product[2];
    for (int half = 0; half < 2; ++half) {
      int const query = at.row + row + lane() / 4 + 8 * half;
      logarithm[half] = query < at.length ? logarithms(at)[query] : INFINITY;
    }
    await_copies();
    team.team_barrier();
    row_products(dcontext_tile, context_tile, row, row_product);
    for (int half = 0; half < 2; ++half) {
      int const query = at.row + row + lane() / 4 + 8 * half;
      if (lane() % 4 == 0 && query < at.length) row_sums(at)[query] = row_product[half];
    }
    Result sums;
    clear(sums);
    for (int key = 0, turn = 0; key < at.length; key += extent, turn ^= 1) {
      if (key > 0) {
        await_copies();
        team.team_barrier();
      }
      if (key + extent < at.length) fetch(key + extent, turn ^ 1);
      Tile const k = memory[3 + 2 * turn], v = memory[4 + 2 * turn];
      Result scores, dweights;
      clear(scores);
      clear(dweights);
      multiply_by_transpose(scores, q, row, k);
      multiply_by_transpose(dweights, dcontext_tile, row, v);
      mask(scores, at.rows_from(key));
      std::uint32_t const word = drops.kept(key);
      if (drops.active) *kept(at, at.row, key, thread) = word;
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float const probability = power_of_two(scores[n][e] * (score_scale * log2_e) - logarithm[half_of(e)]);
          scores[n][e] = probability * (factor_of(word, n, e, p.rule) * dweights[n][e] - row_product[half_of(e)]);
        }
      Left left;
      as_left(left, scores);
      multiply(sums, left, k);
    }
    for (auto& columns : sums)
      for (float& value : columns) value *= score_scale;
    Forward::store(team, q, sums, dqkv_of(at) + at.row * at.stride, at.stride, queries);
  }
};

struct KeyBackward : Backward {
  __device__ void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16, keys = at.rows_from(at.row);
    Tiles<7> const memory(team);
    Tile const k = memory[0], v = memory[1], left_tile = memory[2];
    auto const fetch = [&](int query, int turn) {
      int const queries = at.rows_from(query);
      copy_async<team_threads>(memory[3 + 2 * turn], at.q + query * at.stride, at.stride, queries, thread);
      copy_async<team_threads>(memory[4 + 2 * turn], dcontext + context_of(at) + query * p.C, p.C, queries, thread);
    };
    copy_async<team_threads>(k, at.k + at.row * at.stride, at.stride, keys, thread);
    copy_async<team_threads>(v, at.v + at.row * at.stride, at.stride, keys, thread);
    Result dkeys, dvalues;
    clear(dkeys);
    clear(dvalues);
    fetch(0, 0);
    for (int query = 0, turn = 0; query < at.length; query += extent, turn ^= 1) {
      float logarithm[2], row_product[2];
      for (int half = 0; half < 2; ++half) {
        int const mine = query + row + lane() / 4 + 8 * half;
        logarithm[half] = mine < at.length ? logarithms(at)[mine] : INFINITY;  // no query: no weight
        row_product[half] = mine < at.length ? row_sums(at)[mine] : 0.0f;
      }
      std::uint32_t const word = p.dropout.active() ? *kept(at, query, at.row, thread) : ~0u;
      await_copies();
      team.team_barrier();
      if (query + extent < at.length) fetch(query + extent, turn ^ 1);
      Tile const q = memory[3 + 2 * turn], dcontext_tile = memory[4 + 2 * turn];
      Result scores, dweights;
      clear(scores);
      clear(dweights);
      multiply_by_transpose(scores, q, row, k);
      multiply_by_transpose(dweights, dcontext_tile, row, v);
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float const probability = power_of_two(scores[n][e] * (score_scale * log2_e) - logarithm[half_of(e)]);
          float const factor = factor_of(word, n, e, p.rule);
          scores[n][e] = probability * factor;
          dweights[n][e] = probability * (factor * dweights[n][e] - row_product[half_of(e)]);
        }
      Left weights, dscores;
      as_left(weights, scores);
      as_left(dscores, dweights);
      write(left_tile, row, weights);
      team.team_barrier();
      multiply_transposed(dvalues, left_tile, row, dcontext_tile);
      team.team_barrier();
      write(left_tile, row, dscores);
      team.team_barrier();
      multiply_transposed(dkeys, left_tile, row, q);
      team.team_barrier();
    }
    for (auto& columns : dkeys)
      for (float& value : columns) value *= score_scale;
    bf16* const to = dqkv_of(at) + at.row * at.stride;
    Forward::store(team, k, dkeys, to + p.C, at.stride, keys);
    Forward::store(team, v, dvalues, to + 2 * p.C, at.stride, keys);
  }
};

template <class Real, class Stored>
constexpr bool has_tiles = std::is_same_v<Real, float>&& std::is_same_v<Stored, bf16>;

/// Whether heads are as wide as a tile.
bool fits(Index C, Index heads) { return C == heads * extent; }

/// As many heads at once as keep a device busy: a team of 256 threads for every 1024 that it runs.
Index team_slots(Kokkos::Cuda const& exec) { return Kokkos::max(1, exec.concurrency() / 1024); }

bool is_aligned(void const* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

}  // namespace

template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index sequences, Index C, Index heads, Index longest) {
  if (has_tiles<Real, Stored> && fits(C, heads)) {
    Index const of_head = tiles(longest);
    return sequences * heads * (longest + of_head * of_head * team_threads);
  }
  return team_slots(exec) * 3 * longest * longest;
}

template <class Real, class Stored, class Space>
Index attention_keeps(Space const&, Index T, Index C, Index heads) {
  return has_tiles<Real, Stored> && fits(C, heads) ? T * heads : 0;
}

template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context) {
  if constexpr (has_tiles<Real, Stored>)
    if (fits(p.C, p.heads)) {
      require(is_aligned(p.qkv) && is_aligned(context), "rows of attention begin at multiples of 16 bytes");
      int const tiles_of_head = tiles(p.longest);
      Kokkos::parallel_for("bellwether::model::attention_forward",
                           Tiles<5>::policy<4>(exec, p.sequences * p.heads * tiles_of_head),
                           Forward{Params(p), context, tiles_of_head});
      return;
    }
  team_attention_forward(exec, p, team_slots(exec), context);
}

template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv) {
  if constexpr (has_tiles<Real, Stored>)
    if (fits(p.C, p.heads)) {
      require(p.context != nullptr && p.logarithms != nullptr, "backward of attention without what forward has kept");
      require(is_aligned(p.qkv) && is_aligned(p.context) && is_aligned(dcontext) && is_aligned(dqkv),
              "rows of attention begin at multiples of 16 bytes");
      int const tiles_of_head = tiles(p.longest);
      Index const teams = p.sequences * p.heads * tiles_of_head;
      Backward const shared{Params(p), dcontext, dqkv, tiles_of_head};
      Kokkos::parallel_for("bellwether::model::attention_backward_queries", Tiles<7>::policy<3>(exec, teams),
                           QueryBackward{shared});
      Kokkos::parallel_for("bellwether::model::attention_backward_keys", Tiles<7>::policy<3>(exec, teams),
                           KeyBackward{shared});
      return;
    }
  team_attention_backward(exec, p, team_slots(exec), dcontext, dqkv);
}

BELLWETHER_FOR_CUDA(BELLWETHER_ATTENTION)

}  // namespace bellwether::model
