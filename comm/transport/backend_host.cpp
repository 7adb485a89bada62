// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/backend.hpp"
#include "core/system/error.hpp"

namespace bellwether::comm::backend {

int visible_devices() { return 0; }
std::optional<Device> current_device() { return {}; }
std::optional<std::int64_t> free_device_memory() { return {}; }
bool mpi_reads_devices() { return false; }
std::string device_library() { return ""; }
bool device_library_shares_devices() { return false; }
std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> /*host*/, double /*timeout*/,
                                                       Watchdog* /*watchdog*/) {
  throw InternalError("a CPU build has no device collectives library");
}

}  // namespace bellwether::comm::backend
