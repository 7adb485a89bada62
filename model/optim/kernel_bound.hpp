// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::optim {

/// The memory traffic of one kernel of a step, in bytes per element of the model.
struct KernelBound {
  std::string label;
  double least = 0;  ///< minimum for this part of the step, in the form with the fewest bytes
  double moved = 0;  ///< read and written by the kernel with its actual arguments
};

}  // namespace bellwether::optim
