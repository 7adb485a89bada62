// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/transport/conformance.hpp"

#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/transport.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/world.hpp"

namespace bellwether::test {
namespace {

using HostBytes = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

}  // namespace

std::vector<Candidate> candidates() {
  auto const mpi = [](std::int64_t call_limit, bool staged) {
    return [=] {
      comm::MpiOptions options;
      options.timeout = 60;
      if (call_limit > 0) options.call_limit = options.long_message = options.piece = call_limit;
      options.staged = staged;
      return comm::make_world_communicator(options);
    };
  };
  std::vector<Candidate> all{
      {"self", comm::make_self_communicator},
      {"MPI", mpi(0, false)},
      {"MPI, staged", mpi(0, true)},
      {"MPI, calls of 97 bytes", mpi(97, false)},
      {"MPI, calls of 1000 bytes, staged", mpi(1000, true)},
      {"MPI, nodes of two ranks, pieces of 70 bytes",
       [] {
         comm::MpiOptions options;
         options.timeout = 60;
         options.piece = 70;
         options.long_message = 64;
         auto group = comm::make_world_communicator(options);
         std::vector<int> node_of(static_cast<std::size_t>(group->size()));
         for (std::size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = static_cast<int>(rank / 2);
         group->set_nodes(node_of);
         return group;
       }},
      {"MPI, split off the world", [] { return world().communicator().split(0, world().rank()); }},
      {"MPI, in reverse order", [] { return world().communicator().split(3, -world().rank()); }},
      {"MPI, two groups", [] { return world().communicator().split(world().rank() % 2, world().rank()); }},
  };
  // The transports that decks can name and this machine offers: NCCL with GPUs.
  for (auto const transport : comm::offered_transports(world().offer())) {
    std::string const name = comm::transport_name(transport);
    all.push_back({name, [=] { return world().make_communicator(transport, 60); }});
    all.push_back({name + ", split", [=] {
                     return world().make_communicator(transport, 60)->split(world().rank() % 2, world().rank());
                   }});
  }
  return all;
}

std::byte pattern(int from, int to, std::int64_t k, unsigned salt) {
  auto const mixed = (static_cast<std::uint64_t>(k) + 1) * 0x9E3779B97F4A7C15ull +
                     static_cast<std::uint64_t>(from * 131 + to * 17) * 0xBF58476D1CE4E5B9ull + salt * 0x94D049BBull;
  return static_cast<std::byte>(mixed >> 40);
}

Buffer::Buffer(std::int64_t size)
    : host_(static_cast<std::size_t>(size), std::byte{0xEE}),
      device_("bellwether::test::buffer", static_cast<std::size_t>(size)) {}

void Buffer::upload(Exec const& exec) {
  Kokkos::deep_copy(exec, device_, HostBytes(host_.data(), host_.size()));
  exec.fence("bellwether::test::upload");
}

void Buffer::download(Exec const& exec) {
  Kokkos::deep_copy(exec, HostBytes(host_.data(), host_.size()), device_);
  exec.fence("bellwether::test::download");
}

comm::Bytes Buffer::all() const { return {device_.data(), static_cast<std::int64_t>(device_.size())}; }

}  // namespace bellwether::test
