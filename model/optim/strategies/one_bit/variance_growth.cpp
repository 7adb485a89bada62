// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/variance_growth.hpp"

#include "core/device/launch.hpp"
#include "core/simd/reduce.hpp"
#include "model/optim/strategies/one_bit/tensor_sketch_body.hpp"

namespace bellwether::optim {
namespace {

using namespace tensor_sketch;

constexpr auto state_name = "variance_growth";

}  // namespace

template <class Space>
void sketch_tensors(Space const& exec, BlockTable<Space> const& table, TensorGradient const& gradient,
                    Vec<float, Space> const& partial, float* sketches) {
  Block const* const blocks = table.blocks().data();
  Index const* const first_block = table.first_block().data();
  float* const parts = partial.data();
  Index const tensors = table.tensors();
  TensorSketch const sketch{blocks, first_block, gradient.values, gradient.active, gradient.key, gradient.step};
  if constexpr (TeamShape<Space>::host) {
    launch<"bellwether::optim::sketch_tensors">(team_policy(exec, table.count()), SketchByLanes{sketch, parts});
    launch<"bellwether::optim::tensor_sketches">(
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors * lanes),
        AddSketches{first_block, parts, sketches});
  } else {
    using Columns = ColumnTeam<Space>;
    launch<"bellwether::optim::sketch_tensors">(SketchByTeams<Space>::policy(exec, table.count()),
                                                SketchByTeams<Space>{sketch, parts});
    launch<"bellwether::optim::tensor_sketches">(Columns::template policy<float>(exec, tensors),
                                                 AddSketchesByTeams<Space>{first_block, parts, sketches});
  }
}

template <class Space>
void sum_tensors(Space const& exec, BlockTable<Space> const& table, float const* values, std::uint32_t const* active,
                 Vec<double, Space> const& partial, Vec<double, Space> const& sums) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Block const* const blocks = table.blocks().data();
  Index const* const first_block = table.first_block().data();
  double *const parts = partial.data(), *const out = sums.data();
  launch<"bellwether::optim::sum_blocks">(
      team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        auto const sum = team_sum<1, Space>(team, block.first, block.first + block.count, [=](Index k) {
          return Sums<1>{{active_bits(active, k, 1) >> 31 != 0 ? static_cast<double>(values[k]) : 0.0}};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { parts[team.league_rank()] = sum.value[0]; });
      });
  launch<"bellwether::optim::sum_tensors">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, table.tensors()), KOKKOS_LAMBDA(Index tensor) {
        double sum = 0;
        for (Index b = first_block[tensor]; b < first_block[tensor + 1]; ++b) sum += parts[b];
        out[tensor] = sum;
      });
}

template <class Space>
void grow_variance(Space const& exec, double beta2, Vec<GradientCheck, Space> const& gradient_check,
                   float const* sketches, GrownVariance<Space> const& variance) {
  auto const tensors = static_cast<Index>(variance.sums.extent(0));
  GradientCheck const* const checked = gradient_check.data();
  double const* const at_freeze = variance.sums.data();
  float *const grown = variance.growth.data(), *const root = variance.roots.data();
  launch<"bellwether::optim::grow_variance">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (checked->skip || at_freeze[l] == 0) return;
        double squares = 0;
        for (int lane = 0; lane < lanes; ++lane) {
          double const value = checked->clip_factor * static_cast<double>(sketches[l * lanes + lane]);
          squares += value * value;
        }
        double const now = beta2 * static_cast<double>(grown[l]) + (1 - beta2) * squares / at_freeze[l];
        // The growth of a tiny sum may exceed the largest float; rho times a root must remain finite.
        grown[l] =
            static_cast<float>(Kokkos::fmin(now, static_cast<double>(Kokkos::Experimental::finite_max_v<float>)));
        root[l] = Kokkos::sqrt(grown[l]);
      });
}

template <class Space>
void scale_tensors(Space const& exec, BlockTable<Space> const& table, Vec<float, Space> const& factors, float* values) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Block const* const blocks = table.blocks().data();
  float const* const factor = factors.data();
  launch<"bellwether::optim::scale_tensors">(
      team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        team_for<Space>(team, block.first, block.first + block.count,
                        [=](Index k) { values[k] *= factor[block.tensor]; });
      });
}

VarianceGrowth::VarianceGrowth(Exec const& exec, BlockTable<Exec> const& blocks, double beta2, RandomKey const& key,
                               Vec<float> const& roots)
    : blocks_(blocks),
      beta2_(beta2),
      key_(key),
      partial_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bellwether::optim::growth_parts"),
               static_cast<std::size_t>(growth_columns * blocks.count())),
      squares_("bellwether::optim::growth_blocks", static_cast<std::size_t>(blocks.count())),
      sums_("bellwether::optim::variance_sums", static_cast<std::size_t>(blocks.tensors())),
      growth_("bellwether::optim::variance_growth", static_cast<std::size_t>(blocks.tensors())),
      roots_(roots) {
  Kokkos::deep_copy(exec, growth_, 1.0f);
}

void VarianceGrowth::survey(Exec const& exec, Vec<std::uint32_t> const& active, float const* variance) {
  active_ = active;
  sum_tensors(exec, blocks_, variance, active_.data(), squares_, sums_);
  // A checkpoint contains V_l only; rho is recomputed from it.
  float const* const grown = growth_.data();
  float* const root = roots_.data();
  launch<"bellwether::optim::growth_roots">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, blocks_.tensors()),
      KOKKOS_LAMBDA(Index l) { root[l] = Kokkos::sqrt(grown[l]); });
}

void VarianceGrowth::sketch(Exec const& exec, float const* gradient, std::int64_t step, float* sketches) {
  sketch_tensors(exec, blocks_, {.values = gradient, .active = active_.data(), .key = key_, .step = step}, partial_,
                 sketches);
}

void VarianceGrowth::grow(Exec const& exec, Vec<GradientCheck> const& gradient_check, float const* sketches) {
  grow_variance(exec, beta2_, gradient_check, sketches, {.sums = sums_, .growth = growth_, .roots = roots_});
}

void VarianceGrowth::visit_state(StateVisitor& visit) {
  visit.array(replicated(state_name), {growth_.data(), growth_.extent(0)});
}

void VarianceGrowth::apply(StateVisitor& visit, Exec const& exec, BlockTable<Exec> const& blocks, float* variance) {
  if (!visit.has(state_name)) return;
  Vec<float> const growth("bellwether::optim::variance_growth", static_cast<std::size_t>(blocks.tensors()));
  exec.fence("bellwether::optim::apply_growth, memory is ready before a visitor writes it");
  visit.array(replicated(state_name), {growth.data(), growth.extent(0)});
  scale_tensors(exec, blocks, growth, variance);
  exec.fence("bellwether::optim::apply_growth, elements are scaled before the factors are freed");
}

std::int64_t VarianceGrowth::predicted_bytes(BlockTable<Exec> const& blocks) {
  return blocks.count() * static_cast<std::int64_t>(growth_columns * sizeof(float) + sizeof(double)) +
         blocks.tensors() * static_cast<std::int64_t>(sizeof(float) + sizeof(double));
}

VarianceDrift::VarianceDrift(BlockTable<Exec> const& blocks)
    : blocks_(blocks),
      partial_("bellwether::optim::variance_partial", static_cast<std::size_t>(blocks.count())),
      sums_("bellwether::optim::variance_sums", static_cast<std::size_t>(blocks.tensors())),
      last_("bellwether::optim::variance_last_sums", static_cast<std::size_t>(blocks.tensors())) {}

double VarianceDrift::since_last(Exec const& exec, float const* variance, double factor) {
  sum_tensors(exec, blocks_, variance, nullptr, partial_, sums_);
  double const* const sums = sums_.data();
  float* const last = last_.data();
  auto const over_tensors = [&](char const* label, auto const& value) {
    return ordered_sum(exec, label, 0, blocks_.tensors(), value);
  };
  double const before = over_tensors(
      "bellwether::optim::variance_before", KOKKOS_LAMBDA(Index l) { return static_cast<double>(last[l]); });
  double const moved = over_tensors(
      "bellwether::optim::variance_drift",
      KOKKOS_LAMBDA(Index l) { return Kokkos::abs(factor * sums[l] - static_cast<double>(last[l])); });
  launch<"bellwether::optim::keep_variance_sums">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, blocks_.tensors()),
      KOKKOS_LAMBDA(Index l) { last[l] = static_cast<float>(factor * sums[l]); });
  return before > 0 ? moved / before : std::numeric_limits<double>::quiet_NaN();
}

void VarianceDrift::visit_state(StateVisitor& visit) {
  visit.array(replicated("freeze_sums"), {last_.data(), last_.extent(0)});
}

std::int64_t VarianceDrift::bytes() const {
  return blocks_.count() * static_cast<std::int64_t>(sizeof(double)) +
         blocks_.tensors() * static_cast<std::int64_t>(sizeof(double) + sizeof(float));
}

#define BELLWETHER_INSTANTIATE(Space)                                                                          \
  template void sketch_tensors<Space>(Space const&, BlockTable<Space> const&, TensorGradient const&,           \
                                      Vec<float, Space> const&, float*);                                       \
  template void sum_tensors<Space>(Space const&, BlockTable<Space> const&, float const*, std::uint32_t const*, \
                                   Vec<double, Space> const&, Vec<double, Space> const&);                      \
  template void grow_variance<Space>(Space const&, double, Vec<GradientCheck, Space> const&, float const*,     \
                                     GrownVariance<Space> const&);                                             \
  template void scale_tensors<Space>(Space const&, BlockTable<Space> const&, Vec<float, Space> const&, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
