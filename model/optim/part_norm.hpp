// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/arena.hpp"
#include "core/block_table.hpp"

namespace bellwether::optim {

/// The norm of a gradient that is not complete yet: after the first of several passes it is the small batch that the
/// noise scale of a single rank needs.
class PartNorm {
 public:
  explicit PartNorm(ParameterLayout const& layout);

  /// One pass over the gradient as it is now, 4 bytes an element; does not wait.
  void measure(Exec const& exec, Arena<> const& gradients);
  /// Squared norm; read after a fence of the instance that measured it.
  double square() const { return static_cast<double>(host_(0)) * host_(0); }
  std::int64_t bytes() const;

 private:
  BlockTable<Exec> blocks_;
  Vec<double> partial_;  // (blocks)
  Vec<float> norm_;      // (1)
  Vec<float>::host_mirror_type host_;
};

}  // namespace bellwether::optim
