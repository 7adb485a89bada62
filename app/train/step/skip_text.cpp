// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/step/skip_text.hpp"

#include "app/format/formatted.hpp"
#include "app/launch/collective_errors.hpp"
#include "core/layout/parameter_layout.hpp"
#include "model/optim/step_report.hpp"

namespace bellwether::app {

std::string skip_text(optim::StepReport const& report, ParameterLayout const& layout, comm::RankGroup& data,
                      std::function<Index()> const& largest_tensor) {
  auto const name = [&](Index tensor) { return layout.tensors()[static_cast<std::size_t>(tensor)].name; };
  auto const rank = report.bad_rank >= 0 ? " on rank " + std::to_string(report.bad_rank) : std::string();
  if (report.usual_norm == 0)
    return "the gradient of " +
           (report.first_bad_layer >= 0 ? name(report.first_bad_layer)
                                        : "all layers together, a sum over their elements,") +
           rank + " is not finite";
  return formatted("the gradient's norm of %.4g is %.3g times its mean so far, most of it of ", report.gradient_norm,
                   report.gradient_norm / report.usual_norm) +
         broadcast_text(data, name(largest_tensor()), static_cast<int>(report.bad_rank)) + rank;
}

}  // namespace bellwether::app
