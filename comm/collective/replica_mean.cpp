// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/replica_mean.hpp"

#include "comm/transport/communicator.hpp"
#include "core/device/launch.hpp"
#include "core/system/error.hpp"

#include <algorithm>

namespace bellwether::comm {
namespace {

constexpr Index floats_a_round = Index{4} << 20;

template <class T>
using HostValues = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using Values = Kokkos::View<T*, Kokkos::LayoutRight, Mem, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

Part overlap(Part const& a, Part const& b) {
  Index const first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

/// Returns the range that each rank holds; together they cover every element.
std::vector<Part> all_holders(Communicator& data, Part const& mine, Index total) {
  auto const ranks = static_cast<std::size_t>(data.size()), rank = static_cast<std::size_t>(data.rank());
  std::vector<double> bounds(2 * ranks);
  bounds[2 * rank] = static_cast<double>(mine.first);
  bounds[2 * rank + 1] = static_cast<double>(mine.last);
  data.sum_host(bounds, "bellwether::comm::holders");
  std::vector<Part> holders(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    holders[r] = {static_cast<Index>(bounds[2 * r]), static_cast<Index>(bounds[2 * r + 1])};
  auto sorted = holders;
  std::ranges::sort(sorted, {}, &Part::first);
  Index covered = 0;
  for (auto const& part : sorted) {
    if (part.size() == 0) continue;
    require(part.first <= covered, "no rank holds an element of the vector");
    covered = std::max(covered, part.last);
  }
  require(covered == total, "no rank holds an element of the vector");
  return holders;
}

/// Parts of a vector that ranks sent.
struct ReceivedParts {
  Vec<float> const& rows;    ///< (P, stride), one row per rank; entries that a rank does not hold are undefined
  Index stride;              ///< elements from one row to the next
  Vec<Index> const& firsts;  ///< (P) first element that each rank holds
  Vec<Index> const& lasts;   ///< (P) the element behind its last one
};

/// Averages each element of `window` over the ranks that hold it. out: (window).
void mean_of_rows(Exec const& exec, Part const& window, ReceivedParts const& parts, Vec<float> const& out) {
  Vec<float> const received = parts.rows;
  Vec<Index> const firsts = parts.firsts, lasts = parts.lasts;
  Index const stride = parts.stride;
  int const ranks = static_cast<int>(firsts.extent(0));
  Index const begin = window.first;
  launch<"bellwether::comm::replica_mean">(
      Kokkos::RangePolicy<Exec>(exec, 0, window.size()), KOKKOS_LAMBDA(Index i) {
        double sum = 0, holders = 0;
        for (int r = 0; r < ranks; ++r)
          if (begin + i >= firsts(r) && begin + i < lasts(r)) {
            sum += static_cast<double>(received(r * stride + i));
            ++holders;
          }
        out(i) = static_cast<float>(sum / holders);
      });
}

}  // namespace

Part part_of(std::int64_t total, int rank, int ranks) {
  return {total / ranks * rank + total % ranks * rank / ranks,
          total / ranks * (rank + 1) + total % ranks * (rank + 1) / ranks};
}

std::vector<float> replica_mean(Communicator& data, std::span<float const> held, std::int64_t first,
                                std::int64_t total) {
  int const ranks = data.size(), rank = data.rank();
  Part const own{first, first + std::ssize(held)}, mine = part_of(total, rank, ranks);
  auto const holders = all_holders(data, own, total);
  Index const longest = (total + ranks - 1) / ranks;
  Index const width = std::min(longest, std::max<Index>(1, floats_a_round / ranks));

  Exec const exec;
  auto const count = static_cast<std::size_t>(ranks);
  Vec<float> const received("bellwether::comm::received_parts", count * static_cast<std::size_t>(width));
  Vec<float> const means("bellwether::comm::means", static_cast<std::size_t>(width));
  Vec<Index> const firsts("bellwether::comm::holders_first", count), lasts("bellwether::comm::holders_last", count);
  std::vector<Index> begin(count), end(count);
  for (std::size_t r = 0; r < count; ++r) {
    begin[r] = holders[r].first;
    end[r] = holders[r].last;
  }
  Kokkos::deep_copy(exec, firsts, HostValues<Index const>(begin.data(), count));
  Kokkos::deep_copy(exec, lasts, HostValues<Index const>(end.data(), count));
  exec.fence("bellwether::comm::replica_mean, the table of holders is on the device");

  std::vector<float> out(static_cast<std::size_t>(mine.size()));
  std::vector<Message> messages;
  for (Index at = 0; at < longest; at += width) {
    auto const window_of = [&](int of) {
      Part const part = part_of(total, of, ranks);
      return overlap(part, {part.first + at, part.first + at + width});
    };
    Part const window = window_of(rank);
    messages.clear();
    for (int peer = 0; peer < ranks; ++peer) {
      Part const sent = overlap(own, window_of(peer)), got = overlap(holders[static_cast<std::size_t>(peer)], window);
      auto const from = [&] { return held.data() + (sent.first - own.first); };
      auto const to = [&] { return received.data() + peer * width + (got.first - window.first); };
      if (peer == rank && got.size() > 0)
        Kokkos::deep_copy(exec, Values<float>(to(), static_cast<std::size_t>(got.size())),
                          Values<float const>(from(), static_cast<std::size_t>(got.size())));
      if (peer == rank) continue;
      if (sent.size() > 0) messages.push_back({Message::Kind::send, peer, bytes(from(), sent.size())});
      if (got.size() > 0) messages.push_back({Message::Kind::receive, peer, bytes(to(), got.size())});
    }
    Request request = data.start_exchange(exec, messages, "bellwether::comm::replica_mean");
    data.wait(request);
    mean_of_rows(exec, window, {.rows = received, .stride = width, .firsts = firsts, .lasts = lasts}, means);
    Kokkos::deep_copy(
        exec, HostValues<float>(out.data() + (window.first - mine.first), static_cast<std::size_t>(window.size())),
        Values<float const>(means.data(), static_cast<std::size_t>(window.size())));
    exec.fence("bellwether::comm::replica_mean, the next round uses the same memory");
  }
  return out;
}

}  // namespace bellwether::comm
