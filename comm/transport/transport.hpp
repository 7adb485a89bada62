// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"

#include <string>
#include <vector>

namespace bellwether::comm {

/// Capabilities of the build, libraries and devices that decide which transports are possible. The same on every rank.
struct Offer {
  bool on_devices = false;         ///< the program computes on devices
  bool mpi_reads_devices = false;  ///< MPI reports that it reads device memory
  std::string device_library;      ///< name and version of NCCL; empty: none
  bool shared_device = false;      ///< two ranks use the same device
  bool library_shares = false;     ///< the device library accepts two ranks on one device
};

struct ChosenTransport {
  Transport transport = Transport::mpi;  ///< never automatic
  std::string reason;                    ///< one clause for the log
};

/// Returns the transport of the deck if it is available. For `auto`, returns the fastest available one.
/// \throws InputError that names the key, the fault and the allowed values; the same on every rank.
ChosenTransport choose_transport(CommConfig const& config, Offer const& offer);

/// Returns all transports that choose_transport() accepts by name.
std::vector<Transport> offered_transports(Offer const& offer);

/// Returns the name used in decks.
char const* transport_name(Transport transport);

}  // namespace bellwether::comm
