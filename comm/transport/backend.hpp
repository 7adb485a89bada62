// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bellwether::comm {

/// The device that a process computes on.
struct Device {
  std::string name;      ///< "NVIDIA H100 80GB HBM3"
  std::string identity;  ///< distinguishes it from other devices of its host
};

/// Functions that depend on the kind of device. Each kind has one source file: backend_host.cpp or backend_cuda.cpp.
namespace backend {

/// Returns the number of devices that this process may use; 0 in a host build. May be called before Kokkos starts.
int visible_devices();
/// Returns the device of this process, once Kokkos has started; none in a host build.
std::optional<Device> current_device();
/// Returns the free bytes of the device's memory; none in a host build.
std::optional<std::int64_t> free_device_memory();
/// Returns true if MPI reports that it can read and write device memory; false in a host build.
bool mpi_reads_devices();
/// Returns the name and version of the device collectives library, "NCCL 2.28.9"; empty if there is none.
std::string device_library();
/// Returns true if that library accepts several ranks on one device.
bool device_library_shares_devices();
/// Returns a communicator over that library for the ranks of `host`. \throws InternalError if there is none.
std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host, double timeout,
                                                       Watchdog* watchdog);

}  // namespace backend
}  // namespace bellwether::comm
