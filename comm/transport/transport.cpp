// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/transport.hpp"

#include "core/system/error.hpp"

#include <algorithm>

namespace bellwether::comm {
namespace {

bool library_works(Offer const& offer) {
  return !offer.device_library.empty() && (!offer.shared_device || offer.library_shares);
}

/// Explains why a transport chosen by name is not available.
std::string obstacle(Transport transport, Offer const& offer) {
  if (transport == Transport::nccl && offer.device_library.empty()) return "this program was built without NCCL";
  if (transport == Transport::nccl)
    return "two ranks share a GPU, which needs NCCL 2.30 or newer with NCCL_MULTI_RANK_GPU_ENABLE=1 (found: " +
           offer.device_library + ")";
  return "this MPI does not report support for GPU memory";
}

}  // namespace

char const* transport_name(Transport transport) {
  switch (transport) {
    case Transport::automatic:
      return "auto";
    case Transport::mpi:
      return "mpi";
    case Transport::mpi_staged:
      return "mpi_staged";
    case Transport::nccl:
      return "nccl";
  }
  return "";
}

std::vector<Transport> offered_transports(Offer const& offer) {
  std::vector<Transport> offered;
  if (!offer.on_devices || offer.mpi_reads_devices) offered.push_back(Transport::mpi);
  offered.push_back(Transport::mpi_staged);
  if (library_works(offer)) offered.push_back(Transport::nccl);
  return offered;
}

ChosenTransport choose_transport(CommConfig const& config, Offer const& offer) {
  if (offer.shared_device && !config.share_device)
    throw InputError(
        "comm.share_device: two ranks of one node would compute on the same GPU; start as many ranks a node as it has "
        "GPUs, or set comm.share_device: true");
  if (config.transport != Transport::automatic) {
    auto const offered = offered_transports(offer);
    if (std::ranges::find(offered, config.transport) != offered.end()) return {config.transport, "set in the deck"};
    std::string allowed = "auto";
    for (auto const transport : offered) allowed += std::string(", ") + transport_name(transport);
    throw InputError("comm.transport: " + obstacle(config.transport, offer) + "; allowed here: " + allowed);
  }
  if (!offer.on_devices) return {Transport::mpi, "the program computes on the host"};
  if (library_works(offer)) return {Transport::nccl, offer.device_library};
  std::string const without =
      offer.device_library.empty() ? "no NCCL" : "two ranks share a GPU, which " + offer.device_library + " refuses";
  if (offer.mpi_reads_devices) return {Transport::mpi, without + "; MPI reads GPU memory"};
  return {Transport::mpi_staged, without + "; this MPI does not report support for GPU memory"};
}

}  // namespace bellwether::comm
