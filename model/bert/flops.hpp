// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/batch/batch.hpp"
#include "model/model_config.hpp"

namespace bellwether::model {

/// Floating-point operations of the matrix products of one training pass, forward and backward (three products for each
/// one of forward), padding removed: what a pass costs at the speed of GEMM.
double training_flops(ModelConfig const& config, Batch const& batch);

}  // namespace bellwether::model
