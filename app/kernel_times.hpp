// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace bellwether::app {

/// Listens to Kokkos while it lives and adds up how long kernels take, by label; copies of views count under their own
/// name. On a device Kokkos waits for each kernel while somebody listens. One at a time.
class KernelTimes {
 public:
  /// The label of all copies.
  static constexpr auto copies = "copies";
  struct Entry {
    std::string label;
    double seconds = 0;
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
