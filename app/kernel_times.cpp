// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/kernel_times.hpp"

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace bellwether::app {

struct KernelTimes::Impl {
  void begin(char const* label) {
    if (depth++ > 0) return;  // a copy may launch kernels of Kokkos' own
    current = label;
    start = Clock::now();
  }
  void end() {
    if (--depth > 0) return;
    std::chrono::duration<double> const elapsed = Clock::now() - start;
    auto found = std::ranges::find(entries, current, &Entry::label);
    if (found == entries.end()) found = entries.insert(entries.end(), Entry{current, 0, 0});
    found->seconds += elapsed.count();
    ++found->calls;
  }
  void push(char const* name) {
    bool const product = std::string_view(name).starts_with(products);
    regions.push_back(product);
    if (product) begin(name);
  }
  void pop() {
    bool const product = regions.back();
    regions.pop_back();
    if (!product) return;
    if constexpr (on_devices) Kokkos::fence("bellwether::app::kernel_times, a product ends");
    end();
  }

  std::vector<Entry> entries;
  std::string current;
  Clock::time_point start;
  int depth = 0;
  std::vector<bool> regions;  // that are open: whether they are products
};

namespace {

// Kokkos calls plain functions without an argument of ours: who listens has to be found from there.
std::atomic<void*> listener{nullptr};

template <class Impl>
void begin_kernel(char const* label, std::uint32_t, std::uint64_t*) {
  static_cast<Impl*>(listener.load())->begin(label);
}
template <class Impl>
void end_kernel(std::uint64_t) {
  static_cast<Impl*>(listener.load())->end();
}
template <class Impl>
void push_region(char const* name) {
  static_cast<Impl*>(listener.load())->push(name);
}
template <class Impl>
void pop_region() {
  static_cast<Impl*>(listener.load())->pop();
}
template <class Impl>
void begin_copy(Kokkos::Tools::SpaceHandle, char const*, void const*, Kokkos::Tools::SpaceHandle, char const*,
                void const*, std::uint64_t) {
  static_cast<Impl*>(listener.load())->begin(KernelTimes::copies);
}
template <class Impl>
void end_copy() {
  static_cast<Impl*>(listener.load())->end();
}

}  // namespace

KernelTimes::KernelTimes() : impl_(std::make_unique<Impl>()) {
  void* none = nullptr;
  require(listener.compare_exchange_strong(none, impl_.get()), "one listener to kernels at a time");
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(begin_kernel<Impl>);
  tools::set_end_parallel_for_callback(end_kernel<Impl>);
  tools::set_begin_parallel_reduce_callback(begin_kernel<Impl>);
  tools::set_end_parallel_reduce_callback(end_kernel<Impl>);
  tools::set_begin_deep_copy_callback(begin_copy<Impl>);
  tools::set_end_deep_copy_callback(end_copy<Impl>);
  tools::set_push_region_callback(push_region<Impl>);
  tools::set_pop_region_callback(pop_region<Impl>);
}

KernelTimes::~KernelTimes() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_end_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_end_parallel_reduce_callback(nullptr);
  tools::set_begin_deep_copy_callback(nullptr);
  tools::set_end_deep_copy_callback(nullptr);
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  listener = nullptr;
}

void KernelTimes::clear() { impl_->entries.clear(); }

std::vector<KernelTimes::Entry> const& KernelTimes::entries() const { return impl_->entries; }

}  // namespace bellwether::app
