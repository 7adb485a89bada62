// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/machine/kernel_times.hpp"

#include "core/system/clock.hpp"
#include "core/system/error.hpp"
#include "core/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

namespace bellwether::app {

struct KernelTimes::Impl {
  void begin(char const* label) {
    if (depth++ > 0) return;  // a copy may launch Kokkos kernels
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

  Kokkos::Tools::Experimental::EventSet tool;  // the callbacks that were set before
  std::vector<Entry> entries;
  std::string current;
  Clock::time_point start;
  int depth = 0;
  std::vector<bool> regions;  // for each open region: whether it is a product
};

namespace {

// Kokkos calls plain functions without a user argument, so they find the listener through this pointer.
std::atomic<void*> listener{nullptr};

using Callbacks = Kokkos::Tools::Experimental::EventSet;

template <class Impl>
Impl& listening() {
  return *static_cast<Impl*>(listener.load());
}
/// Forwards an event to a tool that was loaded before. Its time is not included in our measurements.
template <class... Given>
void tell(void (*tool)(Given...), std::type_identity_t<Given>... given) {
  if (tool != nullptr) tool(given...);
}

template <class Impl, auto tool>
void begin_kernel(char const* label, std::uint32_t device, std::uint64_t* kernel) {
  tell(listening<Impl>().tool.*tool, label, device, kernel);
  listening<Impl>().begin(label);
}
template <class Impl, auto tool>
void end_kernel(std::uint64_t kernel) {
  listening<Impl>().end();
  tell(listening<Impl>().tool.*tool, kernel);
}
template <class Impl>
void push_region(char const* name) {
  tell(listening<Impl>().tool.push_region, name);
  listening<Impl>().push(name);
}
template <class Impl>
void pop_region() {
  listening<Impl>().pop();
  tell(listening<Impl>().tool.pop_region);
}
template <class Impl>
void begin_copy(Kokkos::Tools::SpaceHandle to, char const* to_name, void const* to_memory,
                Kokkos::Tools::SpaceHandle from, char const* from_name, void const* from_memory, std::uint64_t bytes) {
  tell(listening<Impl>().tool.begin_deep_copy, to, to_name, to_memory, from, from_name, from_memory, bytes);
  listening<Impl>().begin(KernelTimes::copies);
}
template <class Impl>
void end_copy() {
  listening<Impl>().end();
  tell(listening<Impl>().tool.end_deep_copy);
}

}  // namespace

KernelTimes::KernelTimes() : impl_(std::make_unique<Impl>()) {
  void* none = nullptr;
  require(listener.compare_exchange_strong(none, impl_.get()), "another KernelTimes object exists");
  namespace tools = Kokkos::Tools::Experimental;
  impl_->tool = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(begin_kernel<Impl, &Callbacks::begin_parallel_for>);
  tools::set_end_parallel_for_callback(end_kernel<Impl, &Callbacks::end_parallel_for>);
  tools::set_begin_parallel_reduce_callback(begin_kernel<Impl, &Callbacks::begin_parallel_reduce>);
  tools::set_end_parallel_reduce_callback(end_kernel<Impl, &Callbacks::end_parallel_reduce>);
  tools::set_begin_deep_copy_callback(begin_copy<Impl>);
  tools::set_end_deep_copy_callback(end_copy<Impl>);
  tools::set_push_region_callback(push_region<Impl>);
  tools::set_pop_region_callback(pop_region<Impl>);
}

KernelTimes::~KernelTimes() {
  Kokkos::Tools::Experimental::set_callbacks(impl_->tool);
  listener = nullptr;
}

void KernelTimes::clear() { impl_->entries.clear(); }

std::vector<KernelTimes::Entry> const& KernelTimes::entries() const { return impl_->entries; }

}  // namespace bellwether::app
