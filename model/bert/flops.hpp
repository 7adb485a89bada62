// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/batch/batch.hpp"
#include "model/model_config.hpp"

namespace bellwether::model {

/// Returns the floating-point operations of the matrix products in forward and backward of one micro-batch. Backward
/// has two products for each product of forward. Padding does not count.
double training_flops(ModelConfig const& config, Batch const& batch);

}  // namespace bellwether::model
