// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_step.hpp"

#include "app/machine/host_memory.hpp"
#include "app/machine/kernel_times.hpp"
#include "app/machine/machine_speed.hpp"
#include "comm/transport/world.hpp"
#include "core/device/device_launch.hpp"
#include "core/gemm/gemm.hpp"
#include "core/memory/arena.hpp"
#include "core/random/random.hpp"
#include "core/system/error.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "model/bert/initialise.hpp"
#include "model/optim/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace bellwether::app {
namespace {

/// Returns the seconds of the fastest of several isolated calls of a product. Small operands stay in the caches.
template <class T, class C>
double seconds_alone(Exec const& exec, ProductResult const& p, float beta) {
  constexpr double enough = 0.05;        // seconds
  constexpr int least = 3, most = 1000;  // calls; the first one starts with cold caches
  auto const view = [&exec]<class Element>(Index count, Element value) {
    Vec<Element> const elements(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bellwether::app::bench_operand"),
                                static_cast<std::size_t>(count));
    Kokkos::deep_copy(exec, elements, value);
    return elements;
  };
  auto const a = view(p.m * p.k, T(0.5f)), b = view(p.k * p.n, T(0.25f));
  auto const c = view(p.m * p.n, C(0.0f));
  double fastest = 1e30, spent = 0;
  for (int i = 0; i < most && (i < least || spent < enough); ++i) {
    exec.fence("bellwether::app::bench_product, before");
    auto const start = Clock::now();
    gemm(exec, {p.op_a, p.op_b, p.m, p.n, p.k}, ConstMatrix{a.data(), p.op_a == Op::none ? p.k : p.m},
         ConstMatrix{b.data(), p.op_b == Op::none ? p.n : p.k}, Matrix{c.data(), p.n}, {.beta = beta});
    exec.fence("bellwether::app::bench_product, after");
    double const seconds = seconds_since(start);
    fastest = std::min(fastest, seconds);
    spent += seconds;
  }
  return fastest;
}

double seconds_alone(Exec const& exec, ProductResult const& p, ComputeType type) {
  // Gradients of weights accumulate in fp32.
  bool const weight = p.op_a == Op::transpose;
  if (type == ComputeType::fp32) return seconds_alone<float, float>(exec, p, weight ? 1 : 0);
  return weight ? seconds_alone<bf16, float>(exec, p, 1) : seconds_alone<bf16, bf16>(exec, p, 0);
}

class Bench {
 public:
  Bench(comm::World& world, StepBench const& wanted, ComputeType type)
      : bench_(wanted),
        ranks_(world.communicator()),
        batch_(random_batch({.model = wanted.model,
                             .type = type,
                             .sequences = wanted.sequences,
                             .length = wanted.length,
                             .masked = wanted.masked},
                            world.rank())),
        bert_(exec_, with(wanted.model, type),
              {.sequences = wanted.sequences, .longest = wanted.length, .masked = wanted.masked}, 1,
              [&](Index count, std::int64_t bytes) {
                if constexpr (!on_devices) require_host_memory(world, count, bytes);
              }),
        parameters_(bert_.layout().table, "bellwether::app::parameters"),
        gradients_(bert_.layout().table, "bellwether::app::gradients"),
        optimizer_(optim::make_optimizer(wanted.optimizer, {.layout = bert_.layout().table,
                                                            .groups = {ranks_},
                                                            .exec = exec_,
                                                            .comm = wanted.comm,
                                                            .steps = 1000 + wanted.warmup + 4 * wanted.calls})) {
    model::initialise(exec_, bert_.layout().table, 1, wanted.model.initial_deviation, parameters_.data());
    result_.type = type;
    result_.workspace = bert_.workspace_bytes();
    result_.flops = model::training_flops(wanted.model, batch_) * world.size();
    result_.tokens = static_cast<double>(batch_.tokens()) * world.size();
  }

  StepResult run() {
    result_.product_flops = measured_gemm_speed(ranks_, result_.type);
    result_.product_side = gemm_speed_side(on_devices);
    double const first = step();
    double last = first;
    for (int i = 1; i < bench_.warmup; ++i) last = step();
    std::vector<double> seconds;
    Clock::time_point start;
    for (int i = 0; i < bench_.calls; ++i) {
      if (!is_ahead_) {
        ranks_.barrier("bellwether::app::bench_start");
        start = Clock::now();
      }
      last = step(true, i + 1 < bench_.calls);
      auto const end = Clock::now();
      seconds.push_back(std::chrono::duration<double>(end - start).count());
      start = end;
    }
    result_.step = timing_of(largest_over_ranks(ranks_, seconds));
    if (Recording::possible() && ranks_.size() == 1) result_.recorded = recorded();
    if (bench_.timeline) last = timeline();
    if (bench_.profile) last = profile();
    check(first, last);
    return std::move(result_);
  }

 private:
  static model::ModelConfig with(model::ModelConfig config, ComputeType type) {
    config.compute = type;
    return config;
  }

  template <class Ready>
  void pass(Ready const& ready) {
    Kokkos::deep_copy(exec_, gradients_.flat(), 0.0f);
    bert_.set_parameters(parameters_.data());
    bert_.train(gradients_.data(), batch_,
                {.mlm = 1 / static_cast<double>(std::max<Index>(1, batch_.masked())),
                 .nsp = 1 / static_cast<double>(batch_.sequences())},
                ready);
    bert_.store_losses();
  }

  /// overlaps: the exchange of a gradient may start before the backward pass ends.
  void enqueue_micro_batches(bool overlaps) {
    pass_began_ = Clock::now();
    heads_ended_.reset();
    pass([&](Index first, Index last) {
      if (bench_.timeline) exec_.fence("bellwether::app::bench, gradients are there");
      backward_ended_ = Clock::now();
      if (!heads_ended_) heads_ended_ = backward_ended_;
      if (overlaps) optimizer_->gradient_ready(exec_, gradients_, {first, last});
    });
  }

  /// Runs one training step; returns the mean loss of masked tokens before it. goes_on: another step follows. Its
  /// micro-batches are then enqueued ahead if the transport leaves the host free; see Trainer::advance().
  double step(bool overlaps = true, bool goes_on = false) {
    double const P = ranks_.size();
    if (!std::exchange(is_ahead_, false)) enqueue_micro_batches(overlaps);
    optimizer_->step(exec_, parameters_, gradients_, {.step = ++steps_, .learning_rate = 1e-3});
    if (goes_on && ranks_.leaves_host_free()) {
      enqueue_micro_batches(overlaps);
      is_ahead_ = true;
    }
    auto const losses = bert_.stored_losses();
    skipped_ = skipped_ || optimizer_->last_report().skipped;  // waits for the end of the step
    double loss = losses.mlm / static_cast<double>(std::max<Index>(1, batch_.masked())) / P;
    ranks_.sum_host({&loss, 1}, "bellwether::app::bench_loss");
    return loss;
  }

  Timing recorded() {
    static_cast<void>(optimizer_->last_report());  // wait now, because a recording must not
    Recording const whole(exec_, [&] {
      pass([&](Index first, Index last) { optimizer_->gradient_ready(exec_, gradients_, {first, last}); });
      optimizer_->step(exec_, parameters_, gradients_, {.step = ++steps_, .learning_rate = 1e-3});
    });
    std::vector<double> seconds;
    for (int i = 0; i < bench_.calls; ++i) {
      exec_.fence("bellwether::app::bench_recorded, before");
      auto const start = Clock::now();
      whole.replay(exec_);
      exec_.fence("bellwether::app::bench_recorded, after");
      seconds.push_back(seconds_since(start));
    }
    static_cast<void>(bert_.stored_losses());
    return timing_of(seconds);
  }

  /// Runs steps with and without overlap in turn, and records when the segments of the exchange travel.
  double timeline() {
    double last = 0;
    std::vector<double> step_seconds[2], exposed[2];  // index 0: without overlap, 1: with it
    std::vector<Timeline> lines;
    bool in_order = true;
    for (int i = 0; i < 2 * bench_.calls; ++i) {
      bool const overlaps = i % 2 == 1;
      ranks_.barrier("bellwether::app::bench_start");
      last = step(overlaps);
      step_seconds[overlaps].push_back(seconds_since(pass_began_));
      auto const& segments = optimizer_->last_report().segments;
      auto mean_ended = backward_ended_;
      for (auto const& segment : segments) {
        mean_ended = std::max(mean_ended, segment.mean.finished);
        in_order = in_order && segment.ready <= segment.mean.started && segment.mean.started <= segment.mean.summed &&
                   segment.mean.summed <= segment.mean.finished;
      }
      exposed[overlaps].push_back(std::chrono::duration<double>(mean_ended - backward_ended_).count());
      if (overlaps) lines.push_back(line_of(segments));
    }
    auto const slowest = largest_over_ranks(ranks_, exposed[1]);
    auto const median = timing_of(slowest).median;
    auto const nearest = std::ranges::min_element(slowest, {}, [&](double one) { return std::abs(one - median); });
    auto& line = result_.timeline.emplace(std::move(lines[static_cast<std::size_t>(nearest - slowest.begin())]));
    line.exposed = timing_of(slowest);
    line.exposed_apart = timing_of(largest_over_ranks(ranks_, exposed[0]));
    line.step = timing_of(largest_over_ranks(ranks_, step_seconds[1]));
    line.step_apart = timing_of(largest_over_ranks(ranks_, step_seconds[0]));
    std::int64_t elements = 0;
    for (auto const& row : line.rows) elements += row.last - row.first;
    result_.checks.push_back({"segments cover the model; each is ready, started, summed and finished, in this order",
                              holds_everywhere(ranks_, in_order && elements == gradients_.count())});
    return last;
  }

  Timeline line_of(std::vector<optim::SegmentReport> const& segments) const {
    auto const since = [&](Clock::time_point time) {
      return std::chrono::duration<double>(time - pass_began_).count();
    };
    Timeline line{.encoder_backward = since(*heads_ended_), .backward_end = since(backward_ended_)};
    for (auto const& [elements, ready, mean] : segments)
      line.rows.push_back({.first = elements.first,
                           .last = elements.last,
                           .ready = since(ready),
                           .started = since(mean.started),
                           .summed = since(mean.summed),
                           .finished = since(mean.finished)});
    return line;
  }

  /// Profiles steps with callbacks for each kernel, then times each of their products alone.
  double profile() {
    double last = 0;
    std::vector<KernelTimes::Entry> entries;
    {
      KernelTimes const times;
      auto const start = Clock::now();
      for (int i = 0; i < bench_.calls; ++i) last = step();
      result_.profiled_seconds = seconds_since(start) / bench_.calls;
      entries = times.entries();
    }
    for (auto const& entry : entries) {
      double const calls = static_cast<double>(entry.calls) / bench_.calls, seconds = entry.seconds / bench_.calls;
      if (!entry.label.starts_with(KernelTimes::products)) {
        result_.kernels.push_back({entry.label, calls, seconds});
        continue;
      }
      long long m = 0, n = 0, k = 0;
      char a = 'n', b = 'n';
      auto const read = std::sscanf(entry.label.c_str() + KernelTimes::products.size(), "m=%lld n=%lld k=%lld %c%c", &m,
                                    &n, &k, &a, &b);
      require(read == 5, "the label of a product's region contains its shape");
      ProductResult product{.op_a = a == 'n' ? Op::none : Op::transpose,
                            .op_b = b == 'n' ? Op::none : Op::transpose,
                            .m = m,
                            .n = n,
                            .k = k,
                            .calls = calls,
                            .seconds = seconds};
      product.alone = calls * seconds_alone(exec_, product, result_.type);
      result_.bound_seconds += product.alone;
      result_.products.push_back(product);
    }
    std::ranges::sort(result_.products, std::greater(), &ProductResult::seconds);
    std::ranges::sort(result_.kernels, std::greater(), &StepKernel::seconds);
    return last;
  }

  void check(double first, double last) {
    auto const end = fingerprint_of(parameters_.span());
    double const guessing = std::log(static_cast<double>(bench_.model.vocabulary));
    std::vector<Check> const checks{
        {"the first loss is that of guessing", std::abs(first - guessing) < 0.05 * guessing},
        {"the loss of the batch falls", last < first},
        {"no step is skipped", holds_everywhere(ranks_, !skipped_)},
        {"parameters are finite", holds_everywhere(ranks_, end.finite)},
        {"parameters are equal on all ranks, bit for bit", equal_on_all_ranks(ranks_, end.sum)}};
    result_.checks.insert(result_.checks.begin(), checks.begin(), checks.end());
  }

  StepBench const& bench_;
  comm::Communicator& ranks_;
  Exec exec_;
  model::Batch batch_;
  model::Bert<float> bert_;
  Arena<> parameters_, gradients_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::int64_t steps_ = 0;
  bool skipped_ = false;
  bool is_ahead_ = false;  // micro-batches of the next step are enqueued
  // Times of the last forward and backward pass.
  Clock::time_point pass_began_, backward_ended_;
  std::optional<Clock::time_point> heads_ended_;
  StepResult result_;
};

}  // namespace

std::vector<StepResult> bench_step(comm::World& world, StepBench const& bench) {
  std::vector<StepResult> results;
  for (auto const type : bench.types) results.push_back(Bench(world, bench, type).run());
  return results;
}

}  // namespace bellwether::app
