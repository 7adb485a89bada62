// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/exchange_bounds.hpp"

namespace bellwether::optim {
namespace {

constexpr double bit = 1.0 / 8;

}  // namespace

// Exchanged momenta stay in bits; a momentum formed from exchanged gradients has 32 bits. A group of one reads values
// instead of signs and magnitudes.
DecodedMean decoded_mean(OptimizerConfig const& config, int ranks) {
  bool const momenta = has_variance(config.method) && config.exchange == Exchange::momentum;
  return {.bytes = ranks > 1 ? 3 * bit : 4 + bit,  // sign, active bit, and a magnitude per word of 32 elements
          .momenta = momenta,
          .in_bits = momenta && ranks > 1,
          .by_root = has_variance(config.method) && config.unify == Unify::element,
          .fresh = config.steer == Steer::variance};
}

std::vector<KernelBound> exchange_kernels(OptimizerConfig const& config, int ranks) {
  std::vector<KernelBound> kernels;
  double const P = ranks;
  bool const no_variance = !has_variance(config.method);
  auto const mean = decoded_mean(config, ranks);
  kernels.push_back({"bellwether::optim::sketch_gradient", 4, 4});
  if (config.variance_grows()) kernels.push_back({"bellwether::optim::sketch_tensors", 4, 4});
  // Moved: read g, z and the active bits. With exchanged momenta also read m or its bits (SGD: x); read the variance if
  // z is divided by it. Write z, and the signs twice.
  double const other = mean.in_bits ? mean.bytes : mean.momenta || no_variance ? 4 : 0;
  kernels.push_back(
      {"bellwether::comm::form_words", no_variance ? 16.25 : 12.25, 12 + other + (mean.by_root ? 4 : 0) + 3 * bit});
  if (ranks == 1) return kernels;
  kernels.push_back({"bellwether::comm::serve_words", (8 + P * bit + bit) / P, (8 + P * bit + 2 * bit) / P});
  // The minimal form reads bits in the receive buffer, without this kernel.
  kernels.push_back({"bellwether::comm::unpack_words", 0, 3 * bit});
  // Read z, f, x, and the variance unless momenta are in its units; write f and the point. The minimal form writes both
  // in a kernel that reads x and z anyway.
  if (!mean.momenta && config.step_ahead > 0)
    kernels.push_back({"bellwether::optim::gradient_point", 12, 20 + bit + (no_variance || mean.by_root ? 0 : 4)});
  return kernels;
}

}  // namespace bellwether::optim
