// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/backend.hpp"
#include "comm/transport/nccl_calls.hpp"
#include "comm/transport/nccl_communicator.hpp"
#include "core/system/error.hpp"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bellwether::comm::backend {

int visible_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::optional<Device> current_device() {
  int index = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&index) != cudaSuccess || cudaGetDeviceProperties(&properties, index) != cudaSuccess)
    throw RuntimeError("cannot read the properties of this process's GPU");
  std::string identity;
  for (char const byte : properties.uuid.bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    identity += text;
  }
  return Device{properties.name, identity};
}

std::optional<std::int64_t> free_device_memory() {
  std::size_t free = 0, all = 0;
  if (cudaMemGetInfo(&free, &all) != cudaSuccess) throw RuntimeError("cannot read the free memory of the GPU");
  return static_cast<std::int64_t>(free);
}

bool mpi_reads_devices() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::string device_library() { return nccl_version(); }

bool device_library_shares_devices() {
  int code = 0;
  check_nccl(ncclGetVersion(&code), "ncclGetVersion");
  char const* const enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return code >= 23000 && enabled != nullptr && std::string_view(enabled) == "1";
}

std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host, double timeout,
                                                       Watchdog* watchdog) {
  return make_nccl_communicator(std::move(host), timeout, watchdog);
}

}  // namespace bellwether::comm::backend
