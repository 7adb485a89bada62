// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/parameter_layout.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <functional>

namespace bellwether {

TensorInfo const& ParameterLayout::add(TensorInfo tensor) {
  require(std::none_of(tensors_.begin(), tensors_.end(), [&](auto const& t) { return t.name == tensor.name; }),
          "two tensors have the name " + tensor.name);
  tensor.count = 1;
  for (auto const extent : tensor.shape) tensor.count *= extent;
  tensor.offset = count_;
  require(tensor.active >= 0 && tensor.active <= tensor.count,
          "more active elements than the tensor has: " + tensor.name);
  require(std::ranges::adjacent_find(tensor.masked, std::ranges::greater_equal()) == tensor.masked.end() &&
              (tensor.masked.empty() || (tensor.masked.front() >= 0 && tensor.masked.back() < tensor.active)),
          "masked elements must be ascending and below the active count: " + tensor.name);
  count_ += tensor.count;
  return tensors_.emplace_back(std::move(tensor));
}

std::int64_t ParameterLayout::index_of(std::string_view name) const {
  auto const found = std::find_if(tensors_.begin(), tensors_.end(), [&](auto const& t) { return t.name == name; });
  if (found == tensors_.end()) throw InternalError("no tensor named " + std::string(name));
  return found - tensors_.begin();
}

TensorInfo const& ParameterLayout::find(std::string_view name) const { return tensors_[index_of(name)]; }

std::vector<std::int64_t> ParameterLayout::active_counts() const {
  std::vector<std::int64_t> counts;
  for (auto const& tensor : tensors_) counts.push_back(tensor.active);
  return counts;
}

std::uint64_t ParameterLayout::fingerprint() const { return fingerprint(active_counts()); }

std::uint64_t ParameterLayout::fingerprint(std::span<std::int64_t const> active) const {
  require(active.size() == tensors_.size(), "one active count per tensor is required");
  // FNV-1a: unlike std::hash, equal on all machines.
  std::uint64_t hash = 0xcbf29ce484222325ull;
  auto const mix = [&](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 0x100000001b3ull;
  };
  for (std::size_t l = 0; l < tensors_.size(); ++l) {
    auto const& tensor = tensors_[l];
    for (unsigned char const letter : tensor.name) mix(letter);
    for (auto const extent : tensor.shape) mix(static_cast<std::uint64_t>(extent));
    mix(static_cast<std::uint64_t>(active[l]));
    mix(tensor.decays * 2u + tensor.adapts);
  }
  return hash;
}

}  // namespace bellwether
