// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "model/optim/kernel_bound.hpp"
#include "model/optim/optimizer_config.hpp"

#include <string>
#include <vector>

namespace bellwether::app {

using optim::KernelBound;

/// Returns the kernels of a step that process all elements of the model, in launch order, with the minimum traffic of
/// docs/developer/onebit_methods.md, section 8.4, in bytes per element:
/// - compressed phase of 1-bit LAMB: 4 (norm and sketch of g) + 12.25 (worker) + (8 + P/8 + 1/8)/P (server) + 16.25
///   (decode, variance, norms) + 12.125 (apply);
/// - LAMB: 4 + 40; AdamW: 4 + 28.
/// Section 8.4 omits the other methods; their bytes are counted the same way. 1-bit Adam has 12.125 after the exchange.
/// 1-bit SGD reads x in the worker and m after the exchange. With momentum in units of the variance, apply does not
/// read the variance. The mean of a dense step adds the share of the sum that one rank computes, in the type of the
/// wire.
std::vector<KernelBound> dense_bounds(optim::OptimizerConfig const& optimizer, comm::CommConfig const& comm, int ranks);
/// \throws InternalError if the method has no compressed phase.
std::vector<KernelBound> compressed_bounds(optim::OptimizerConfig const& optimizer, int ranks);

/// Returns the sum of KernelBound::least.
double least_bytes(std::vector<KernelBound> const& kernels);

/// Returns the bytes per element of a compressed step of 1-bit LAMB in the paper's form, which section 8.4 counts: 44.6
/// and the server's share. The timed form may do more.
double specified_bytes(int ranks);

}  // namespace bellwether::app
