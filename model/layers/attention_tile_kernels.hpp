// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/layers/attention_tiles.hpp"

/// bf16 attention on matrix units for heads of 64 elements, as in BERT. Tiles have 64 queries and 64 keys. The
/// algorithm is FlashAttention-2 (Dao, arXiv 2307.08691, sections 3.1 and 3.2). Unlike the paper, backward needs no
/// atomics: one kernel computes the gradients of the queries, another those of the keys and values. Warp: a type of
/// core/gemm/warp_matrix.hpp.
namespace bellwether::model::attention_tiles {

template <class Warp>
struct Forward {
  Params p;
  bf16* context;
  int tiles_of_head;

  /// The next tile of keys and values is copied while the current one is processed.
  template <class Team>
  BELLWETHER_DEVICE void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16;
    SharedTiles const memory(Warp(), team);
    Tile const q = memory[0];
    auto const fetch = [&](int key, int turn) {
      int const keys = at.rows_from(key);
      copy_async<Warp, team_threads>(memory[1 + 2 * turn], at.k + key * at.stride, at.stride, keys, thread);
      copy_async<Warp, team_threads>(memory[2 + 2 * turn], at.v + key * at.stride, at.stride, keys, thread);
    };
    copy_async<Warp, team_threads>(q, at.q + at.row * at.stride, at.stride, at.rows_from(at.row), thread);
    fetch(0, 0);
    Drops const drops(p, at, at.row + row, Warp::lane());
    RunningSoftmax<Warp> softmax;
    Result sums;
    clear(sums);
    for (int key = 0, turn = 0; key < at.length; key += extent, turn ^= 1) {
      Warp::await_fetched();
      team.team_barrier();
      if (key + extent < at.length) fetch(key + extent, turn ^ 1);
      Result weights;
      clear(weights);
      multiply_by_transpose<Warp>(weights, q, row, memory[1 + 2 * turn]);
      mask(weights, at.rows_from(key), Warp::lane());
      float decay[2];
      softmax.add(weights, score_scale * log2_e, decay);
      each_element([&](int n, int e) { sums[n][e] *= decay[half_of(e)]; });
      drops.apply(key, weights);
      Left left;
      as_left(left, weights);
      multiply<Warp>(sums, left, memory[2 + 2 * turn]);
    }
    float scale[2];
    BELLWETHER_UNROLL
    for (int half = 0; half < 2; ++half) {
      float const total = row_sum<Warp>(softmax.total[half]);
      scale[half] = 1 / total;
      int const query = at.row + row + Warp::lane() / 4 + 8 * half;
      if (p.logarithms != nullptr && Warp::lane() % 4 == 0 && query < at.length)
        p.logarithms[at.first * p.heads + at.head * at.length + query] = softmax.largest[half] + Kokkos::log2(total);
    }
    each_element([&](int n, int e) { sums[n][e] *= scale[half_of(e)]; });
    store(team, q, sums, context + (at.first + at.row) * p.C + at.head * extent, p.C, at.rows_from(at.row));
  }

  /// Writes a result tile to a matrix through shared memory, which no thread may be reading any more.
  template <class Team>
  BELLWETHER_DEVICE static void store(Team const& team, Tile const& through, Result const& result, bf16* to,
                                      Index stride, int rows) {
    int const thread = team.team_rank();
    Left rounded;
    as_left(rounded, result);
    write<Warp>(through, thread / 32 * 16, rounded);
    team.team_barrier();
    copy<Warp, team_threads>(through, to, stride, rows, thread);
  }
};

/// Backward, as on a host: W = mask * P. dW = dO V^T. dV = W^T dO. dS = W * dW - P * rowsum(W * dW). The first kernel
/// computes rowsum(W * dW) = rowsum(O * dO) of each query (section 2.3.2 of FlashAttention-2) and stores it for the
/// second. P is recomputed from the logarithm of the softmax sum, which forward stored.
struct Backward {
  Params p;
  bf16 const* dcontext;
  bf16* dqkv;
  int tiles_of_head;

  BELLWETHER_DEVICE Index first_query(Place const& at) const { return at.first * p.heads + at.head * at.length; }
  BELLWETHER_DEVICE float const* logarithms(Place const& at) const { return p.logarithms + first_query(at); }
  BELLWETHER_DEVICE float* row_sums(Place const& at) const { return p.scratch + first_query(at); }
  /// Address of one thread's word of Drops for a tile of queries and a tile of keys. The first kernel stores its
  /// dropout draws there and the second one reads them.
  BELLWETHER_DEVICE std::uint32_t* kept(Place const& at, int query, int key, int thread) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(p.scratch + p.sequences * p.longest * p.heads);
    Index const tile = (Index{at.pair} * tiles_of_head + query / extent) * tiles_of_head + key / extent;
    return words + tile * team_threads + thread;
  }
  BELLWETHER_DEVICE Index context_of(Place const& at) const { return at.first * p.C + at.head * extent; }
  BELLWETHER_DEVICE bf16* dqkv_of(Place const& at) const { return dqkv + at.first * at.stride + at.head * extent; }
};

/// Gradients of the queries. A warp holds 16 queries of the tile and the rows of their output gradient in registers.
template <class Warp>
struct QueryBackward : Backward {
  template <class Team>
  BELLWETHER_DEVICE void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16, queries = at.rows_from(at.row);
    SharedTiles const memory(Warp(), team);
    auto const keys_of = [&](int turn) { return memory[turn == 0 ? 3 : 0]; };
    auto const values_of = [&](int turn) { return memory[turn == 0 ? 4 : 1]; };
    Tile const context_tile = memory[2];
    auto const fetch = [&](int key, int turn) {
      int const keys = at.rows_from(key);
      copy_async<Warp, team_threads>(keys_of(turn), at.k + key * at.stride, at.stride, keys, thread);
      copy_async<Warp, team_threads>(values_of(turn), at.v + key * at.stride, at.stride, keys, thread);
    };
    // Queries and output gradients use the shared memory that later holds the second tiles of keys and values.
    Index const of_tile = context_of(at) + at.row * p.C;
    copy_async<Warp, team_threads>(keys_of(1), at.q + at.row * at.stride, at.stride, queries, thread);
    copy_async<Warp, team_threads>(values_of(1), dcontext + of_tile, p.C, queries, thread);
    copy_async<Warp, team_threads>(context_tile, p.context + of_tile, p.C, queries, thread);
    fetch(0, 0);
    Drops const drops(p, at, at.row + row, Warp::lane());
    float logarithm[2], row_product[2];
    for (int half = 0; half < 2; ++half) {
      int const query = at.row + row + Warp::lane() / 4 + 8 * half;
      logarithm[half] = query < at.length ? logarithms(at)[query] : infinity;
    }
    Warp::await_fetched();
    team.team_barrier();
    Left q, dcontexts;
    read<Warp>(q, keys_of(1), row);
    read<Warp>(dcontexts, values_of(1), row);
    row_products<Warp>(values_of(1), context_tile, row, row_product);
    for (int half = 0; half < 2; ++half) {
      int const query = at.row + row + Warp::lane() / 4 + 8 * half;
      if (Warp::lane() % 4 == 0 && query < at.length) row_sums(at)[query] = row_product[half];
    }
    Result sums;
    clear(sums);
    team.team_barrier();
    for (int key = 0, turn = 0; key < at.length; key += extent, turn ^= 1) {
      if (key > 0) {
        Warp::await_fetched();
        team.team_barrier();
      }
      if (key + extent < at.length) fetch(key + extent, turn ^ 1);
      Result scores, dweights;
      clear(scores);
      clear(dweights);
      multiply_by_transpose<Warp>(scores, q, keys_of(turn));
      multiply_by_transpose<Warp>(dweights, dcontexts, values_of(turn));
      mask(scores, at.rows_from(key), Warp::lane());
      std::uint32_t const word = drops.kept(key);
      if (drops.active) *kept(at, at.row, key, thread) = word;
      each_element([&](int n, int e) {
        float const probability = power_of_two(scores[n][e] * (score_scale * log2_e) - logarithm[half_of(e)]);
        float const factor = factor_of(word, bit_of(n, e), p.rule);
        scores[n][e] = probability * (factor * dweights[n][e] - row_product[half_of(e)]);
      });
      Left left;
      as_left(left, scores);
      multiply<Warp>(sums, left, keys_of(turn));
    }
    each_element([&](int n, int e) { sums[n][e] *= score_scale; });
    Forward<Warp>::store(team, context_tile, sums, dqkv_of(at) + at.row * at.stride, at.stride, queries);
  }
};

/// Gradients of keys and values. A warp holds 16 keys of the tile. Its product of these with 64 queries is transposed,
/// so that it can be the left operand of the following products.
template <class Warp>
struct KeyBackward : Backward {
  template <class Team>
  BELLWETHER_DEVICE void operator()(Team const& team) const {
    Place const at(p, team, tiles_of_head);
    if (at.row >= at.length) return;
    int const thread = team.team_rank(), row = thread / 32 * 16, keys = at.rows_from(at.row);
    SharedTiles const memory(Warp(), team);
    Tile const v = memory[0];
    auto const fetch = [&](int query, int turn) {
      int const queries = at.rows_from(query);
      copy_async<Warp, team_threads>(memory[1 + 2 * turn], at.q + query * at.stride, at.stride, queries, thread);
      copy_async<Warp, team_threads>(memory[2 + 2 * turn], dcontext + context_of(at) + query * p.C, p.C, queries,
                                     thread);
    };
    // Keys use the shared memory that later holds the second tile of queries.
    copy_async<Warp, team_threads>(memory[3], at.k + at.row * at.stride, at.stride, keys, thread);
    copy_async<Warp, team_threads>(v, at.v + at.row * at.stride, at.stride, keys, thread);
    fetch(0, 0);
    float logarithm = 0, row_sum = 0;  // of one query of the next tile
    auto const fetch_numbers = [&](int query) {
      bool const there = thread < extent && query + thread < at.length;
      logarithm = there ? logarithms(at)[query + thread] : infinity;  // infinity gives missing queries a weight of 0
      row_sum = there ? row_sums(at)[query + thread] : 0.0f;
    };
    fetch_numbers(0);
    Result dkeys, dvalues;
    clear(dkeys);
    clear(dvalues);
    Left k;
    for (int query = 0, turn = 0; query < at.length; query += extent, turn ^= 1) {
      if (thread < extent) memory.numbers(turn).write(Warp(), thread, logarithm, row_sum);
      Warp::await_fetched();
      team.team_barrier();
      if (query == 0) {
        read<Warp>(k, memory[3], row);
        team.team_barrier();
      }
      if (query + extent < at.length) {
        fetch(query + extent, turn ^ 1);
        fetch_numbers(query + extent);
      }
      Tile const q = memory[1 + 2 * turn], dcontext_tile = memory[2 + 2 * turn];
      Words words;
      read_words(at, query, row, words);
      Result scores, dweights;
      clear(scores);
      clear(dweights);
      multiply_by_transpose<Warp>(scores, k, q);
      multiply_by_transpose<Warp>(dweights, v, row, dcontext_tile);
      weigh(words, memory.numbers(turn), scores, dweights);
      Left left;
      as_left(left, scores);
      multiply<Warp>(dvalues, left, dcontext_tile);
      as_left(left, dweights);
      multiply<Warp>(dkeys, left, q);
    }
    each_element([&](int n, int e) { dkeys[n][e] *= score_scale; });
    bf16* const to = dqkv_of(at) + at.row * at.stride;
    Forward<Warp>::store(team, v, dkeys, to + p.C, at.stride, keys);
    Forward<Warp>::store(team, memory[1], dvalues, to + 2 * p.C, at.stride, keys);
  }

  /// Dropout bits of a warp's 16 keys and a tile of queries: a word for each group of 16 queries and query parity.
  using Words = std::uint32_t[extent / 16][2];

  /// Reads dropout bits that other lanes drew. This lane needs queries 8 n + 2 (lane % 4) + i and keys row + lane / 4 +
  /// 8 half. One word serves two queries 8 apart, whose bits are 2 apart, and the two keys, whose bits are 4 apart.
  BELLWETHER_DEVICE void read_words(Place const& at, int query, int row, Words& words) const {
    int const lane = Warp::lane();
    BELLWETHER_UNROLL
    for (int sixteen = 0; sixteen < extent / 16; ++sixteen) {
      BELLWETHER_UNROLL
      for (int i = 0; i < 2; ++i) {
        int const drawn_by = 32 * sixteen + (lane % 4 * 2 + i) * 4 + lane / 8;
        words[sixteen][i] = p.dropout.active() ? *kept(at, query, at.row, drawn_by) >> (row / 2 + lane / 4 % 2) : ~0u;
      }
    }
  }

  /// scores <- W^T, dweights <- dS^T.
  BELLWETHER_DEVICE void weigh(Words const& words, QueryNumbers const& numbers, Result& scores,
                               Result& dweights) const {
    int const lane = Warp::lane();
    float logarithm[2] = {}, row_sum[2] = {};
    each_element([&](int n, int e) {
      if (e == 0) numbers.read(Warp(), 8 * n + lane % 4 * 2, logarithm, row_sum);
      int const i = e % 2;
      float const probability = power_of_two(scores[n][e] * (score_scale * log2_e) - logarithm[i]);
      float const factor = factor_of(words[n / 2][i], 4 * half_of(e) + 2 * (n % 2), p.rule);
      scores[n][e] = probability * factor;
      dweights[n][e] = probability * (factor * dweights[n][e] - row_sum[i]);
    });
  }
};

/// Returns the scratch size of backward, in elements.
inline Index scratch_numbers(Index sequences, Index heads, Index longest) {
  Index const of_head = tiles(longest);
  return sequences * heads * (longest + of_head * of_head * team_threads);
}

}  // namespace bellwether::model::attention_tiles
