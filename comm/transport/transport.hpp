// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"

#include <string>
#include <vector>

namespace bellwether::comm {

/// What a job's build, libraries and devices offer to carry its collectives. The same on every rank.
struct Offer {
  bool on_devices = false;         ///< the program computes on devices
  bool mpi_reads_devices = false;  ///< MPI says so
  std::string device_library;      ///< NCCL's name and version; empty: none
  bool shared_device = false;      ///< two ranks have one device
  bool library_shares = false;     ///< the device library takes two ranks on one device
};

struct ChosenTransport {
  Transport transport = Transport::mpi;  ///< never automatic
  std::string reason;                    ///< one clause for the log
};

/// What `transport` of the deck comes to: what it names, if that is there; for `auto` the fastest that works.
/// \throws InputError that names the key, what is wrong and what is allowed; the same on every rank.
ChosenTransport choose_transport(CommConfig const& config, Offer const& offer);

/// All that choose_transport() would take by name.
std::vector<Transport> offered_transports(Offer const& offer);

/// As decks write it.
char const* transport_name(Transport transport);

}  // namespace bellwether::comm
