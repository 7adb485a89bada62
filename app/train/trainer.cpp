// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/trainer.hpp"

#include "app/checkpoint/checkpoint.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/machine/host_memory.hpp"
#include "app/train/deck_warnings.hpp"
#include "app/train/step/batch_ahead.hpp"
#include "app/train/step/row_writer.hpp"
#include "app/train/step/skip_text.hpp"
#include "app/train/step/step_queue.hpp"
#include "app/train/step/step_timer.hpp"
#include "app/train/training_data.hpp"
#include "comm/collective/replica_mean.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/world.hpp"
#include "core/gemm/gemm.hpp"
#include "core/memory/arena.hpp"
#include "core/system/error.hpp"
#include "input/shards/batch_stream.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "model/bert/initialise.hpp"
#include "model/bert/micro_batches.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/optimizer.hpp"

#include <optional>

namespace bellwether::app {
struct Trainer::Impl {
  Impl(input::Deck const& settings, comm::World& all, input::IoThread& io, HostAhead host_ahead)
      : deck(settings),
        world(all),
        grid(found_by_all([&] { return comm::ProcessGrid(deck.comm, world); })),
        data(open_training_data(deck, grid, io)),
        stream(*data.stream),
        batches(stream, grid.data()),
        bert(exec, deck.model, data.capacity(deck.batch, grid.replicas()), static_cast<std::uint64_t>(deck.run.seed),
             [this](Index count, std::int64_t bytes) {
               if constexpr (!on_devices) require_host_memory(world, count, bytes);
             }),
        parameters(bert.layout().table, "bellwether::app::parameters"),
        gradients(bert.layout().table, "bellwether::app::gradients"),
        optimizer(optim::make_optimizer(deck.optimizer, {.layout = bert.layout().table,
                                                         .groups = {.data = grid.data(), .node = grid.node()},
                                                         .exec = exec,
                                                         .comm = deck.comm,
                                                         .seed = static_cast<std::uint64_t>(deck.run.seed),
                                                         .steps = deck.schedule.steps,
                                                         .rate_warmup_steps = deck.schedule.warmup_steps})),
        micro_batches(exec, deck.model,
                      {.bert = bert, .optimizer = *optimizer, .parameters = parameters, .gradients = gradients},
                      grid.replicas()),
        timer(stream),
        queue(batches, micro_batches, grid.data(), timer,
              {.enqueues_ahead = host_ahead == HostAhead::always || grid.data().leaves_host_free(),
               .keeps_gradients = deck.optimizer.norm_limit.has_value(),  // skip_text() reads them
               .rate = [this](std::int64_t number) { return rate(number); }}),
        rows(grid.data(), deck.statistics.noise_beta) {
    model::initialise(exec, bert.layout().table, static_cast<std::uint64_t>(deck.run.seed),
                      deck.model.initial_deviation, parameters.data());
  }

  std::optional<PhaseTraffic> predicted(optim::Phase phase) const {
    auto const sent = optimizer->predicted_bytes(phase);
    return sent ? std::optional(traffic_of(phase, *sent)) : std::nullopt;
  }

  /// Returns the learning rate of step `number`.
  double rate(std::int64_t number) const {
    return optim::learning_rate(deck.schedule, deck.optimizer.lr, deck.batch.global, number);
  }

  optim::StepScalars scalars(std::int64_t number) const {
    return {.step = number,
            .learning_rate = rate(number),
            .layers = number % deck.statistics.layers_every == 0 || optimizer->near_freeze(number)};
  }

  /// Sums the step over ranks, fills its row and counts it. Later statements read what earlier ones have agreed on.
  StepOutcome record(optim::StepScalars const& now, StopReason wish, StepRow& row) {
    auto const& enqueued = queue.current();
    auto const losses = micro_batches.take_losses();
    auto const& report = optimizer->last_report();
    rows.sum_step(losses, enqueued, timer, wish, !queue.fault().empty());
    timer.end();
    auto const first_square = micro_batches.measures_first(enqueued) && !report.skipped
                                  ? std::optional(micro_batches.first_square())
                                  : std::nullopt;
    row = rows.step_row(now, report, enqueued, timer, first_square);
    StepOutcome outcome;
    outcome.flops = rows.flops();
    outcome.stop = rows.stop();
    outcome.layers = now.layers && !report.skipped;
    if (rows.has_fault()) outcome.data_fault = queue.agree_on_fault();
    // The caller then looks at the state of this step. After a skipped step, number and rate of the next one differ.
    if (report.skipped || outcome.stop != StopReason::none) queue.roll_back();
    count(report, outcome);
    return outcome;
  }

  /// Counts the step as completed or as skipped.
  void count(optim::StepReport const& report, StepOutcome& outcome) {
    if (report.skipped) {
      ++skipped_in_a_row;
      outcome.skipped_because = skip_text(report, bert.layout().table, grid.data(), [this] {
        return optim::largest_tensor(exec, bert.layout().table, gradients.data());
      });
    } else {
      ++step;
      skipped_in_a_row = 0;
    }
    outcome.skipped_in_a_row = skipped_in_a_row;
  }

  input::Deck deck;
  comm::World& world;
  comm::ProcessGrid grid;
  Exec exec;
  TrainingData data;
  input::BatchStream& stream;
  BatchAhead batches;
  model::Bert<float> bert;
  Arena<> parameters, gradients;
  std::unique_ptr<optim::Optimizer> optimizer;
  model::MicroBatchQueue micro_batches;
  StepTimer timer;
  StepQueue queue;
  RowWriter rows;
  std::int64_t step = 0, skipped_in_a_row = 0;
};

Trainer::Trainer(input::Deck const& deck, comm::World& world, input::IoThread& io, HostAhead host_ahead)
    : impl_(std::make_unique<Impl>(deck, world, io, host_ahead)) {}
Trainer::~Trainer() = default;

void Trainer::read_first_samples() { impl_->batches.fetch_together(); }

StepOutcome Trainer::advance(StopReason wish, StepRow& row, bool goes_on) {
  auto& t = *impl_;
  auto const number = t.step + 1;
  t.timer.begin(t.queue.holds_next());
  t.world.note_step(number);

  t.queue.load_batch();
  t.queue.forward_and_backward(number);
  auto const scalars = t.scalars(number);
  t.optimizer->reduce(t.exec, t.gradients, scalars);
  t.optimizer->check_gradient(t.exec, t.gradients);
  t.optimizer->update(t.exec, t.parameters, t.gradients, scalars);

  // If the host is free, it enqueues the whole step before it waits for anything. It also enqueues the micro-batches of
  // the next step, which do not depend on this step's outcome, before it reads the step's scalars.
  t.queue.wait_for_gradients();
  if (goes_on) t.queue.enqueue_ahead(number + 1);

  return t.record(scalars, wish, row);
}

EvaluationRow Trainer::evaluate() {
  auto& t = *impl_;
  require(!t.queue.holds_next(), "evaluate() was called while the next step is enqueued");
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
  return t.rows.evaluation_row(t.bert.take_losses(), masked, sequences, t.step);
}

TrainingState Trainer::state() {
  auto& t = *impl_;
  require(!t.queue.holds_next(), "state() was called while the next step is enqueued");
  std::function<std::vector<float>(std::span<float const>, std::int64_t, std::int64_t)> replica_mean;
  if (t.deck.checkpoint.worker_error == input::WorkerError::mean)
    replica_mean = [&t](std::span<float const> slice, std::int64_t first, std::int64_t total) {
      return comm::replica_mean(t.grid.data(), slice, first, total);
    };
  return {.layout = layout(),
          .parameters = t.parameters.span(),
          .parameters_per_rank = t.optimizer->replication() == optim::Replication::per_rank,
          .optimizer = [&t](StateVisitor& visit) { t.optimizer->visit_state(visit); },
          .data =
              [&t](StateVisitor& visit) {
                auto position = t.batches.position();
                visit.scalar(counter("step"), t.step);
                visit.scalar(counter("sample"), position);
                t.rows.visit_counts(visit);
                visit.scalar(counter("skipped_in_a_row"), t.skipped_in_a_row);
                t.data.visit_state(visit);
                t.timer.visit_state(visit);
                t.rows.visit_state(visit);
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
TrafficTotals const& Trainer::traffic() const { return impl_->rows.traffic(); }
comm::ProcessGrid const& Trainer::grid() const { return impl_->grid; }

double Trainer::next_step_flops() {
  auto& t = *impl_;
  t.batches.fetch_together();
  double flops = 0;
  for (auto const& micro_batch : t.batches.next().micro_batches)
    flops += model::training_flops(t.deck.model, micro_batch);
  t.grid.data().sum_host({&flops, 1}, "bellwether::app::next_step_flops");
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
std::int64_t Trainer::samples() const { return impl_->rows.samples(); }
std::int64_t Trainer::tokens() const { return impl_->rows.tokens(); }
double Trainer::wall_seconds() const { return impl_->timer.run_seconds(); }
bool Trainer::enqueues_ahead() const { return impl_->queue.enqueues_ahead(); }
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
  auto const of_nodes = node_warnings(t.deck, t.grid.nodes());
  texts.insert(texts.end(), of_nodes.begin(), of_nodes.end());
  auto const of_data = t.data.warnings(t.deck);
  texts.insert(texts.end(), of_data.begin(), of_data.end());
  return texts;
}

}  // namespace bellwether::app
