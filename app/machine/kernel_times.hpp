// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::app {

/// Listens to Kokkos while it lives and adds up how long kernels take, by label; copies of views count under their own
/// name, matrix products under that of their region, which tells their shape. On a device each is waited for while
/// somebody listens. One at a time; a tool of Kokkos' that is loaded goes on hearing everything.
class KernelTimes {
 public:
  /// The label of all copies.
  static constexpr auto copies = "copies";
  /// What the labels of matrix products begin with.
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
