// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_kernels.hpp"

#include "app/bench/bench_kernel_checks.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/machine/host_memory.hpp"
#include "comm/collective/dense_mean_kernels.hpp"
#include "comm/compression/compressed_kernels.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/world.hpp"
#include "core/device/launch.hpp"
#include "core/memory/convert.hpp"
#include "core/simd/team_runs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace bellwether::app {
namespace {

using comm::CompressedLayout;

constexpr int servers = 4;               // simulated ranks that send messages to a server, and chunks to a dense mean
constexpr Index group_elements = 32768;  // elements of a scale group, as in the decks
constexpr Index block = 4096;            // elements per team
constexpr float magnitude = 0.25f;       // of the unpacked signs
constexpr double bit = 1.0 / 8;          // bytes of a sign

/// Calls body(k) for k < count with the teams and blocks of the product's kernels.
template <class Space, class Body>
void walk(char const* label, Space const& exec, Index count, Body const& body) {
  Kokkos::parallel_for(
      label, team_policy(exec, (count + block - 1) / block),
      KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        Index const first = team.league_rank() * block;
        team_for<Space>(team, first, Kokkos::min(first + block, count), body);
      });
}

template <class Space>
void copy_by_loop(Space const& exec, Index count, float const* from, float* to) {
  walk(
      "bellwether::app::bench_copy", exec, count, KOKKOS_LAMBDA(Index k) { to[k] = from[k]; });
}

template <class Space>
void triad(Space const& exec, Index count, float const* b, float const* c, float* a) {
  walk(
      "bellwether::app::bench_triad", exec, count, KOKKOS_LAMBDA(Index k) { a[k] = b[k] + 3.0f * c[k]; });
}

template <class Access>
struct MeanRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const { values[lane] = mean(lane); }
  comm::DecodedRun<false, Access> mean;
  typename Access::Write values;
};

/// Writes a mean of signs and magnitudes as floats, decoded with the code that optimizers use.
template <class Space>
void write_mean(Space const& exec, Index count, comm::Decoded const& from, float* values) {
  comm::Decoded const mean = from;
  launch<"bellwether::app::bench_unpack">(
      team_policy(exec, (count + block - 1) / block),
      KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        Index const first = team.league_rank() * block;
        team_for_runs<Space>(team, first, Kokkos::min(first + block, count),
                             [&]<class Access>(Access, Index k, int lanes) {
                               return MeanRun<Access>{mean.run<false, Access>(k, lanes), values + k};
                             });
      });
}

struct GivenForm {
  float const* values;
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const { return values[k]; }
  KOKKOS_INLINE_FUNCTION bool begin_block(Index, Index) const { return true; }
  template <int n>
  KOKKOS_INLINE_FUNCTION void of_block(Index k, float (&to)[n]) const {
    load(values + k, to);
  }
};

/// The worker's or the server's side of an exchange: its blocks, sums and scales.
template <class Space>
struct End {
  End(Space const& exec, std::vector<comm::WordBlock> const& cut, std::vector<comm::ScaleRange> const& of_scales)
      : blocks("bellwether::app::blocks", cut.size()),
        ranges("bellwether::app::ranges", of_scales.size()),
        partial("bellwether::app::partial", comm::sums_of_words * cut.size()),
        scales("bellwether::app::scales", of_scales.size()),
        errors("bellwether::app::errors", of_scales.size()) {
    upload(exec, cut, blocks);
    upload(exec, of_scales, ranges);
  }
  template <class T>
  static void upload(Space const& exec, std::vector<T> const& from, Vec<T, Space> const& to) {
    Kokkos::deep_copy(exec, to, Kokkos::View<T const*, Kokkos::HostSpace>(from.data(), from.size()));
    exec.fence("bellwether::app::bench_kernels, before the table on the host goes");
  }
  comm::BlockSlice slice() const { return {blocks.data(), static_cast<Index>(blocks.size())}; }
  comm::ResidualBuffers buffers(Index count, float* z, std::uint32_t const* active) const {
    return {count, z, active, scales.data(), partial.data(), nullptr, nullptr};
  }
  void find_scales(Space const& exec, comm::ResidualBuffers const& of) const {
    comm::scales_from_sums(exec,
                           {.count = static_cast<Index>(ranges.size()),
                            .ranges = ranges.data(),
                            .scales = scales.data(),
                            .errors = errors.data()},
                           of, comm::Scale::mean_magnitude);
  }

  Vec<comm::WordBlock, Space> blocks;
  Vec<comm::ScaleRange, Space> ranges;
  Vec<double, Space> partial;
  Vec<float, Space> scales;
  Vec<double, Space> errors;
};

/// The bench of all kernels in one execution space.
template <class Space>
class Bench {
 public:
  Bench(comm::RankGroup& ranks, KernelsBench const& wanted)
      : bench_(wanted),
        ranks_(ranks),
        count_(wanted.elements),
        all_(count_, 0, 1, (count_ + group_elements - 1) / group_elements, 4 * count_),
        chunk_(count_, 0, servers, 1, 4 * count_),
        share_(count_ / servers),
        worker_(exec_, all_.worker_blocks, all_.worker_ranges),
        server_(exec_, chunk_.server_blocks, chunk_.server_ranges),
        slots_("bellwether::app::slots", all_.worker_slots.size()),
        x_(vector<float>(count_)),
        z_(vector<float>(count_)),
        out_(vector<float>(count_)),
        half_(vector<bf16>(count_)),
        outputs_(vector<double>(std::min(count_, Index{1} << 20))),
        active_(vector<std::uint32_t>(all_.words)),
        signs_(vector<std::uint32_t>(all_.words)),
        own_(vector<std::uint32_t>(all_.words)),
        mean_signs_(vector<std::uint32_t>(all_.words)),
        magnitudes_(vector<float>(all_.words)),
        mean_magnitudes_(vector<float>(all_.words)),
        message_(vector<std::uint32_t>(all_.message_words())),
        received_(vector<std::uint32_t>(servers * chunk_.message_words())) {
    End<Space>::upload(exec_, all_.worker_slots, slots_);
    fill_bench_values(exec_, count_, x_.data());
    comm::copy_active(exec_, count_, static_cast<std::uint32_t const*>(nullptr), active_.data());
    Kokkos::deep_copy(exec_, magnitudes_, magnitude);
    fill_bench_messages(exec_, server_.slice().count, server_.slice().blocks, servers, chunk_.message_words(),
                        received_.data());
    list();
  }

  KernelsResult run(std::string const& where) {
    std::vector<std::vector<double>> seconds(rows_.size());
    for (int call = 0; call < bench_.warmup + bench_.calls; ++call)
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        exec_.fence("bellwether::app::bench_kernels, before a call");
        ranks_.barrier("bellwether::app::bench_kernels");
        auto const start = Clock::now();
        rows_[i].call();
        exec_.fence("bellwether::app::bench_kernels, after a call");
        if (call >= bench_.warmup) seconds[i].push_back(seconds_since(start));
      }
    KernelsResult result{.where = where};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      result.kernels.push_back(rows_[i].speed);
      result.kernels.back().call = timing_of(largest_over_ranks(ranks_, seconds[i]));
    }
    double const copy = std::max(speed_of(result.kernels[0]), speed_of(result.kernels[1]));
    double const triad = speed_of(result.kernels[2]);
    for (auto& kernel : result.kernels) {
      kernel.over_copy = speed_of(kernel) / copy;
      kernel.over_triad = speed_of(kernel) / triad;
    }
    result.checks = {signs(), law(), server(), means(), wire()};
    return result;
  }

 private:
  struct Row {
    KernelSpeed speed;
    std::function<void()> call;
  };
  template <class T>
  static Vec<T, Space> vector(Index count) {
    return Vec<T, Space>("bellwether::app::bench_kernels", static_cast<std::size_t>(count));
  }
  void add(char const* name, Index elements, double bytes, std::function<void()> call) {
    rows_.push_back({{.name = name, .elements = elements, .bytes = bytes}, std::move(call)});
  }

  /// Adds all kernels with their minimum bytes per element. The bits of the active elements are not counted. Only
  /// form_words reads one bit more, of the last mean.
  void list() {
    add("copy, deep_copy", count_, 8, [this] { Kokkos::deep_copy(exec_, out_, x_); });
    add("copy, a loop", count_, 8, [this] { copy_by_loop(exec_, count_, x_.data(), out_.data()); });
    add("triad", count_, 12, [this] { triad(exec_, count_, x_.data(), out_.data(), z_.data()); });
    add("pack: sign_words", count_, 4 + bit, [this] { pack(); });
    add("unpack: Decoded", count_, 4 + bit, [this] { unpack(); });
    add("form_words", count_, 12 + 2 * bit, [this] { form(); });
    add("unpack_words", count_, 3 * bit, [this] { unpack_message(); });
    add("keep_residual", count_, 8, [this] { comm::keep_residual(exec_, worker_.slice(), buffers()); });
    add("serve_words, 4 ranks", chunk_.mine, 8 + servers * bit + bit, [this] { serve(); });
    add("mean_in_rank_order, 4 ranks", share_, 4 * (servers + 1), [this] { average(); });
    add("round_to_wire", count_, 6, [this] { round(); });
    add("read_from_wire", count_, 6, [this] { read(); });
  }

  comm::ResidualBuffers buffers() const { return worker_.buffers(count_, z_.data(), active_.data()); }
  comm::ResidualBuffers server_buffers() const { return server_.buffers(chunk_.mine, z_.data(), active_.data()); }
  void pack() const {
    comm::sign_words(exec_, count_, static_cast<float const*>(x_.data()),
                     static_cast<std::uint32_t const*>(active_.data()), signs_.data());
  }
  void unpack() const {
    write_mean(exec_, count_, {signs_.data(), active_.data(), magnitudes_.data(), nullptr}, out_.data());
  }
  void form() const {
    comm::form_words(exec_, worker_.slice(), buffers(), message_.data(), own_.data(), GivenForm{x_.data()});
  }
  void unpack_message() const {
    comm::unpack_words(exec_, worker_.slice(), static_cast<std::uint32_t const*>(message_.data()), mean_signs_.data(),
                       mean_magnitudes_.data());
  }
  void serve() const {
    Index const stride = chunk_.message_words();
    comm::serve_words(exec_, server_.slice(), server_buffers(), {received_.data(), stride, stride, servers},
                      signs_.data());
  }
  void average() const {
    comm::mean_in_rank_order(exec_, share_, servers, static_cast<float const*>(x_.data()), out_.data());
  }
  void round() const {
    convert("bellwether::app::round_to_wire", exec_, count_, static_cast<float const*>(x_.data()), half_.data());
  }
  void read() const {
    convert("bellwether::app::read_from_wire", exec_, count_, static_cast<bf16 const*>(half_.data()), out_.data());
  }
  Check check(std::string claim, Index wrong) const { return {std::move(claim), holds_everywhere(ranks_, wrong == 0)}; }

  Check signs() const {
    pack();
    unpack();
    return check("packing and unpacking keeps the signs",
                 wrong_signs(exec_, count_, magnitude, x_.data(), out_.data()));
  }
  Check law() const {
    constexpr int calls = 4;
    Kokkos::deep_copy(exec_, z_, 0.0f);
    Kokkos::deep_copy(exec_, worker_.scales, 0.0f);
    auto const watched = static_cast<Index>(outputs_.size());
    for (int call = 0; call < calls; ++call) {
      form();
      worker_.find_scales(exec_, buffers());
      comm::place_scales(exec_, static_cast<Index>(slots_.size()), slots_.data(), worker_.scales.data(),
                         message_.data());
      unpack_message();
      add_bench_mean(exec_, watched, {mean_signs_.data(), active_.data(), mean_magnitudes_.data(), nullptr},
                     outputs_.data());
    }
    comm::keep_residual(exec_, worker_.slice(), buffers());
    double const allowed = 3e-7 * calls;
    return check(formatted("nothing lost in %d calls, up to %.2g", calls, allowed),
                 lost_elements(exec_, watched,
                               {.outputs = outputs_.data(), .residual = z_.data(), .calls = calls, .given = x_.data()},
                               allowed));
  }
  Check server() const {
    Kokkos::deep_copy(exec_, z_, x_);
    Kokkos::deep_copy(exec_, server_.scales, 0.0f);
    serve();
    return check("sums over ranks and their signs, bit for bit", wrong_sums(exec_, chunk_.mine,
                                                                            {.ranks = servers,
                                                                             .stride = chunk_.message_words(),
                                                                             .messages = received_.data(),
                                                                             .before = x_.data(),
                                                                             .after = z_.data(),
                                                                             .signs = signs_.data()}));
  }
  Check means() const {
    average();
    return check("means in rank order, bit for bit", wrong_means(exec_, share_, servers, x_.data(), out_.data()));
  }
  Check wire() const {
    round();
    read();
    return check("within 2^-8 after bf16", far_from_bf16(exec_, count_, x_.data(), out_.data()));
  }

  KernelsBench bench_;
  comm::RankGroup& ranks_;
  Index count_;
  CompressedLayout all_, chunk_;  // of a worker in a group of one; of a server in a group of `servers`
  Index share_;                   // elements of a chunk of the dense mean
  Space exec_;
  End<Space> worker_, server_;
  Vec<comm::ScaleSlot, Space> slots_;
  Vec<float, Space> x_, z_, out_;                                // (n)
  Vec<bf16, Space> half_;                                        // (n)
  Vec<double, Space> outputs_;                                   // (at most 2^20) sum of the decoded means
  Vec<std::uint32_t, Space> active_, signs_, own_, mean_signs_;  // (W)
  Vec<float, Space> magnitudes_, mean_magnitudes_;               // (W)
  Vec<std::uint32_t, Space> message_, received_;
  std::vector<Row> rows_;
};

}  // namespace

std::int64_t kernels_bench_bytes(std::int64_t elements) {
  // Three vectors of floats and one of bf16; words of bits, magnitudes and messages.
  return 14 * elements + elements + 8 * std::min(elements, std::int64_t{1} << 20);
}

std::vector<KernelsResult> bench_kernels(comm::World& world, KernelsBench const& bench) {
  together(world.group(), [&] {
    auto const wanted = kernels_bench_bytes(bench.elements) * world.nodes().ranks_here;
    auto const there = available_host_memory();
    if (wanted > there)
      throw InputError("--elements: " + std::to_string(bench.elements) + " need about " + bytes_text(wanted) + " on " +
                       world.host() + ", which has " + bytes_text(there) + " left; use fewer elements or fewer ranks");
  });
  std::vector<KernelsResult> results;
#define BELLWETHER_BY_ONE_THREAD(Space) results.push_back(Bench<Space>(world.group(), bench).run("1 thread"));
  BELLWETHER_FOR_SERIAL(BELLWETHER_BY_ONE_THREAD)
#undef BELLWETHER_BY_ONE_THREAD
  if (on_devices || world.threads() > 1 || results.empty())
    results.push_back(Bench<Exec>(world.group(), bench)
                          .run(on_devices ? std::string(Exec::name()) : counted(world.threads(), "thread")));
  return results;
}

}  // namespace bellwether::app
