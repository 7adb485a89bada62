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
  std::string identity;  ///< what tells it from others of its host
};

/// What the build for one kind of device has, one source file a kind: backend_host.cpp or backend_cuda.cpp.
namespace backend {

/// Devices that this process may use; none on a build for hosts. May be asked before Kokkos starts.
int visible_devices();
/// Of the process, once Kokkos has started; none on a build for hosts.
std::optional<Device> current_device();
/// Bytes of its memory that nobody has allocated; none on a build for hosts.
std::optional<std::int64_t> free_device_memory();
/// Whether MPI says that it reads and writes device memory. On a build for hosts there is none to read.
bool mpi_reads_devices();
/// The library's name and version, "NCCL 2.28.9"; empty where there is none.
std::string device_library();
/// Whether that library takes several ranks on one device.
bool device_library_shares_devices();
/// The ranks of `host` over that library. \throws InternalError where there is none.
std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host, double deadline,
                                                       Watchdog* watchdog);

}  // namespace backend
}  // namespace bellwether::comm
