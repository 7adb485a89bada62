// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/byte_bounds.hpp"

#include "core/system/error.hpp"

#include <numeric>

namespace bellwether::app {

using optim::Method;

std::vector<KernelBound> dense_bounds(optim::OptimizerConfig const& optimizer, comm::CommConfig const& comm,
                                      int ranks) {
  std::vector<KernelBound> kernels;
  double const P = ranks;
  if (ranks > 1 && comm.allreduce == comm::Allreduce::ordered) {
    bool const half = comm.dense_wire == comm::Wire::bf16;
    double const width = static_cast<double>(bytes_of(comm.dense_wire));
    if (half) kernels.push_back({"bellwether::comm::round_to_wire", 4 + width, 4 + width});
    kernels.push_back({"bellwether::comm::mean_in_rank_order", width * (P + 1) / P, width * (P + 1) / P});
    if (half) kernels.push_back({"bellwether::comm::read_from_wire", 4 + width, 4 + width});
  }
  kernels.push_back({"bellwether::optim::gradient_squares", 4, 4});
  switch (optimizer.method) {
    case Method::lamb:
    case Method::onebit_lamb:
      kernels.push_back({"bellwether::optim::lamb_moments", 28, 28});  // read g, m, v, x; write m, v, u
      kernels.push_back({"bellwether::optim::lamb_apply", 12, 12});    // read u, x; write x
      break;
    case Method::adamw:
    case Method::onebit_adam:
      kernels.push_back({"bellwether::optim::adamw_update", 28, 28});  // read g, m, v, x; write m, v, x
      break;
    case Method::onebit_sgd:
      kernels.push_back({"bellwether::optim::sgd_apply", 20, 20});  // read g, m, x; write m, x
      break;
  }
  return kernels;
}

std::vector<KernelBound> compressed_bounds(optim::OptimizerConfig const& optimizer, int ranks) {
  std::vector<KernelBound> kernels;
  double const P = ranks, bit = 1.0 / 8;
  bool const sgd = !has_variance(optimizer.method);
  bool const by_root = !sgd && optimizer.unify == optim::Unify::element;
  // Exchanged momenta stay in bits; a momentum formed from exchanged gradients has 32 bits.
  bool const momenta = !sgd && optimizer.exchange == optim::Exchange::momentum;
  bool const bits = momenta && ranks > 1;
  bool const steered = optimizer.steer == optim::Steer::variance;
  // Bytes to read a mean: sign, active bit, and a magnitude per word of 32 elements. A group of one reads values
  // instead of signs and magnitudes.
  double const mean = ranks > 1 ? 3 * bit : 4 + bit;
  kernels.push_back({"bellwether::optim::sketch_gradient", 4, 4});
  if (optimizer.variance_grows()) kernels.push_back({"bellwether::optim::sketch_tensors", 4, 4});
  // Moved: read g, z and the active bits. With exchanged momenta also read m or its bits (SGD: x); read the variance if
  // z is divided by it. Write z, and the signs twice.
  double const other = bits ? mean : momenta || sgd ? 4 : 0;
  kernels.push_back({"bellwether::comm::form_words", sgd ? 16.25 : 12.25, 12 + other + (by_root ? 4 : 0) + 3 * bit});
  if (ranks > 1) {
    kernels.push_back({"bellwether::comm::serve_words", (8 + P * bit + bit) / P, (8 + P * bit + 2 * bit) / P});
    // The minimal form reads bits in the receive buffer, without this kernel.
    kernels.push_back({"bellwether::comm::unpack_words", 0, 3 * bit});
    if (!momenta && optimizer.step_ahead > 0) {
      // Read z, f, x, and the variance unless momenta are in its units; write f and the point. The minimal form writes
      // both in a kernel that reads x and z anyway.
      kernels.push_back({"bellwether::optim::gradient_point", 12, 20 + bit + (sgd || by_root ? 0 : 4)});
    }
  }
  // With a sign momentum, the sums read x, the new bits and, unless bits are in its units, the variance. With
  // steer: variance they also read the variance and the old bits, and read and write f. Then apply reads x, v and the
  // bits again, and writes x.
  double const fresh = steered ? 8 : 0, variance = by_root ? 0 : 4;
  double const sums = 4 + (steered ? 4 : variance) + fresh, apply = 8 + variance;
  int const sets = steered ? 2 : 1;
  switch (optimizer.method) {
    case Method::onebit_lamb:
      if (bits) {
        kernels.push_back({"bellwether::optim::bit_lamb_sums", sums + sets * bit, sums + sets * mean});
        kernels.push_back({"bellwether::optim::bit_apply", apply + bit, apply + mean});
        kernels.push_back({"bellwether::optim::keep_momentum_bits", 0, 4 * bit});
        break;
      }
      // Read m, v, x; write m, u; read and write f if there is one.
      kernels.push_back(
          {"bellwether::optim::decoded_lamb_moments", momenta ? sums + sets * bit : 20.25 + fresh, 20 + fresh + mean});
      kernels.push_back({"bellwether::optim::lamb_apply", momenta ? apply + bit : 12, 12});
      break;
    case Method::onebit_adam:
      if (bits) {
        kernels.push_back({"bellwether::optim::bit_apply", apply + bit, apply + mean});
        kernels.push_back({"bellwether::optim::keep_momentum_bits", 0, 4 * bit});
        break;
      }
      kernels.push_back(  // read m, v, x; write m, x
          {"bellwether::optim::decoded_adam_apply", momenta ? apply + bit : 20.125, 20 + mean});
      break;
    case Method::onebit_sgd:
      kernels.push_back({"bellwether::optim::decoded_sgd_apply", 16.125, 16 + mean});  // read m, x; write m, x
      break;
    case Method::lamb:
    case Method::adamw:
      throw InternalError("the optimizer method has no compressed phase");
  }
  return kernels;
}

double least_bytes(std::vector<KernelBound> const& kernels) {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, KernelBound const& kernel) { return sum + kernel.least; });
}

double specified_bytes(int ranks) {
  optim::OptimizerConfig paper;
  paper.method = Method::onebit_lamb;
  paper.exchange = optim::Exchange::momentum;
  paper.steer = optim::Steer::variance;
  paper.unify = optim::Unify::layer;
  return least_bytes(compressed_bounds(paper, ranks));
}

}  // namespace bellwether::app
