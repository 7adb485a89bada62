// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/part_norm.hpp"

#include "model/optim/gradient_verdict.hpp"

namespace bellwether::optim {

PartNorm::PartNorm(ParameterLayout const& layout)
    : blocks_(layout),
      partial_("bellwether::optim::part_squares", static_cast<std::size_t>(blocks_.count())),
      norm_("bellwether::optim::part_norm", 1),
      host_(Kokkos::create_mirror_view(norm_)) {}

void PartNorm::measure(Exec const& exec, Arena<> const& gradients) {
  place_norm(exec, blocks_, gradients.data(), 0, partial_, norm_);
  Kokkos::deep_copy(exec, host_, norm_);
}

std::int64_t PartNorm::bytes() const {
  return blocks_.bytes() + static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + sizeof(float));
}

}  // namespace bellwether::optim
