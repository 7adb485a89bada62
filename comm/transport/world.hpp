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

/// Where the ranks are: found by asking MPI which ranks share memory.
struct Nodes {
  int count = 1;                   ///< Q
  int mine = 0;                    ///< index of this rank's node, in order of each node's lowest rank
  int ranks_here = 1;              ///< L, ranks on this rank's node
  int rank_here = 0;               ///< this rank among them
  bool equal = true;               ///< every node holds the same number of ranks
  std::vector<int> node_of;        ///< (P) node index of every rank
  std::vector<std::string> hosts;  ///< (Q) host name of every node
};

/// The nodes that a deck works with: `found`, or ranks [q L, (q+1) L) on node q where comm.ranks_per_node is L, the
/// last of which may have fewer. rank: this one in the world.
Nodes chosen_nodes(Nodes const& found, int rank, CommConfig const& config);

/// The two groups of a rank whose exchange goes through its node: L ranks a node, Q nodes.
class NodeGroups {
 public:
  /// Collective. nodes: of all ranks of `all`.
  /// \throws InputError on every rank alike where nodes hold different numbers of ranks; it names the key.
  NodeGroups(Communicator& all, Nodes const& nodes, CommConfig const& config);
  ~NodeGroups();

  Communicator& inside() const { return *intra_node_; }  ///< (L) ranks of this rank's node, in their order
  Communicator& across() const {
    return *inter_node_;
  }  ///< (Q) ranks with this one's place on their nodes, node by node

 private:
  std::unique_ptr<Communicator> intra_node_, inter_node_;
};

/// MPI, Kokkos and BLAS from start to end of the program: construct one in main() before anything else and keep it
/// outside the try block that reports errors, so that abort() still works there. Without a launcher the world has one
/// rank. No Kokkos or MPI header is needed to use it.
class World {
 public:
  /// What faults_of_threads() asks of OpenMP; none where Kokkos computes without it. Before there is a world.
  static std::optional<OpenMpLimits> openmp_limits();
  /// Says why the system does not let this process start its threads, before there is a world; empty where it does.
  /// OpenMP would end the program.
  static std::string fault_of_threads();

  /// Starts MPI, too, and ends it. \throws what MpiRanks and the other constructor throw.
  World(int& argc, char**& argv);
  /// Collective. ranks: MPI, which outlives the world. \throws RuntimeError where a device is missing; InputError, on
  /// every rank alike, where a rank cannot have its threads.
  explicit World(MpiRanks& ranks);
  ~World();
  World(World const&) = delete;
  World& operator=(World const&) = delete;

  int rank() const;
  int size() const;
  Communicator& communicator() const;  ///< all ranks
  RankGroup& group() const;            ///< the same, for sources that do not see Kokkos
  Nodes const& nodes() const;
  std::string const& host() const;  ///< this rank's
  /// One line a rank, "rank 0 on node7: NVIDIA H100 80GB HBM3"; empty where the program computes on hosts.
  std::vector<std::string> const& devices() const;
  /// Bytes of this rank's device that nobody has allocated; none where ranks compute on hosts.
  std::optional<std::int64_t> free_device_memory() const;
  Offer const& offer() const;  ///< what can carry collectives
  /// Collective. All ranks over what choose_transport() found.
  std::unique_ptr<Communicator> make_communicator(Transport transport, double deadline) const;
  /// Seconds that ranks wait for each other, in start_deadline()'s place: in collectives of all ranks and at the end.
  void set_deadline(double seconds);
  /// All is done and written, and what the process returns: a rank that is lost from here on, while MPI ends, does not
  /// change it.
  void note_end(int code);
  void note_step(std::int64_t step) const;  ///< the step that begins, for what other ranks are told of this one
  int threads() const;                      ///< that this rank computes with
  std::string library() const;              ///< MPI's own version line, for logs and statistics
  /// Collective. Host memory: this rank's values in, their sums over ranks out, by MPI_Allreduce, which no deadline
  /// watches and no counter sees: a yardstick of benches alone.
  void sum_by_library(std::span<float> values) const;
  /// Prints `[rank r] message` and ends the job on all ranks, after `patience` seconds in which they may have
  /// something to say, too. Called by main() alone.
  [[noreturn]] void abort(int exit_code, std::string_view message, double patience = 0) const;

 private:
  void start();
  void find_offer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
