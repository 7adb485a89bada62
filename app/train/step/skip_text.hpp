// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <functional>
#include <string>

namespace bellwether {
class ParameterLayout;
}
namespace bellwether::comm {
class RankGroup;
}
namespace bellwether::optim {
struct StepReport;
}

namespace bellwether::app {

/// Returns why the step of `report` was skipped. largest_tensor: returns the tensor with the largest part of this
/// rank's gradient; called only if the norm was above the limit. Collective: only the affected rank can name that
/// tensor.
std::string skip_text(optim::StepReport const& report, ParameterLayout const& layout, comm::RankGroup& data,
                      std::function<Index()> const& largest_tensor);

}  // namespace bellwether::app
