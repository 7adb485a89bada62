// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/load_balancing.hpp"

#include <algorithm>
#include <numeric>

namespace bellwether::input {
namespace {

void append(model::Batch& batch, SampleRow const& sample, LoadBalancer const& balancer) {
  ShardRows const& rows = *sample.rows;
  auto const first = sample.row * rows.sequence_length;
  auto const begin = static_cast<std::int32_t>(batch.token_ids.size());
  auto const* const ids = rows.token_ids.data() + first;
  auto const* const segments = rows.segment_ids.data() + first;
  batch.token_ids.insert(batch.token_ids.end(), ids, ids + sample.length());
  batch.segment_ids.insert(batch.segment_ids.end(), segments, segments + sample.length());
  auto const mark = [&](std::span<std::int32_t const> positions, std::span<std::int32_t const> labels) {
    for (auto const position : positions) batch.masked_rows.push_back(begin + position);
    batch.masked_labels.insert(batch.masked_labels.end(), labels.begin(), labels.end());
  };
  if (balancer.static_masks) {
    auto const at = static_cast<std::size_t>(sample.row * rows.masked_length);
    auto const count = static_cast<std::size_t>(sample.predictions());
    mark(std::span(rows.masked_positions).subspan(at, count), std::span(rows.masked_ids).subspan(at, count));
  } else {
    auto const tokens = std::span(batch.token_ids).subspan(static_cast<std::size_t>(begin));
    Masks const masks = draw_masks(balancer.masking, balancer.seed, sample.sample, tokens);
    mark(masks.positions, masks.ids);
  }
  batch.next_labels.push_back(rows.next_labels[static_cast<std::size_t>(sample.row)]);
  batch.samples.push_back(sample.sample);
  batch.sequence_offsets.push_back(static_cast<std::int32_t>(batch.token_ids.size()));
}

}  // namespace

std::vector<int> balance_by_length(std::span<std::int64_t const> lengths, int size) {
  std::vector<std::size_t> longest_first(lengths.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  std::vector<int> owner(lengths.size());
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(size), 0);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (std::size_t i = 0; i < longest_first.size(); ++i) {
    std::size_t const turn = i % ranks.size();
    if (turn == 0)
      std::ranges::sort(ranks, [&](int a, int b) {
        return std::pair(tokens[static_cast<std::size_t>(a)], a) < std::pair(tokens[static_cast<std::size_t>(b)], b);
      });
    owner[longest_first[i]] = ranks[turn];
    tokens[static_cast<std::size_t>(ranks[turn])] += lengths[longest_first[i]];
  }
  return owner;
}

model::StepBatch LoadBalancer::share(std::span<SampleRow const> batch) const {
  model::StepBatch step;
  step.first_sample = batch.empty() ? 0 : batch.front().sample;
  step.global_sequences = std::ssize(batch);
  std::vector<std::int64_t> lengths;
  for (auto const& sample : batch) {
    lengths.push_back(sample.length());
    step.global_tokens += sample.length();
    step.global_masked += sample.predictions();
  }
  auto const owner = balance_by_length(lengths, size);
  std::vector<SampleRow> mine;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (owner[i] == rank) mine.push_back(batch[i]);
  // Use as few micro-batches as `micro` allows, of nearly equal size: they differ by at most one sequence.
  auto const count = std::ssize(mine);
  auto const micro_batches = (count + micro - 1) / micro;
  for (std::int64_t p = 0; p < micro_batches; ++p) {
    auto& micro_batch = step.micro_batches.emplace_back();
    micro_batch.sequence_offsets.push_back(0);
    for (auto i = p * count / micro_batches; i < (p + 1) * count / micro_batches; ++i)
      append(micro_batch, mine[static_cast<std::size_t>(i)], *this);
  }
  return step;
}

}  // namespace bellwether::input
