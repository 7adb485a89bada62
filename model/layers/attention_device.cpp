// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Attention on devices without a specialised implementation. A device that has one compiles its source instead of this.
#include "model/layers/attention_team.hpp"

namespace bellwether::model {
namespace {

/// Returns the number of heads processed at once: a team of 256 threads for every 1024 threads that the device runs.
template <class Space>
Index team_slots(Space const& exec) {
  return Kokkos::max(1, exec.concurrency() / 1024);
}

}  // namespace

template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index, Index, Index, Index longest) {
  return team_slots(exec) * 3 * longest * longest;
}

template <class Real, class Stored, class Space>
Index attention_keeps(Space const&, Index, Index, Index) {
  return 0;
}

template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context) {
  team_attention_forward(exec, p, team_slots(exec), context);
}

template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv) {
  team_attention_backward(exec, p, team_slots(exec), dcontext, dqkv);
}

BELLWETHER_FOR_HIP(BELLWETHER_ATTENTION)
BELLWETHER_FOR_SYCL(BELLWETHER_ATTENTION)

}  // namespace bellwether::model
