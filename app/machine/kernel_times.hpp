// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::app {

/// Measures kernel times by label during its lifetime, through Kokkos Tools callbacks. View copies have one common
/// label; matrix products have that of their region, which contains the shape. On a device, measuring waits for every
/// matrix product. Only one object may exist at a time. A Kokkos tool that was already loaded continues to receive all
/// events.
class KernelTimes {
 public:
  /// Label of all copies.
  static constexpr auto copies = "copies";
  /// Prefix of the labels of matrix products.
  static constexpr std::string_view products = "bellwether::core::gemm ";
  struct Entry {
    std::string label;
    double seconds = 0;
    std::int64_t calls = 0;
  };

  KernelTimes();
  ~KernelTimes();
  KernelTimes(KernelTimes const&) = delete;
  KernelTimes& operator=(KernelTimes const&) = delete;

  void clear();
  std::vector<Entry> const& entries() const;  ///< since clear(), in order of first launch

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
