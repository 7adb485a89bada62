// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"
#include "core/system/clock.hpp"

namespace bellwether::comm {

/// Times at which the host reached each phase of a segment.
struct SegmentTimes {
  Index elements = 0;
  Clock::time_point started;   ///< this rank's chunks were handed to the transport
  Clock::time_point summed;    ///< all ranks' parts of this rank's chunk arrived; their sum was sent
  Clock::time_point finished;  ///< the mean arrived
};

}  // namespace bellwether::comm
