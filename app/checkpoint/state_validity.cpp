// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/state_validity.hpp"

#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "app/format/formatted.hpp"

#include <algorithm>
#include <bit>

namespace bellwether::app {
namespace {

constexpr std::size_t values_at_a_time = std::size_t{1} << 12;

/// Tests the bits, because compilers with fast-math options may assume that all floats are finite.
bool is_sound(float value, std::uint32_t least_forbidden) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7F800000U) != 0x7F800000U && bits < least_forbidden;
}

/// Checks all state that this rank holds, including its own copy of replicated state.
class SoundWalk final : public EntryWalk {
 public:
  explicit SoundWalk(TrainingState const& state) : EntryWalk(state, 0, 1) {}
  std::string const& fault() const { return fault_; }

 private:
  void entry(SavedEntry entry, Place) override {
    if (auto const* const values = std::get_if<std::span<float const>>(&entry.value))
      for (std::size_t first = 0; first < values->size() && fault_.empty(); first += elements)
        look(entry, static_cast<std::int64_t>(first),
             values->subspan(first, std::min(elements, values->size() - first)));
    if (auto const* const formed = std::get_if<FormedValues const*>(&entry.value))
      for (std::int64_t first = 0, all = (*formed)->count(); first < all && fault_.empty(); first += elements)
        (*formed)->give(first, std::min<std::int64_t>(elements, all - first),
                        [&](std::int64_t at, std::span<float const> piece) { look(entry, at, piece); });
  }

  void look(SavedEntry const& entry, std::int64_t first, std::span<float const> piece) {
    if (!host_reads_training_memory()) {
      if (piece_.size() < piece.size()) piece_ = HostBuffer(piece.size());
      copy_from_device(piece, piece_.values().first(piece.size()));
      piece = piece_.values().first(piece.size());
    }
    if (auto const at = first_unsound(piece, entry.range))
      fault_ = entry.path + ": " +
               unsound_text(first + entry.first + *at, piece[static_cast<std::size_t>(*at)], entry.range);
  }

  static constexpr std::size_t elements = std::size_t{1} << 22;
  HostBuffer piece_;
  std::string fault_;
};

}  // namespace

std::optional<std::int64_t> first_unsound(std::span<float const> values, ValueRange range) {
  if (range == ValueRange::may_be_nan) return std::nullopt;
  // Negative zero is valid.
  std::uint32_t const least_forbidden = range == ValueRange::not_negative ? 0x80000001U : 0xFFFFFFFFU;
  for (std::size_t first = 0; first < values.size(); first += values_at_a_time) {
    auto const block = values.subspan(first, std::min(values_at_a_time, values.size() - first));
    std::uint32_t unsound = 0;
    for (float const value : block) unsound |= is_sound(value, least_forbidden) ? 0U : 1U;
    if (unsound == 0) continue;
    auto const found =
        std::ranges::find_if_not(block, [&](float const value) { return is_sound(value, least_forbidden); });
    return static_cast<std::int64_t>(first) + (found - block.begin());
  }
  return std::nullopt;
}

std::string unsound_text(std::int64_t at, float value, ValueRange range) {
  return "value " + std::to_string(at) + formatted(" is %g; allowed: ", static_cast<double>(value)) +
         (range == ValueRange::not_negative ? "finite numbers from 0 on" : "finite numbers");
}

std::string unsound_state(comm::RankGroup& group, TrainingState const& state) {
  TrainingState own = state;
  own.replica_mean = nullptr;
  SoundWalk look(own);
  walk(own, look);
  return first_fault(group, look.fault());
}

}  // namespace bellwether::app
