// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/system/error.hpp"
#include "core/types.hpp"

namespace bellwether::optim {

/// How the update treats one tensor.
struct TensorRule {
  float decay;          ///< weight decay, 0 where the layout says so
  std::int32_t adapts;  ///< 1: the trust ratio applies
};

/// Returns the rules (tensors) of a layout, in its order.
template <class Space = Exec>
Vec<TensorRule, Space> tensor_rules(ParameterLayout const& layout, double weight_decay) {
  auto const& tensors = layout.tensors();
  Vec<TensorRule, Space> rules(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bellwether::optim::tensor_rules"),
                               tensors.size());
  auto const host = Kokkos::create_mirror_view(rules);
  for (std::size_t l = 0; l < tensors.size(); ++l)
    host(l) = {tensors[l].decays ? static_cast<float>(weight_decay * tensors[l].decay_share) : 0.0f,
               tensors[l].adapts ? 1 : 0};
  Kokkos::deep_copy(rules, host);
  return rules;
}

}  // namespace bellwether::optim
