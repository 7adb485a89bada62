// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <string>
#include <vector>

/// A small training state with every kind of entry. Values follow from name, element, rank and a salt.
class FakeOwner {
 public:
  static constexpr std::int64_t total = 103;  ///< of the partitioned vector: not a multiple of any rank count
  static constexpr std::int64_t width = 37;   ///< of per-rank vectors

  FakeOwner(int rank, int ranks, float salt) : rank_(rank), ranks_(ranks) {
    layout_.add({.name = "embeddings.weight", .shape = {7, 5}});
    layout_.add({.name = "bias", .shape = {3}});
    layout_.add({.name = "dense.weight", .shape = {4, 2}});
    parameters = numbers(layout_.count(), 100, salt);
    momentum = numbers(layout_.count(), 200, salt);
    slice = numbers(last() - first(), 300 + static_cast<float>(first()), salt);
    mean_of_ranks = own(400, salt);
    zeroed = own(500, salt);
    refused = own(600, salt);
    steps = 7 + static_cast<std::int64_t>(salt);
    position = (std::int64_t{1} << 60) + static_cast<std::int64_t>(salt);
    rate = 0.1 + salt;
  }

  /// Chunks of the compressed allreduce: whole words; the last chunks are short or empty.
  std::int64_t chunk() const { return 32 * ((total + 32 * ranks_ - 1) / (32 * ranks_)); }
  std::int64_t first() const { return std::min(total, rank_ * chunk()); }
  std::int64_t last() const { return std::min(total, (rank_ + 1) * chunk()); }

  bellwether::app::TrainingState state() {
    return {.layout = layout_,
            .parameters = parameters,
            .parameters_per_rank = parameters_per_rank,
            .optimizer =
                [this](bellwether::StateVisitor& visit) {
                  visit.scalar({"steps"}, steps);
                  visit.array(bellwether::replicated("momentum"), momentum);
                  visit.array(bellwether::partitioned("server_error", first(), total), slice);
                  visit.array(bellwether::per_rank("worker/error", bellwether::Reshard::mean), mean_of_ranks);
                  visit.array(bellwether::per_rank("worker/scratch", bellwether::Reshard::zero), zeroed);
                  if (has_refused)
                    visit.array(bellwether::per_rank("worker/graph", bellwether::Reshard::refuse), refused);
                },
            .data =
                [this](bellwether::StateVisitor& visit) {
                  visit.scalar({"position"}, position);
                  visit.scalar({"rate"}, rate);
                }};
  }

  bool parameters_per_rank = false;
  bool has_refused = false;
  std::vector<float> parameters, momentum, slice, mean_of_ranks, zeroed, refused;
  std::int64_t steps = 0, position = 0;
  double rate = 0;

 private:
  static std::vector<float> numbers(std::int64_t count, float start, float salt) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<float>(i) + salt;
    return values;
  }
  std::vector<float> own(float start, float salt) const {
    return numbers(width, start + 10000 * static_cast<float>(rank_), salt);
  }

  int rank_, ranks_;
  bellwether::ParameterLayout layout_;
};
