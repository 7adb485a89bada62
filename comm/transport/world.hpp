// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {
struct OpenMpLimits;
}

namespace bellwether::comm {

class Communicator;
class MpiRanks;
class RankGroup;
struct Offer;

/// Placement of the ranks on nodes, from asking MPI which ranks share memory.
struct Nodes {
  int count = 1;                   ///< Q
  int mine = 0;                    ///< index of this rank's node, in order of each node's lowest rank
  int ranks_here = 1;              ///< L, number of local ranks
  int rank_here = 0;               ///< local rank
  bool equal = true;               ///< every node holds the same number of ranks
  std::vector<int> node_of;        ///< (P) node index of every rank
  std::vector<std::string> hosts;  ///< (Q) host name of every node
};

/// Returns the nodes to use: `found`, or nodes of L consecutive ranks if comm.ranks_per_node is L; the last node may
/// have fewer. rank: this rank in the world.
Nodes chosen_nodes(Nodes const& found, int rank, CommConfig const& config);

/// The two groups of a rank in a hierarchical exchange, with L ranks per node and Q nodes.
class NodeGroups {
 public:
  /// Collective. nodes: nodes of the ranks of `all`.
  /// \throws InputError on every rank if the nodes differ in their number of ranks; it names the key.
  NodeGroups(Communicator& all, Nodes const& nodes, CommConfig const& config);
  ~NodeGroups();

  /// (L) ranks of this rank's node, in rank order.
  Communicator& intra_node() const { return *intra_node_; }
  /// (Q) ranks with the same local rank, one per node, in node order.
  Communicator& inter_node() const { return *inter_node_; }

 private:
  std::unique_ptr<Communicator> intra_node_, inter_node_;
};

/// MPI, Kokkos and BLAS for the whole program. Construct it first in main(), outside the try block that reports errors,
/// so that abort() still works there. Without a launcher the world has one rank. Users need no Kokkos or MPI header.
class World {
 public:
  /// Returns the limits of OpenMP for faults_of_threads(); none if Kokkos does not use OpenMP. Call before
  /// construction.
  static std::optional<OpenMpLimits> openmp_limits();
  /// Explains why the system cannot start this process's threads; empty if it can. Call before construction, because
  /// OpenMP would end the program.
  static std::string fault_of_threads();

  /// Starts MPI, too, and finalises it. \throws what MpiRanks and the other constructor throw.
  World(int& argc, char**& argv);
  /// Collective. ranks: MPI; must outlive the world. \throws RuntimeError if a device is missing; InputError, on every
  /// rank, if a rank cannot have its threads.
  explicit World(MpiRanks& ranks);
  ~World();
  World(World const&) = delete;
  World& operator=(World const&) = delete;

  int rank() const;
  int size() const;
  Communicator& communicator() const;  ///< all ranks
  RankGroup& group() const;            ///< the same, for sources without Kokkos
  Nodes const& nodes() const;
  std::string const& host() const;  ///< host of this rank
  /// Returns one line per rank, "rank 0 on node7: NVIDIA H100 80GB HBM3"; empty in a host build.
  std::vector<std::string> const& devices() const;
  /// Returns the free bytes of this rank's device; none in a host build.
  std::optional<std::int64_t> free_device_memory() const;
  Offer const& offer() const;  ///< what choose_transport() may choose from
  /// Returns a communicator of all ranks over `transport`. Collective. timeout: of collectives, in seconds.
  std::unique_ptr<Communicator> make_communicator(Transport transport, double timeout) const;
  /// Replaces start_timeout() as the timeout, in seconds, of collectives of all ranks and of the shutdown.
  void set_timeout(double seconds);
  /// Call when all work is done and written. code: exit status of the process, even if a rank fails
  /// while MPI shuts down.
  void note_end(int code);
  void note_step(std::int64_t step) const;  ///< call at the start of a step, for the watchdog
  int threads() const;                      ///< threads this rank computes with
  std::string library() const;              ///< MPI's version line, for logs and statistics
  /// Sums values in host memory over ranks in place with MPI_Allreduce. Collective. A reference for benches only: it
  /// has no timeout, and its traffic is not counted.
  void sum_by_library(std::span<float> values) const;
  /// Prints `[rank r] message` and ends the job on all ranks. First waits `patience` seconds, so that other ranks can
  /// print their messages. Only main() calls it.
  [[noreturn]] void abort(int exit_code, std::string_view message, double patience = 0) const;

 private:
  void start();
  void find_offer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
