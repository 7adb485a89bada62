// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config.hpp"

namespace bellwether::comm {

enum class Wire { fp32, bf16 };  ///< type of a float on the network
enum class Allreduce { ordered, library };

/// Deck section `comm`.
struct CommConfig {
  Allreduce allreduce = Allreduce::ordered;
  Wire dense_wire = Wire::fp32;
  std::int64_t scale_groups = 1;
  double deadline = 600;

  void describe(ConfigVisitor& visit) {
    visit.choice(
        {.name = "allreduce",
         .help = "how the dense mean over ranks is formed: 'ordered' is bitwise equal on all ranks and counted; "
                 "'library' calls MPI_Allreduce, which promises neither"},
        {"ordered", "library"}, allreduce);
    visit.choice(
        {.name = "dense_wire",
         .help =
             "type of gradients on the network: bf16 halves the bytes, rounds once in and once out and sums in fp32"},
        {"fp32", "bf16"}, dense_wire);
    visit.field({.name = "scale_groups",
                 .help = "parts of the model with a scale of their own in compressed exchanges; each costs 8 bytes a "
                         "rank and peer",
                 .minimum = 1,
                 .maximum = 1 << 20},
                scale_groups);
    visit.field({.name = "deadline",
                 .help = "a collective that takes longer ends the run with its name",
                 .unit = "seconds",
                 .minimum = 1,
                 .maximum = 86400},
                deadline);
  }
};

}  // namespace bellwether::comm
