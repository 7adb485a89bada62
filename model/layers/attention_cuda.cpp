// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Attention on NVIDIA GPUs: matrix units for bf16 heads of 64 elements, TeamAttention for all others.
#include "core/gemm/warp_cuda.hpp"
#include "core/system/error.hpp"
#include "model/layers/attention_team.hpp"
#include "model/layers/attention_tile_kernels.hpp"

namespace bellwether::model {
namespace {

using namespace attention_tiles;

/// Launches a kernel with `teams` teams. `together` teams must fit on a multiprocessor, which limits the registers of a
/// thread.
template <unsigned together, class Kernel>
void run(char const* label, Kokkos::Cuda const& exec, Index teams, Kernel const& kernel) {
  Kokkos::TeamPolicy<Kokkos::Cuda, Kokkos::LaunchBounds<team_threads, together>> policy(exec, static_cast<int>(teams),
                                                                                        team_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(SharedTiles::scratch_bytes));
  Kokkos::parallel_for(label, policy, kernel);
}

template <class Real, class Stored>
constexpr bool has_tiles = std::is_same_v<Real, float>&& std::is_same_v<Stored, bf16>;

/// Returns whether a head has as many elements as a tile.
bool fits(Index C, Index heads) { return C == heads * extent; }

/// Returns the number of heads processed at once: a team of 256 threads for every 1024 threads that the device runs.
Index team_slots(Kokkos::Cuda const& exec) { return Kokkos::max(1, exec.concurrency() / 1024); }

bool is_aligned(void const* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

}  // namespace

template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index sequences, Index C, Index heads, Index longest) {
  if (has_tiles<Real, Stored> && fits(C, heads)) return scratch_numbers(sequences, heads, longest);
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
      require(is_aligned(p.qkv) && is_aligned(context), "rows of attention must begin at multiples of 16 bytes");
      int const tiles_of_head = tiles(p.longest);
      run<4>("bellwether::model::attention_forward", exec, p.sequences * p.heads * tiles_of_head,
             Forward<CudaWarp>{Params(p), context, tiles_of_head});
      return;
    }
  team_attention_forward(exec, p, team_slots(exec), context);
}

template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv) {
  if constexpr (has_tiles<Real, Stored>)
    if (fits(p.C, p.heads)) {
      require(p.context != nullptr && p.logarithms != nullptr,
              "backward of attention needs the output and logarithms of forward");
      require(is_aligned(p.qkv) && is_aligned(p.context) && is_aligned(dcontext) && is_aligned(dqkv),
              "rows of attention must begin at multiples of 16 bytes");
      int const tiles_of_head = tiles(p.longest);
      Index const teams = p.sequences * p.heads * tiles_of_head;
      Backward const shared{Params(p), dcontext, dqkv, tiles_of_head};
      run<3>("bellwether::model::attention_backward_queries", exec, teams, QueryBackward<CudaWarp>{shared});
      run<3>("bellwether::model::attention_backward_keys", exec, teams, KeyBackward<CudaWarp>{shared});
      return;
    }
  team_attention_backward(exec, p, team_slots(exec), dcontext, dqkv);
}

BELLWETHER_FOR_CUDA(BELLWETHER_ATTENTION)

}  // namespace bellwether::model
