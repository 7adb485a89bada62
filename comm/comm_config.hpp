// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bellwether::comm {

enum class Wire { fp32, bf16 };  ///< type of a float on the network
constexpr std::int64_t bytes_of(Wire wire) { return wire == Wire::bf16 ? 2 : 4; }
enum class Allreduce { ordered, library };
/// Carries collectives: MPI directly on the buffers, MPI through host memory, or NCCL.
enum class Transport { automatic, mpi, mpi_staged, nccl };
enum class Hierarchy { none, node };  ///< node: compressed means first reduce inside each node

/// Magnitude shared by many signs. rms keeps the norm of the vector. mean_magnitude gives the smallest residual and is
/// a contraction for every vector.
enum class Scale { rms, mean_magnitude };

/// Options of the compressed allreduce.
struct CompressionOptions {
  Scale scale = Scale::mean_magnitude;
  std::int64_t scale_groups = 1;  ///< ranges of the vector that have their own scale; at least 1
  /// Bytes of a chunk's sign bits sent as one segment, rounded up to 512; does not change the result.
  std::int64_t segment_bytes = std::int64_t{1} << 40;
  bool error_feedback = true;   ///< false: discards the compression error of every call
  bool compress_alone = false;  ///< for tests: compresses in a group of one rank, too
};

/// Default number of elements that share a scale. The scales then take 1/1000 of the bytes of the bits.
inline constexpr std::int64_t elements_a_scale = 32768;

/// Deck section `comm`.
struct CommConfig {
  Transport transport = Transport::automatic;
  bool share_device = false;
  Allreduce allreduce = Allreduce::ordered;
  Wire dense_wire = Wire::fp32;
  /// Minimum number of elements per segment of a dense gradient mean. Not a deck key, because it changes no bit of the
  /// result. Unset: chosen so that the cost of the extra messages pays off.
  std::optional<std::int64_t> dense_segment;
  std::optional<std::int64_t> scale_groups;  ///< unset: one per elements_a_scale elements
  bool error_feedback = true;
  Hierarchy hierarchy = Hierarchy::none;
  std::optional<std::int64_t> ranks_per_node;  ///< L; unset: as detected
  double deadline = 600;

  /// Returns the number of scale groups for a vector of `count` elements that a compressed allreduce splits into
  /// `slices` slices: 1 slice, or one per local rank.
  std::int64_t groups_of(std::int64_t count, std::int64_t slices) const {
    std::int64_t const share = slices * elements_a_scale;
    return scale_groups.value_or(std::max<std::int64_t>(1, (count + share - 1) / share));
  }

  /// compresses: true if the optimizer method compresses its exchange. compressing_methods: names those that do, as a
  /// condition on a key.
  void describe(ConfigVisitor& visit, bool compresses, std::string_view compressing_methods) {
    visit.choice(
        {.name = "transport",
         .help = "library of the collectives. With 'mpi': MPI gets the buffers directly. With 'mpi_staged': it gets "
                 "copies in host memory. With 'nccl': NCCL, in a GPU build only. With 'auto': the fastest of them "
                 "that is available; the log says why"},
        {"auto", "mpi", "mpi_staged", "nccl"}, transport);
    visit.field({.name = "share_device", .help = "allow several ranks of one node to compute on the same GPU"},
                share_device);
    visit.choice(
        {.name = "allreduce",
         .help =
             "algorithm of the dense mean over ranks: 'ordered' gives bitwise equal results on all ranks and counts "
             "its bytes; 'library' calls MPI_Iallreduce or ncclAllReduce, which guarantee neither"},
        {"ordered", "library"}, allreduce);
    visit.choice({.name = "dense_wire",
                  .help = "type of gradients on the network: 'bf16' halves the bytes; it rounds values once before "
                          "sending, sums in fp32, and rounds the mean once"},
                 {"fp32", "bf16"}, dense_wire);
    visit.field(
        {.name = "scale_groups",
         .help = "number of scale groups of a compressed exchange: parts of the model, or of a node's slice of it, "
                 "with one scale each. A group costs 8 bytes per rank and peer. Not set: a group per 32768 "
                 "elements",
         .minimum = 1,
         .maximum = 1 << 20,
         .only_with = compressing_methods,
         .applies = compresses,
         .default_allowed = true},
        scale_groups);
    visit.field(
        {.name = "error_feedback",
         .help = "add the compression error of each exchange to the next one; 'false' is for comparisons and harms "
                 "training",
         .only_with = compressing_methods,
         .applies = compresses,
         .default_allowed = true},
        error_feedback);
    visit.choice(
        {.name = "hierarchy",
         .help = "'node': compressed exchanges first sum inside each node, in the dense_wire type, and compress only "
                 "between nodes. All nodes need the same number of ranks. Methods that do not compress ignore the key "
                 "with a warning"},
        {"none", "node"}, hierarchy);
    visit.field({.name = "ranks_per_node",
                 .help = "number of consecutive ranks that form a node; not set: the ranks that share memory",
                 .unit = "ranks",
                 .minimum = 1,
                 .maximum = 1 << 20},
                ranks_per_node);
    visit.field({.name = "deadline",
                 .help = "collective timeout; a collective that takes longer ends the run with an error that names it",
                 .unit = "seconds",
                 .minimum = 1,
                 .maximum = 86400},
                deadline);
  }
};

}  // namespace bellwether::comm
