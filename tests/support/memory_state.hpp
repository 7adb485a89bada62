// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "core/types.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bellwether::test {

/// Saves a state in memory and restores it into another object, like a checkpoint for the same number of ranks.
class MemoryState final : public StateVisitor {
 public:
  enum class Direction { save, load } direction = Direction::save;

  void array(ArraySpec const& spec, std::span<float> values) override { floats(spec.name, values); }
  void scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) override { one(integers, spec.name, value); }
  void scalar(ScalarSpec<double> const& spec, double& value) override { one(reals, spec.name, value); }
  bool has(std::string_view name) const override {
    std::string const text(name);
    return direction == Direction::save || arrays.contains(text) || integers.contains(text) || reals.contains(text);
  }

  std::map<std::string, std::vector<float>> arrays;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> reals;

 private:
  template <class T>
  void one(std::map<std::string, T>& kept, std::string_view name, T& value) {
    if (direction == Direction::save)
      kept[std::string(name)] = value;
    else
      value = kept.at(std::string(name));
  }
  void floats(std::string_view name, std::span<float> values) {
    using Host = Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::View<float*, Mem, Kokkos::MemoryUnmanaged> const device(values.data(), values.size());
    auto& kept = arrays[std::string(name)];
    if (direction == Direction::save) {
      kept.resize(values.size());
      Kokkos::deep_copy(Host(kept.data(), kept.size()), device);
    } else {
      if (kept.size() != values.size()) throw std::runtime_error("state has another size: " + std::string(name));
      Kokkos::deep_copy(device, Host(kept.data(), kept.size()));
    }
  }
};

}  // namespace bellwether::test
