// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/transport.hpp"
#include "core/system/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace bellwether::comm;
using Catch::Matchers::ContainsSubstring;

namespace {

Offer const host{};
Offer const gpus{.on_devices = true, .mpi_reads_devices = true, .device_library = "NCCL 2.28.9"};

CommConfig asking(Transport transport, bool share_device = false) {
  CommConfig config;
  config.transport = transport;
  config.share_device = share_device;
  return config;
}

std::string refusal(CommConfig const& config, Offer const& offer) {
  try {
    choose_transport(config, offer);
  } catch (bellwether::InputError const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("auto selects the fastest available transport", "[transport]") {
  auto const automatic = asking(Transport::automatic);
  CHECK(choose_transport(automatic, host).transport == Transport::mpi);
  CHECK(choose_transport(automatic, gpus).transport == Transport::nccl);
  CHECK(choose_transport(automatic, gpus).reason == "NCCL 2.28.9");
  auto without = gpus;
  without.device_library = "";
  CHECK(choose_transport(automatic, without).transport == Transport::mpi);
  without.mpi_reads_devices = false;
  CHECK(choose_transport(automatic, without).transport == Transport::mpi_staged);
  CHECK_THAT(choose_transport(automatic, without).reason, ContainsSubstring("does not report support for GPU memory"));
}

TEST_CASE("a named transport is used if available, else rejected with the key", "[transport]") {
  for (auto const transport : offered_transports(gpus))
    CHECK(choose_transport(asking(transport), gpus).transport == transport);
  CHECK(offered_transports(gpus).size() == 3);
  CHECK(offered_transports(host) == std::vector{Transport::mpi, Transport::mpi_staged});
  CHECK(choose_transport(asking(Transport::mpi_staged), host).transport == Transport::mpi_staged);
  CHECK(refusal(asking(Transport::nccl), host) ==
        "comm.transport: this program was built without NCCL; allowed here: auto, mpi, mpi_staged");
  auto staged = gpus;
  staged.mpi_reads_devices = false;
  CHECK_THAT(refusal(asking(Transport::mpi), staged), ContainsSubstring("allowed here: auto, mpi_staged, nccl"));
}

TEST_CASE("two ranks on one GPU are rejected, or allowed and staged", "[transport]") {
  auto shared = gpus;
  shared.shared_device = true;
  shared.mpi_reads_devices = false;
  CHECK_THAT(refusal(asking(Transport::automatic), shared), ContainsSubstring("comm.share_device"));
  CHECK(choose_transport(asking(Transport::automatic, true), shared).transport == Transport::mpi_staged);
  CHECK_THAT(refusal(asking(Transport::nccl, true), shared), ContainsSubstring("NCCL_MULTI_RANK_GPU_ENABLE=1"));
  shared.library_shares = true;
  CHECK(choose_transport(asking(Transport::automatic, true), shared).transport == Transport::nccl);
}
