// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/replica_check.hpp"

#include "app/checkpoint/checkpoint.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/random/random.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace bellwether::app {
namespace {

/// Collects names and hashes of replicated state, in the order of the visit.
class Hashes final : public StateVisitor {
 public:
  explicit Hashes(ParameterLayout const& layout) : layout_(layout) {
    for (auto const& tensor : layout.tensors()) ends_.push_back(tensor.offset + tensor.count);
  }

  void array(ArraySpec const& spec, std::span<float> values) override {
    if (spec.placement != Placement::replicated) return;  // other state differs between ranks
    bool const arena = static_cast<std::int64_t>(values.size()) == layout_.count();
    std::vector<std::int64_t> const whole{static_cast<std::int64_t>(values.size())};
    auto const found = bit_hashes_on_device(values, arena ? ends_ : whole);
    values_.insert(values_.end(), found.begin(), found.end());
    if (!arena) names_.emplace_back(spec.name);
    if (arena)
      for (auto const& tensor : layout_.tensors()) names_.push_back(std::string(spec.name) + " of " + tensor.name);
  }
  // Hashes piece by piece: computing all values at once would cost the memory that not storing them saves.
  void formed(std::string_view name, FormedValues const& values) override {
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    for (auto const& tensor : layout_.tensors()) {
      std::uint64_t hash = 0;
      for (std::int64_t first = 0; first < tensor.count; first += piece)
        values.give(tensor.offset + first, std::min(piece, tensor.count - first),
                    [&](std::int64_t, std::span<float> numbers) {
                      std::vector<std::int64_t> const whole{static_cast<std::int64_t>(numbers.size())};
                      hash = mix64(hash ^ bit_hashes_on_device(numbers, whole).at(0));
                    });
      add(std::string(name) + " of " + tensor.name, hash);
    }
  }
  void scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) override {
    add(spec.name, static_cast<std::uint64_t>(value));
  }
  void scalar(ScalarSpec<double> const& spec, double& value) override {
    add(spec.name, std::bit_cast<std::uint64_t>(value));
  }

  std::uint64_t of_all() const {
    std::uint64_t hash = names_.size();
    for (auto const value : values_) hash = mix64(hash ^ value);
    return hash;
  }
  std::vector<std::uint64_t>& values() { return values_; }

  /// Returns the names of the values that differ from `others`.
  std::string differing(std::vector<std::uint64_t> const& others) const {
    std::string text;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == others[i]) continue;
      if (++count <= most_named) text += (count > 1 ? ", " : "") + names_[i];
    }
    return count > most_named ? text + " and " + std::to_string(count - most_named) + " more" : text;
  }

 private:
  static constexpr std::size_t most_named = 3;

  void add(std::string_view name, std::uint64_t value) {
    names_.emplace_back(name);
    values_.push_back(value);
  }

  ParameterLayout const& layout_;
  std::vector<std::int64_t> ends_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> values_;
};

/// Returns (P) one number per rank, on every rank. Each half is sent as a double, which represents it exactly.
std::vector<std::uint64_t> gathered(comm::RankGroup& group, std::uint64_t mine) {
  auto const rank = static_cast<std::size_t>(group.rank()), size = static_cast<std::size_t>(group.size());
  std::vector<double> halves(2 * size, 0.0);
  halves[2 * rank] = static_cast<double>(mine >> 32);
  halves[2 * rank + 1] = static_cast<double>(mine & 0xFFFFFFFFu);
  group.sum_host(halves, "bellwether::app::replica_hashes");
  std::vector<std::uint64_t> all(size);
  for (std::size_t i = 0; i < size; ++i)
    all[i] = static_cast<std::uint64_t>(halves[2 * i]) << 32 | static_cast<std::uint64_t>(halves[2 * i + 1]);
  return all;
}

/// Returns the lowest rank of the largest group of equal ranks. Of groups of equal size, the one with the lowest rank
/// wins.
int spokesman(std::vector<std::uint64_t> const& all) {
  std::map<std::uint64_t, int> members;
  for (auto const hash : all) ++members[hash];
  auto const most = std::ranges::max_element(all, {}, [&](auto hash) { return members[hash]; });
  return static_cast<int>(most - all.begin());
}

}  // namespace

std::string differing_replicas(comm::RankGroup& group, TrainingState const& state, std::string const& host) {
  Hashes mine(state.layout);
  if (!state.parameters_per_rank) mine.array(replicated("parameters"), state.parameters);
  state.optimizer(mine);
  auto const all = gathered(group, mine.of_all());
  int const speaks = spokesman(all);
  auto const right = all[static_cast<std::size_t>(speaks)];
  auto const alike = std::ranges::count(all, right);
  if (alike == group.size()) return "";

  auto theirs = mine.values();
  group.broadcast_host(std::as_writable_bytes(std::span(theirs)), speaks, "bellwether::app::replica_hashes");
  std::string text;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] == right) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " on " + broadcast_text(group, host, rank) +
            " differs from " +
            (alike == 1 ? "rank " + std::to_string(speaks) : "the " + std::to_string(alike) + " that agree") + " in " +
            broadcast_text(group, mine.differing(theirs), rank);
  }
  return text;
}

}  // namespace bellwether::app
