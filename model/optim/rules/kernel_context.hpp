// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// What every kernel of an update rule needs. Refers to objects that must live until the call returns.
template <class Space>
struct KernelContext {
  BlockTable<Space> const& table;                   ///< blocks of the arena
  Vec<TensorRule, Space> const& rules;              ///< (tensors)
  Vec<GradientCheck, Space> const& gradient_check;  ///< (1); if it says skip, nothing changes
};

}  // namespace bellwether::optim
