// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/transport_check.hpp"

#include "app/launch/collective_errors.hpp"
#include "comm/collective/dense_mean.hpp"
#include "comm/transport/transport.hpp"
#include "comm/transport/world.hpp"
#include "core/device/launch.hpp"
#include "core/random/bit_hash.hpp"
#include "core/random/random.hpp"

namespace bellwether::app {
namespace {

constexpr Index count = Index{1} << 20;

/// Returns this rank's vector, with the range of magnitudes that gradients have.
Vec<float> numbers_of(Exec const& exec, int rank) {
  Vec<float> const numbers("bellwether::app::transport_check", static_cast<std::size_t>(count));
  float* const out = numbers.data();
  auto const key = random_key(1, Purpose::initialisation);
  launch<"bellwether::app::transport_numbers">(
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, count), KOKKOS_LAMBDA(Index k) {
        auto const bits = philox(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(rank), 0, 0, key.k0, key.k1);
        float const uniform = static_cast<float>(bits.x[0]) * 0x1p-31f - 1;
        out[k] = uniform / static_cast<float>(1u << bits.x[1] % 24);
      });
  return numbers;
}

/// One rank computes no mean and hands nothing to the transport. Instead, it sends its vector to itself and back.
void send_round(Exec const& exec, comm::Communicator& ranks, Vec<float> const& numbers) {
  Vec<float> const copy("bellwether::app::transport_copy", numbers.extent(0));
  auto const there = comm::bytes(copy.data(), count), here = comm::bytes(numbers.data(), count);
  auto sent = ranks.start_alltoall(exec, here, there, "bellwether::app::transport_alltoall");
  ranks.wait(sent);
  Kokkos::deep_copy(exec, numbers, 0.0f);
  auto gathered = ranks.start_allgather(exec, there, here, "bellwether::app::transport_allgather");
  ranks.wait(gathered);
  exec.fence("bellwether::app::transport_check, the copy is read before it goes");
}

/// Returns a hash of all bits of the mean on this rank.
std::uint64_t mean_over(comm::Communicator& ranks) {
  Exec const exec;
  auto const numbers = numbers_of(exec, ranks.rank());
  if (ranks.size() == 1) send_round(exec, ranks, numbers);
  comm::DenseMean mean(ranks, count, comm::Wire::fp32, comm::Allreduce::ordered);
  mean.start(exec, numbers);
  mean.wait(exec);
  return bit_hash(exec, static_cast<float const*>(numbers.data()), count);
}

}  // namespace

std::string compare_transports(comm::World& world) {
  auto& all = world.communicator();
  std::string names, first, fault;
  for (auto const transport : comm::offered_transports(world.offer())) {
    std::string const name = comm::transport_name(transport);
    auto const ranks = world.make_communicator(transport, 60);
    auto const mine = std::to_string(mean_over(*ranks));
    auto const expected = broadcast_text(all, first.empty() ? mine : first);
    if (mine != expected && fault.empty())
      fault = "comm.transport: the mean over " + name + " differs in some bits from that over " +
              (names.empty() ? "the same transport on rank 0" : names);
    first = expected;
    names += (names.empty() ? "" : ", ") + name;
  }
  together(all, [&] {
    if (!fault.empty()) throw RuntimeError(fault);
  });
  std::string const what = all.size() > 1 ? "a mean of " : "what one rank sends itself, ";
  return names + ": equal in all bits of " + what + std::to_string(count) + " numbers";
}

}  // namespace bellwether::app
