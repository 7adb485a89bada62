// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/attention_team.hpp"

namespace bellwether::model {

/// As many heads at once as keep a device busy: a team of 256 threads for every 1024 that it runs.
template <class Space>
Index attention_slots(Space const& exec) {
  return Kokkos::max(1, exec.concurrency() / 1024);
}

template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context) {
  team_attention_forward(exec, p, attention_slots(exec), context);
}

template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv) {
  team_attention_backward(exec, p, attention_slots(exec), dcontext, dqkv);
}

BELLWETHER_FOR_EACH_DEVICE_SPACE(BELLWETHER_ATTENTION)

}  // namespace bellwether::model
