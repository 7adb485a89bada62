// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/trainer.hpp"

#include "app/checkpoint/checkpoint.hpp"
#include "app/format/formatted.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/machine/host_memory.hpp"
#include "app/train/batch_ahead.hpp"
#include "app/train/data_ranks.hpp"
#include "app/train/deck_warnings.hpp"
#include "app/train/step_sums.hpp"
#include "app/train/training_data.hpp"
#include "comm/collective/replica_mean.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/gemm/gemm.hpp"
#include "core/memory/arena.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"
#include "input/shards/batch_stream.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "model/bert/initialise.hpp"
#include "model/bert/micro_batches.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/monitor/noise_scale.hpp"
#include "model/optim/optimizer.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace bellwether::app {
struct Trainer::Impl {
  Impl(input::Deck const& settings, comm::World& all, input::IoThread& io, HostAhead host_ahead)
      : deck(settings),
        world(all),
        data_ranks(deck.comm, all),
        ranks(data_ranks.all()),
        data(open_training_data(deck, world, io)),
        stream(*data.stream),
        batches(stream, ranks),
        bert(exec, deck.model, data.capacity(deck.batch, world.size()), static_cast<std::uint64_t>(deck.run.seed),
             [this](Index count, std::int64_t bytes) {
               if constexpr (!on_devices) require_host_memory(world, count, bytes);
             }),
        parameters(bert.layout().table, "bellwether::app::parameters"),
        gradients(bert.layout().table, "bellwether::app::gradients"),
        optimizer(optim::make_optimizer(deck.optimizer, {.layout = bert.layout().table,
                                                         .groups = {ranks, data_ranks.by_node()},
                                                         .exec = exec,
                                                         .comm = deck.comm,
                                                         .seed = static_cast<std::uint64_t>(deck.run.seed),
                                                         .steps = deck.schedule.steps,
                                                         .rate_warmup_steps = deck.schedule.warmup_steps})),
        micro_batches(exec, deck.model, bert, *optimizer, parameters, gradients, world.size()),
        enqueues_ahead(host_ahead == HostAhead::always || ranks.leaves_host_free()),
        noise(deck.statistics.noise_beta),
        sums(world.rank(), world.size()) {
    model::initialise(exec, bert.layout().table, static_cast<std::uint64_t>(deck.run.seed),
                      deck.model.initial_deviation, parameters.data());
  }

  /// Returns why the step was skipped. Collective: only the affected rank can name the tensor of an unusual norm.
  std::string skip_text(optim::StepReport const& report) {
    auto const& tensors = bert.layout().table.tensors();
    auto const rank = report.bad_rank >= 0 ? " on rank " + std::to_string(report.bad_rank) : std::string();
    if (report.usual_norm == 0)
      return "the gradient of " +
             (report.first_bad_layer >= 0 ? tensors[static_cast<std::size_t>(report.first_bad_layer)].name
                                          : "all layers together, a sum over their elements,") +
             rank + " is not finite";
    auto const largest = optim::largest_tensor(exec, bert.layout().table, gradients.data());
    return formatted("the gradient's norm of %.4g is %.3g times its mean so far, most of it of ", report.gradient_norm,
                     report.gradient_norm / report.usual_norm) +
           broadcast_text(ranks, tensors[static_cast<std::size_t>(largest)].name, static_cast<int>(report.bad_rank)) +
           rank;
  }

  std::optional<PhaseTraffic> predicted(optim::Phase phase) const {
    auto const sent = optimizer->predicted_bytes(phase);
    return sent ? std::optional(traffic_of(phase, *sent)) : std::nullopt;
  }

  /// Returns the learning rate of step `number`.
  double rate(std::int64_t number) const {
    return optim::learning_rate(deck.schedule, deck.optimizer.lr, deck.batch.global, number);
  }

  model::EnqueuedMicroBatches enqueue_micro_batches(std::int64_t number) {
    return micro_batches.enqueue(begin_batch(), rate(number));
  }
  /// Micro-batches overwrite the gradients, which skip_text() reads, and the norm of a step's first micro-batch.
  bool may_enqueue_ahead(model::EnqueuedMicroBatches const& now) const {
    return enqueues_ahead && !deck.optimizer.norm_limit && !micro_batches.measures_first(now);
  }
  /// Rolls back the step-ahead. Its samples become those of the next step again.
  void roll_back_ahead() {
    micro_batches.roll_back();
    batches.roll_back();
    ahead.reset();
  }
  model::StepBatch const& begin_batch() {
    if (!batches.fetched()) {
      Kokkos::Profiling::ScopedRegion const region("bellwether::app::next_batch");
      batches.fetch_together();
    }
    return batches.begin();
  }
  std::string fetch_next() {
    Kokkos::Profiling::ScopedRegion const region("bellwether::app::next_batch");
    return batches.try_to_fetch();
  }
  /// Waits for the gradients. Later waiting time of the step is time waiting for other ranks.
  double seconds_to_gradients(model::EnqueuedMicroBatches const& now, RunClock::time_point start) const {
    micro_batches.wait(now);
    return seconds_since(start);
  }

  /// Writes losses into the cleared sums. Call it before anything else of a step or an evaluation is added.
  void sum_losses(model::Losses const& losses) {
    sums.clear();
    sums[StepSums::mlm] = losses.mlm;
    sums[StepSums::mlm_correct] = losses.mlm_correct;
    sums[StepSums::nsp] = losses.nsp;
    sums[StepSums::nsp_correct] = losses.nsp_correct;
  }

  /// Writes the gradient noise of a completed step into its row. Call it after waiting for its micro-batches.
  void fill_noise(StepRow& row, model::EnqueuedMicroBatches const& now, optim::StepReport const& report) {
    std::int64_t const sequences = now.sequences;
    row.mean_square = report.mean_square;
    optim::BatchPart part = optim::part_of_ranks(sequences, world.size());
    if (world.size() > 1) {
      row.local_square = report.local_square;
    } else if (micro_batches.measures_first(now) && !report.skipped) {
      part = optim::part_of_micro_batches(sequences, now.first_sequences);
      row.local_square = micro_batches.first_square();
    }
    if (!report.skipped) noise.add(optim::noise_sample(part, row.local_square, row.mean_square, sequences));
    row.noise_signal = noise.signal();
    row.noise_trace = noise.trace();
    row.noise_scale = noise.simple();
    row.critical_batch = noise.critical_batch();
  }

  /// Writes means of the reduced sums into a row of either kind.
  template <class Row>
  void fill_losses(Row& row, double masked, double sequences) {
    row.mlm_loss = masked > 0 ? sums[StepSums::mlm] / masked : not_measured;
    row.nsp_loss = sums[StepSums::nsp] / sequences;
    row.mlm_accuracy = masked > 0 ? sums[StepSums::mlm_correct] / masked : not_measured;
    row.nsp_accuracy = sums[StepSums::nsp_correct] / sequences;
    row.loss = (masked > 0 ? row.mlm_loss : 0) + row.nsp_loss;
  }

  input::Deck deck;
  comm::World& world;
  DataRanks data_ranks;
  comm::Communicator& ranks;
  Exec exec;
  TrainingData data;
  input::BatchStream& stream;
  BatchAhead batches;
  model::Bert<float> bert;
  Arena<> parameters, gradients;
  std::unique_ptr<optim::Optimizer> optimizer;
  model::MicroBatchQueue micro_batches;
  bool enqueues_ahead;
  std::optional<model::EnqueuedMicroBatches> ahead;  // the next step, if already enqueued
  RunClock::time_point counted_to;  // end of the last step; a step that was enqueued ahead begins there
  std::int64_t vocabulary;          // checksum of the vocabulary of the data, or of the checkpoint's data; 0: unknown
  optim::NoiseScale noise;
  StepSums sums;
  std::int64_t step = 0, tokens = 0, samples = 0, skipped_in_a_row = 0;
  double wall_seconds = 0;
  TrafficTotals totals;
};

Trainer::Trainer(input::Deck const& deck, comm::World& world, input::IoThread& io, HostAhead host_ahead)
    : impl_(std::make_unique<Impl>(deck, world, io, host_ahead)) {}
Trainer::~Trainer() = default;

void Trainer::read_first_samples() { impl_->batches.fetch_together(); }

StepOutcome Trainer::advance(StopReason wish, StepRow& row, bool goes_on) {
  auto& t = *impl_;
  auto const start = t.ahead ? t.counted_to : RunClock::now();
  t.world.note_step(t.step + 1);
  double const waited_before = t.stream.waited_seconds();
  auto const now = t.ahead ? *std::exchange(t.ahead, std::nullopt) : t.enqueue_micro_batches(t.step + 1);
  // The previous step agreed on the next batch if it fetched it.
  bool agreed = t.batches.fetched();
  std::string fault = agreed ? "" : t.fetch_next();

  // If the host is free, it enqueues the whole step before it waits for anything. It also enqueues the micro-batches of
  // the next step, which do not depend on this step's outcome, before it reads the step's scalars.
  double busy = t.enqueues_ahead ? 0 : t.seconds_to_gradients(now, start);
  double const rate = t.rate(t.step + 1);
  bool const layers = (t.step + 1) % t.deck.statistics.layers_every == 0 || t.optimizer->near_freeze(t.step + 1);
  t.optimizer->step(t.exec, t.parameters, t.gradients, {.step = t.step + 1, .learning_rate = rate, .layers = layers});
  if (t.enqueues_ahead) busy = t.seconds_to_gradients(now, start);
  if (goes_on && t.may_enqueue_ahead(now) && (agreed || first_fault(t.ranks, fault).empty())) {
    t.ahead = t.enqueue_micro_batches(t.step + 2);
    fault = t.fetch_next();
  }
  double const waited = t.stream.waited_seconds() - waited_before;
  t.sum_losses(t.micro_batches.take_losses());
  auto const& report = t.optimizer->last_report();

  t.sums[StepSums::flops] = now.flops;
  t.sums.ask_to_stop(wish);
  t.sums[StepSums::faults] = fault.empty() ? 0 : 1;
  t.sums.mine(StepSums::wait_data) = waited;
  t.sums.mine(StepSums::busy) = busy;
  t.ranks.sum_host(t.sums.all(), "bellwether::app::step_sums");

  t.tokens += now.tokens;
  t.samples += now.sequences;
  t.counted_to = RunClock::now();
  double const seconds = std::chrono::duration<double>(t.counted_to - start).count();
  t.wall_seconds += seconds;
  auto const traffic = traffic_of(report.phase, report.sent);
  t.totals.add(traffic);
  row = {.step = t.step + 1,
         .learning_rate = rate,
         .gradient_norm = report.gradient_norm,
         .clip_factor = report.clip_factor,
         .skipped = report.skipped,
         .tokens = t.tokens,
         .samples = t.samples,
         .tokens_per_second = static_cast<double>(now.tokens) / seconds,
         .wall_seconds = t.wall_seconds,
         .step_seconds = seconds,
         .wait_data_seconds = t.sums.largest(StepSums::wait_data),
         .wait_ranks_seconds = t.sums.largest(StepSums::busy) - t.sums.smallest(StepSums::busy),
         .sent_bytes = traffic.sent_bytes,
         .phase = traffic.phase,
         .compressed_bytes = traffic.phase == 1 ? traffic.exchange_bytes() : 0,
         .scalar_bytes = traffic.scalar_bytes,
         .intra_node_bytes = traffic.intra_node_bytes,
         .dense_bytes_fp32 = traffic.dense_bytes_fp32,
         .variance_change = report.variance_check.step == t.step + 1 ? report.variance_check.change : not_measured};
  t.fill_losses(row, static_cast<double>(now.masked), static_cast<double>(now.sequences));
  t.fill_noise(row, now, report);
  StepOutcome outcome;
  outcome.flops = t.sums[StepSums::flops];
  outcome.stop = t.sums.stop();
  outcome.layers = layers && !report.skipped;
  if (t.sums[StepSums::faults] > 0) {
    // With a step-ahead, the fault concerns the step after it and is found again when that step fetches its batch.
    if (!t.ahead) outcome.data_fault = first_fault(t.ranks, fault);
    t.batches.seek(t.batches.position());
  }
  // The caller then looks at the state of this step. After a skipped step, number and rate of the next one differ.
  if (t.ahead && (report.skipped || outcome.stop != StopReason::none)) t.roll_back_ahead();
  if (report.skipped) {
    ++t.skipped_in_a_row;
    outcome.skipped_because = t.skip_text(report);
  } else {
    ++t.step;
    t.skipped_in_a_row = 0;
  }
  outcome.skipped_in_a_row = t.skipped_in_a_row;
  return outcome;
}

EvaluationRow Trainer::evaluate() {
  auto& t = *impl_;
  require(!t.ahead, "evaluate() was called while the next step is enqueued");
  double masked = 0, sequences = 0;
  Arena<>* evaluated = &t.parameters;
  std::unique_ptr<Arena<>> mean;
  if (t.optimizer->replication() == optim::Replication::per_rank) {
    mean = std::make_unique<Arena<>>(layout(), "bellwether::app::consensus");
    t.optimizer->consensus(t.exec, t.parameters, *mean);
    evaluated = mean.get();
  }
  t.bert.set_parameters(evaluated->data());
  for (auto const& batch : t.data.heldout.batches) {
    masked += static_cast<double>(batch.global_masked);
    sequences += static_cast<double>(batch.global_sequences);
    for (auto const& micro_batch : batch.micro_batches) t.bert.evaluate(micro_batch);
  }
  t.sum_losses(t.bert.take_losses());
  t.ranks.sum_host(t.sums.all(), "bellwether::app::evaluation_sums");
  EvaluationRow row{.step = t.step, .tokens = t.tokens};
  t.fill_losses(row, masked, sequences);
  return row;
}

TrainingState Trainer::state() {
  auto& t = *impl_;
  require(!t.ahead, "state() was called while the next step is enqueued");
  std::function<std::vector<float>(std::span<float const>, std::int64_t, std::int64_t)> replica_mean;
  if (t.deck.checkpoint.worker_error == input::WorkerError::mean)
    replica_mean = [&t](std::span<float const> slice, std::int64_t first, std::int64_t total) {
      return comm::replica_mean(t.ranks, slice, first, total);
    };
  return {.layout = layout(),
          .parameters = t.parameters.span(),
          .parameters_per_rank = t.optimizer->replication() == optim::Replication::per_rank,
          .optimizer = [&t](StateVisitor& visit) { t.optimizer->visit_state(visit); },
          .data =
              [&t](StateVisitor& visit) {
                auto position = t.batches.position();
                visit.count("step", t.step, 0);
                visit.count("sample", position, 0);
                visit.count("tokens", t.tokens, 0);
                visit.count("samples", t.samples, 0);
                visit.count("skipped_in_a_row", t.skipped_in_a_row, 0);
                t.data.visit_state(visit);
                visit.number("wall_seconds", t.wall_seconds, 0);
                t.noise.visit_state(visit);
                t.totals.visit_state(visit);
                t.data.require_recorded();
                if (position != t.batches.position()) t.batches.seek(position);
              },
          .position = [&t] { return t.batches.position(); },
          .replica_mean = replica_mean,
          .key_of_active = [&t]() -> std::string {
            if (!t.optimizer->freezes_variance()) return "";
            auto const longer = t.data.heldout.info.sequence_length > t.stream.info().sequence_length;
            return longer ? "data.heldout" : "data.train";
          }};
}

MemoryUse Trainer::memory_use() const {
  auto const& t = *impl_;
  return {.parameters = static_cast<std::int64_t>(t.parameters.span().size_bytes()),
          .gradients = static_cast<std::int64_t>(t.gradients.span().size_bytes()),
          .optimizer = t.optimizer->state_bytes() + t.micro_batches.bytes(),
          .activations = t.bert.workspace_bytes(),
          .freeze = t.optimizer->freeze_bytes(),
          .libraries = gemm_workspace_bytes(t.exec),
          .data = t.data.bytes()};
}

std::int64_t Trainer::residual_bytes() const { return impl_->optimizer->residual_bytes(); }
std::optional<PhaseTraffic> Trainer::dense_step() const { return impl_->predicted(optim::Phase::dense); }
std::optional<PhaseTraffic> Trainer::compressed_step() const { return impl_->predicted(optim::Phase::compressed); }
TrafficTotals const& Trainer::traffic() const { return impl_->totals; }
int Trainer::nodes() const { return impl_->data_ranks.nodes().count; }
std::string Trainer::transport() const { return impl_->data_ranks.transport(); }

double Trainer::next_step_flops() {
  auto& t = *impl_;
  t.batches.fetch_together();
  double flops = 0;
  for (auto const& micro_batch : t.batches.next().micro_batches)
    flops += model::training_flops(t.deck.model, micro_batch);
  t.ranks.sum_host({&flops, 1}, "bellwether::app::next_step_flops");
  return flops;
}

std::vector<std::string> Trainer::layer_quantities() const {
  std::vector<std::string> names;
  for (auto const& quantity : impl_->optimizer->last_report().layers) names.emplace_back(quantity.name);
  return names;
}

std::vector<std::span<float const>> Trainer::layer_values() const {
  auto const& layers = impl_->optimizer->last_report().layers;
  std::vector<std::span<float const>> values;
  for (auto const& quantity : layers) values.emplace_back(quantity.values);
  return values;
}

std::vector<std::string> const& Trainer::notices() const { return impl_->optimizer->last_report().notices; }

std::optional<std::int64_t> Trainer::frozen_after() const { return impl_->optimizer->frozen_after(); }

std::int64_t Trainer::step() const { return impl_->step; }
std::int64_t Trainer::samples() const { return impl_->samples; }
std::int64_t Trainer::tokens() const { return impl_->tokens; }
double Trainer::wall_seconds() const { return impl_->wall_seconds; }
bool Trainer::enqueues_ahead() const { return impl_->enqueues_ahead; }
RunDescription Trainer::description() const { return impl_->data.description(impl_->deck.run.name); }
bool Trainer::evaluates() const { return !impl_->data.heldout.batches.empty(); }
ParameterLayout const& Trainer::layout() const { return impl_->bert.layout().table; }
std::int64_t Trainer::sequence_length() const { return impl_->stream.info().sequence_length; }
std::int64_t Trainer::masked_length() const { return impl_->stream.info().masked_length; }
std::int64_t Trainer::training_rows() const { return impl_->stream.info().rows; }
bool Trainer::static_masks() const { return impl_->data.stream->info().static_masks; }

std::vector<std::string> Trainer::warnings() const {
  auto const& t = *impl_;
  auto texts = deck_warnings(t.deck);
  auto const of_nodes = node_warnings(t.deck, t.data_ranks.nodes());
  texts.insert(texts.end(), of_nodes.begin(), of_nodes.end());
  auto const of_data = t.data.warnings(t.deck);
  texts.insert(texts.end(), of_data.begin(), of_data.end());
  return texts;
}

}  // namespace bellwether::app
