// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_collectives.hpp"

#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/machine/host_memory.hpp"
#include "comm/collective/dense_mean.hpp"
#include "comm/collective/dense_mean_kernels.hpp"
#include "comm/compression/compressed_allreduce.hpp"
#include "comm/transport/world.hpp"
#include "core/device/launch.hpp"
#include "core/random/bit_hash.hpp"
#include "core/random/random.hpp"
#include "core/simd/bf16.hpp"
#include "core/simd/reduce.hpp"
#include "model/optim/strategies/average/dense_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bellwether::app {
namespace {

using comm::CompressedAllreduce;
using comm::DenseMean;

constexpr double tolerance = 1e-6;              // of oracle O8, absolute
constexpr Index law_elements = Index{1} << 24;  // maximum elements of a chunk for which law() is checked

struct Quad {
  float value[4];
};

/// Returns elements [4 q, 4 q + 4) of a rank's vector: U(-0.5, 0.5) + 0.01 rank.
KOKKOS_INLINE_FUNCTION Quad input_quad(Index q, int rank) {
  Philox4 const bits = philox(static_cast<std::uint32_t>(q), static_cast<std::uint32_t>(q >> 32),
                              static_cast<std::uint32_t>(rank), 0, 0x0b17u, 0x1a3bu);
  Quad quad;
  for (int i = 0; i < 4; ++i) quad.value[i] = uniform(bits.x[i]) - 0.5f + 0.01f * static_cast<float>(rank);
  return quad;
}

Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>> items(Exec const& exec, Index count) { return {exec, 0, count}; }

void fill(Exec const& exec, Index count, int rank, float* values) {
  launch<"bellwether::app::bench_fill">(
      items(exec, (count + 3) / 4), KOKKOS_LAMBDA(Index q) {
        Quad const quad = input_quad(q, rank);
        for (int i = 0; i < 4; ++i)
          if (4 * q + i < count) values[4 * q + i] = quad.value[i];
      });
}

/// Counts the elements that differ by more than `allowed` from the sum in rank order over P, rounded as by the wire.
Index wrong_means(Exec const& exec, Index count, int ranks, comm::Wire wire, double allowed, float const* values) {
  Index wrong = 0;
  bool const half = wire == comm::Wire::bf16 && ranks > 1;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_wrong_means", items(exec, (count + 3) / 4),
      KOKKOS_LAMBDA(Index q, Index & found) {
        Quad total{};
        for (int rank = 0; rank < ranks; ++rank) {
          Quad const quad = input_quad(q, rank);
          for (int i = 0; i < 4; ++i) {
            float const term = half ? float(bf16(quad.value[i])) : quad.value[i];
            total.value[i] = rank == 0 ? term : total.value[i] + term;
          }
        }
        for (int i = 0; i < 4 && 4 * q + i < count; ++i) {
          float const mean = total.value[i] / static_cast<float>(ranks);
          float const wanted = half ? float(bf16(mean)) : mean;
          double const apart = static_cast<double>(values[4 * q + i]) - static_cast<double>(wanted);
          if (!(Kokkos::abs(apart) <= allowed)) ++found;
        }
      },
      wrong);
  return wrong;
}

/// Computes bit_hash() of a mean that is decoded where it was received.
std::uint64_t bit_hash_of(Exec const& exec, Index count, comm::Decoded const& mean) {
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_checksum", items(exec, count),
      KOKKOS_LAMBDA(Index k, std::uint64_t & total) {
        total += mix64(static_cast<std::uint64_t>(k) << 32 | Kokkos::bit_cast<std::uint32_t>(mean(k)));
      },
      sum);
  return sum;
}

float root_mean_square(Exec const& exec, Index first, Index last, float const* values) {
  if (last <= first) return 0;
  double const squares = ordered_sum(
      exec, "bellwether::app::bench_squares", first, last,
      KOKKOS_LAMBDA(Index k) { return static_cast<double>(values[k]) * values[k]; });
  return static_cast<float>(std::sqrt(squares / static_cast<double>(last - first)));
}

/// Replaces each value by its sign times the root mean square of all values, which it returns.
float compress(Exec const& exec, Index count, float* values) {
  float const scale = root_mean_square(exec, 0, count, values);
  launch<"bellwether::app::bench_compress">(
      items(exec, count), KOKKOS_LAMBDA(Index k) { values[k] = values[k] >= 0 ? scale : -scale; });
  return scale;
}

struct InputForm {
  float const* values;
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const { return values[k]; }
};

void add_mean(Exec const& exec, Index count, Index first, comm::Decoded const& mean, double* outputs) {
  launch<"bellwether::app::bench_add_mean">(
      items(exec, count), KOKKOS_LAMBDA(Index k) { outputs[k] += static_cast<double>(mean(first + k)); });
}

void add_scaled(Exec const& exec, Index count, double factor, float const* values, double* outputs) {
  launch<"bellwether::app::bench_add_scaled">(
      items(exec, count), KOKKOS_LAMBDA(Index k) { outputs[k] += factor * static_cast<double>(values[k]); });
}

/// The differences between two computations of one mean.
struct Difference {
  Index wrong = 0;     ///< elements beyond the tolerance
  Index excused = 0;   ///< elements beyond it that are allowed, because the value on the server is near 0
  double largest = 0;  ///< largest difference of the elements that are not excused
};

/// Compares `decoded` in [first, last) with the signs and the magnitude of the simulated server's values.
Difference compare_chunk(Exec const& exec, Index first, Index last, float const* server, comm::Decoded const& decoded) {
  float const magnitude = root_mean_square(exec, first, last, server);
  Difference found;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_compare", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, first, last),
      KOKKOS_LAMBDA(Index k, Index & wrong, Index & excused, double& largest) {
        float const wanted = server[k] >= 0 ? magnitude : -magnitude;
        double const apart = Kokkos::abs(static_cast<double>(decoded(k)) - wanted);
        if (!(apart <= tolerance)) {
          if (Kokkos::abs(server[k]) <= tolerance) {
            ++excused;
            return;
          }
          ++wrong;
        }
        if (!(apart <= largest)) largest = apart;
      },
      found.wrong, found.excused, Kokkos::Max<double>(found.largest));
  return found;
}

/// Finds the values that are not within `allowed` of 0.
Difference beyond(Exec const& exec, Index count, double const* values, double allowed) {
  Difference found;
  Kokkos::parallel_reduce(
      "bellwether::app::bench_beyond", items(exec, count),
      KOKKOS_LAMBDA(Index k, Index & wrong, double& largest) {
        double const apart = Kokkos::abs(values[k]);
        if (!(apart <= allowed)) ++wrong;
        if (!(apart <= largest)) largest = apart;
      },
      found.wrong, Kokkos::Max<double>(found.largest));
  return found;
}

/// The two residuals in the state of a compressed mean.
class Residuals final : public StateVisitor {
 public:
  void array(ArraySpec const& spec, std::span<float> values) override {
    if (spec.placement == Placement::partitioned) server = values;
    if (spec.placement == Placement::per_rank) worker = values;  // held values exist only with a hierarchy of nodes
  }
  void scalar(ScalarSpec<std::int64_t> const&, std::int64_t&) override {}
  void scalar(ScalarSpec<double> const&, double&) override {}

  std::span<float> worker, server;
};

/// The dense mean in the segments of a training step. Here all segments are ready at the start.
class InSegments {
 public:
  InSegments(comm::Communicator& ranks, Index count, comm::Wire wire)
      : counts_(segments(count, wire, ranks.size())), mean_(ranks, counts_, wire, comm::Allreduce::ordered) {}

  void average(Exec const& exec, Vec<float> const& inout) {
    auto last = static_cast<Index>(inout.extent(0));
    for (Index const count : counts_) {
      mean_.start(exec, Kokkos::subview(inout, std::pair(last - count, last)));
      last -= count;
    }
    mean_.wait(exec);
  }

 private:
  static std::vector<Index> segments(Index count, comm::Wire wire, int ranks) {
    Index const longest = (optim::usual_segment(count, wire, ranks) + ranks - 1) / ranks * ranks;
    std::vector<Index> counts;
    for (Index left = count; left > 0; left -= counts.back()) counts.push_back(std::min(longest, left));
    return counts;
  }

  std::vector<Index> counts_;
  comm::SegmentedMean mean_;
};

/// The bench of one vector length.
class Bench {
 public:
  Bench(comm::World& world, CollectivesBench const& wanted)
      : bench_(wanted),
        world_(world),
        ranks_(world.communicator()),
        count_(wanted.elements),
        chunk_((count_ + 32 * ranks_.size() - 1) / (32 * ranks_.size()) * 32),
        first_(std::min(count_, chunk_ * ranks_.rank())),
        watched_(std::min({law_elements, chunk_, count_ - first_})),
        input_("bellwether::app::bench_input", static_cast<std::size_t>(count_)),
        work_("bellwether::app::bench_work", static_cast<std::size_t>(count_)),
        outputs_("bellwether::app::bench_outputs", static_cast<std::size_t>(watched_)),
        fp32_(ranks_, count_, comm::Wire::fp32),
        bf16_(ranks_, count_, comm::Wire::bf16),
        library_(ranks_, count_, comm::Wire::fp32, comm::Allreduce::library),
        compressed_(ranks_, count_, {.scale = comm::Scale::rms, .compress_alone = true}) {
    fill(exec_, count_, ranks_.rank(), input_.data());
    rows_ = {Row{.result = {.name = "dense mean, fp32"}}, Row{.result = {.name = "dense mean, bf16"}},
             Row{.result = {.name = "dense mean, library"}, .ordered = false},
             Row{.result = {.name = "by MPI_Allreduce"}, .ordered = false}, Row{.result = {.name = "compressed mean"}}};
  }

  std::vector<CollectiveResult> run() {
    for (int call = 0; call < bench_.warmup + bench_.calls; ++call) {
      dense(call, comm::Wire::fp32, rows_[0], [&] { fp32_.average(exec_, work_); });
      dense(call, comm::Wire::bf16, rows_[1], [&] { bf16_.average(exec_, work_); });
      dense(call, comm::Wire::fp32, rows_[2], [&] { library_.start(exec_, work_), library_.wait(exec_); });
      if (!on_devices) blocking(call, rows_[3]);
      compressed(call, rows_[4]);
    }
    rows_[4].result.checks.push_back(law());
    std::vector<CollectiveResult> results;
    for (auto& row : rows_)
      if (!row.seconds.empty()) results.push_back(finished(row));
    return results;
  }

 private:
  struct Row {
    CollectiveResult result{};
    std::vector<double> seconds{};
    std::uint64_t checksum = 0;
    bool ordered = true;  // sums in rank order, so all ranks get the same bits; no library guarantees that
    bool same = true;     // the bits are equal on all ranks and, for dense means, in all calls
  };

  template <class Call>
  void time(int call, Row& row, Call const& work) {
    exec_.fence("bellwether::app::bench, what prepares a call has ended");
    ranks_.barrier("bellwether::app::bench_start");
    auto const sent = ranks_.traffic().sent_bytes;
    auto const start = Clock::now();
    work();
    exec_.fence("bellwether::app::bench, a call ends with its kernels");
    double const elapsed = seconds_since(start);
    row.result.sent_bytes = ranks_.traffic().sent_bytes - sent;
    if (call >= bench_.warmup) row.seconds.push_back(elapsed);
  }

  template <class Mean>
  void dense(int call, comm::Wire wire, Row& row, Mean const& mean) {
    Kokkos::deep_copy(exec_, work_, input_);
    time(call, row, mean);
    examine(call, wire, row);
  }

  /// Forms the library's mean by one blocking call.
  void blocking(int call, Row& row) {
    Kokkos::deep_copy(exec_, work_, input_);
    time(call, row, [&] {
      world_.sum_by_library({work_.data(), work_.size()});
      comm::divide_by_ranks(exec_, count_, ranks_.size(), work_.data());
    });
    row.result.sent_bytes = ranks_.size() > 1 ? 4 * count_ : 0;
    examine(call, comm::Wire::fp32, row);
  }

  void examine(int call, comm::Wire wire, Row& row) {
    auto const sum = bit_hash(exec_, work_.data(), count_);
    row.same = equal_on_all_ranks(ranks_, sum) && row.same && (call == 0 || sum == row.checksum);
    row.checksum = sum;
    if (call != 0) return;
    double const allowed = row.ordered ? 0 : rounding();
    Index const wrong = wrong_means(exec_, count_, ranks_.size(), wire, allowed, work_.data());
    row.result.checks.push_back(
        {"the mean in rank order" + (row.ordered ? ", bit for bit" : formatted(" within %.2g", allowed)),
         holds_everywhere(ranks_, wrong == 0)});
  }

  /// Bounds the difference of sums in two orders: P - 1 sums, at most P (0.5 + 0.01 P), each round by 2^-24 of itself.
  double rounding() const {
    double const P = ranks_.size();
    return 0x1p-24 * P * (1 + 0.02 * P);
  }

  void compressed(int call, Row& row) {
    comm::Decoded mean;
    time(call, row, [&] { mean = compressed_.mean(exec_, InputForm{input_.data()}); });
    auto const sum = bit_hash_of(exec_, count_, mean);
    row.same = equal_on_all_ranks(ranks_, sum) && row.same;
    add_mean(exec_, watched_, first_, mean, outputs_.data());
    if (call == 0) row.result.checks.push_back(oracle(mean));
  }

  Check oracle(comm::Decoded const& decoded) {
    Kokkos::deep_copy(exec_, work_, input_);
    compress(exec_, count_, work_.data());
    fp32_.average(exec_, work_);
    Difference all;
    for (Index first = 0; first < count_; first += chunk_) {
      auto const part = compare_chunk(exec_, first, std::min(count_, first + chunk_), work_.data(), decoded);
      all = {all.wrong + part.wrong, all.excused + part.excused, std::max(all.largest, part.largest)};
    }
    return {formatted("oracle O8: largest difference %.2g, %lld elements beyond 1e-6, %lld more near 0", all.largest,
                      static_cast<long long>(all.wrong), static_cast<long long>(all.excused)),
            holds_everywhere(ranks_, all.wrong == 0)};
  }

  /// Checks that sum of outputs + mean of the workers' residuals + server's residual = calls times mean of the inputs.
  Check law() {
    Residuals held;
    compressed_.visit_state(held);
    int const calls = bench_.warmup + bench_.calls;
    double const rms = static_cast<double>(root_mean_square(exec_, 0, count_, input_.data()));
    Kokkos::deep_copy(exec_, work_, Vec<float>(held.worker.data(), held.worker.size()));
    fp32_.average(exec_, work_);
    add_scaled(exec_, watched_, 1, work_.data() + first_, outputs_.data());
    Kokkos::deep_copy(exec_, work_, input_);
    fp32_.average(exec_, work_);
    add_scaled(exec_, watched_, -calls, work_.data() + first_, outputs_.data());
    add_scaled(exec_, watched_, 1, held.server.data(), outputs_.data());
    double const allowed = 4e-7 * calls * rms;
    auto const broken = beyond(exec_, watched_, outputs_.data(), allowed);
    return {formatted("nothing lost in %d calls: off by %.2g where %.2g is allowed", calls,
                      largest_over_ranks(ranks_, {broken.largest})[0], allowed),
            holds_everywhere(ranks_, broken.wrong == 0)};
  }

  CollectiveResult finished(Row& row) {
    auto& result = row.result;
    result.latency = timing_of(largest_over_ranks(ranks_, row.seconds));
    result.sent_bytes =
        static_cast<std::int64_t>(largest_over_ranks(ranks_, {static_cast<double>(result.sent_bytes)})[0]);
    auto const dense = static_cast<double>(rows_[0].result.sent_bytes);
    result.share_of_dense = result.sent_bytes > 0 ? dense / static_cast<double>(result.sent_bytes) : 0;
    if (row.ordered) result.checks.push_back({"equal on all ranks, bit for bit", holds_everywhere(ranks_, row.same)});
    return result;
  }

  CollectivesBench bench_;
  comm::World const& world_;
  comm::Communicator& ranks_;
  Index count_;
  Index chunk_;    // elements of a chunk of the compressed mean
  Index first_;    // first element of this rank's chunk
  Index watched_;  // elements of this rank's chunk for which law() is checked
  Exec exec_;
  Vec<float> input_, work_;  // (n)
  Vec<double> outputs_;      // (watched)
  InSegments fp32_, bf16_;
  DenseMean library_;
  CompressedAllreduce compressed_;
  std::vector<Row> rows_;
};

}  // namespace

std::int64_t collectives_bench_bytes(std::int64_t elements, int ranks) {
  // Input, work and the worker's residual; buffers of the dense means; a vector for the library's. Bits are small.
  std::int64_t const share = (elements + ranks - 1) / ranks;
  std::int64_t const dense = ranks == 1 ? 0 : 4 * (2 * elements + share) + 2 * (2 * elements + share);
  return 12 * elements + 4 * share + elements + dense + 8 * std::min(share, law_elements);
}

std::vector<CollectiveResult> bench_collectives(comm::World& world, CollectivesBench const& bench) {
  together(world.group(), [&] {
    if constexpr (on_devices) return;
    auto const wanted = collectives_bench_bytes(bench.elements, world.size()) * world.nodes().ranks_here;
    auto const there = available_host_memory();
    if (wanted > there)
      throw InputError("--elements: " + std::to_string(bench.elements) + " need about " + bytes_text(wanted) + " on " +
                       world.host() + ", which has " + bytes_text(there) + " left; use fewer elements or fewer ranks");
  });
  return Bench(world, bench).run();
}

}  // namespace bellwether::app
