// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "model/optim/optimizer_config.hpp"

#include <string>
#include <vector>

namespace bellwether::app {

/// What one kernel of a step has to do with memory, in bytes for each element of the model.
struct KernelBound {
  std::string label;
  double least = 0;  ///< of the part of the step that it is, in the form with the fewest bytes
  double moved = 0;  ///< that its own arguments make it read and write
};

/// The kernels of a step that walk the model, in the order of their launch, with the least traffic of
/// docs/developer/onebit_methods.md, section 8.4: compressed phase 4 (norm and sketch of g) + 12.25 (worker) + (8 + P/8
/// + 1/8)/P (server) + 16.25 (decode, variance, norms) + 12.125 (apply); LAMB 4 + 40, AdamW 4 + 28. Methods that it
/// does not count are counted the same way: 1-bit Adam has 12.125 after the exchange, 1-bit SGD reads x in the worker
/// and m after it; bits in units of the variance need none of it to be applied. The mean of a dense step adds what one
/// rank sums, in the type of the wire.
std::vector<KernelBound> dense_bounds(optim::OptimizerConfig const& optimizer, comm::CommConfig const& comm, int ranks);
std::vector<KernelBound> compressed_bounds(optim::OptimizerConfig const& optimizer, int ranks);

/// Of all of them together.
double least_bytes(std::vector<KernelBound> const& kernels);

/// Bytes an element of a compressed step of 1-bit LAMB in the form that section 8.4 counts, the paper's, whatever
/// the form that is timed does beside it: 44.6 and the server's share.
double specified_bytes(int ranks);

}  // namespace bellwether::app
