// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/compressed_phase.hpp"

#include "core/system/error.hpp"
#include "model/optim/rules/compressed_formulas.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::optim {
namespace {

bool sketching(OptimizerConfig const& config, int ranks) {
  return config.clip_norm == CompressedClip::sketch && ranks > 1;
}

/// Returns whether some steps have no sketch.
bool skips_sketches(OptimizerConfig const& config, OptimizerContext const& context) {
  return sketching(config, context.groups.data.size()) && config.sketch_every > 1;
}

ScalarLayout scalar_layout(OptimizerConfig const& config, Index tensors, int ranks, bool with_sketch) {
  return {.columns = with_sketch && sketching(config, ranks) ? config.sketch_columns : 0,
          .ranks = ranks,
          .by_tensor = config.variance_grows() ? VarianceGrowth::sketches(tensors) : 0};
}

ScalarLayout scalar_layout(OptimizerConfig const& config, OptimizerContext const& context, bool with_sketch) {
  return scalar_layout(config, std::ssize(context.layout.tensors()), context.groups.data.size(), with_sketch);
}

/// Returns the bytes of a message from one rank to another. Messages are short enough to overlap with compression and
/// long enough to outweigh their overhead.
std::int64_t segment_bytes(OptimizerContext const& context) {
  constexpr std::int64_t parts = 8, least = std::int64_t{64} << 10;
  return std::max(least, context.layout.count() / (8 * context.groups.data.size() * parts));
}

comm::CompressionOptions compression_options(OptimizerConfig const& config, OptimizerContext const& context) {
  // Scale groups divide the input of one exchange: the model, or a node's slice of it.
  Index const slices = context.groups.node ? context.groups.node->intra_node().size() : 1;
  return {.scale = config.scale,
          .scale_groups = context.comm.groups_of(context.layout.count(), slices),
          .segment_bytes = segment_bytes(context),
          .error_feedback = context.comm.error_feedback};
}

template <class T>
Vec<T> scratch(std::string const& label, Index count) {
  return Vec<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

Index tensors_of(ParameterLayout const& layout) { return static_cast<Index>(layout.tensors().size()); }

template <class T>
std::int64_t bytes_of(Vec<T> const& view) {
  return static_cast<std::int64_t>(view.extent(0) * sizeof(T));
}

// Returns the bytes of the words that mark active elements.
std::int64_t active_bytes(Index count) { return (count + 31) / 32 * static_cast<std::int64_t>(sizeof(std::uint32_t)); }

}  // namespace

CompressedPhase::Scalars::Scalars(comm::Communicator& data, ScalarLayout const& layout)
    : at(layout),
      mean(data, layout.count(), comm::Wire::fp32, comm::Allreduce::ordered),
      values(scratch<float>("bellwether::optim::step_scalars", layout.count())) {}

std::int64_t CompressedPhase::Scalars::bytes() const { return mean.buffer_bytes() + bytes_of(values); }

CompressedPhase::CompressedPhase(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record,
                                 Vec<float> const& roots)
    : config_(config),
      layout_(context.layout),
      data_(context.groups.data),
      record_(record),
      key_(random_key(context.seed, Purpose::sketch)),
      with_sketch_(data_, scalar_layout(config, context, true)),
      proportion_(scratch<float>("bellwether::optim::sketch_proportion", 1)),
      sketch_ranks_(data_.size()),
      sketches_(scratch<float>("bellwether::optim::sketches", sketch_parts * with_sketch_.at.columns)),
      squares_(
          scratch<double>("bellwether::optim::sketch_squares", SketchStrips<Exec>::squares(with_sketch_.at.columns))),
      exchange_(data_, context.groups.node, layout_.count(), compression_options(config, context),
                context.comm.dense_wire),
      shares_(data_, compresses(context), record.blocks()),
      by_tensor_(scratch<float>("bellwether::optim::units", tensors_of(layout_))),
      roots_(roots.extent(0) > 0 ? roots : scratch<float>("bellwether::optim::no_growth", tensors_of(layout_))),
      tensor_of_(scratch<std::int32_t>("bellwether::optim::tensor_of_word", (layout_.count() + 31) / 32)),
      end_(scratch<Index>("bellwether::optim::tensor_end", tensors_of(layout_))) {
  if (roots.extent(0) == 0) Kokkos::deep_copy(context.exec, roots_, 1.0f);
  Kokkos::deep_copy(context.exec, proportion_, 1.0f);
  if (skips_sketches(config, context)) between_sketches_.emplace(data_, scalar_layout(config, context, false));
  if (config_.variance_grows()) growth_.emplace(context.exec, record.blocks(), config_.beta2, key_, roots_);
  auto const ends = Kokkos::create_mirror_view(end_);
  auto const tensor_of = Kokkos::create_mirror_view(tensor_of_);
  std::size_t word = 0;
  for (std::size_t l = 0; l < layout_.tensors().size(); ++l) {
    auto const& tensor = layout_.tensors()[l];
    ends(l) = tensor.offset + tensor.count;
    for (; static_cast<Index>(word) * 32 < ends(l); ++word) tensor_of(word) = static_cast<std::int32_t>(l);
  }
  Kokkos::deep_copy(context.exec, end_, ends);
  Kokkos::deep_copy(context.exec, tensor_of_, tensor_of);
  context.exec.fence("bellwether::optim::CompressedPhase, tables are copied before the host's memory goes");
}

// Runs once, and once more at a restart. On the host, for simplicity.
void CompressedPhase::survey(Exec const& exec, Arena<> const* variance, Arena<> const* momentum) {
  require(momentum != nullptr || (units_known_ && variance != nullptr),
          "units can only be measured on a momentum in numbers");
  exec.fence("bellwether::optim::survey, moments are complete before the host reads them");
  auto const on_host = [](Arena<> const& arena) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), arena.flat());
  };
  auto const m = on_host(momentum != nullptr ? *momentum : *variance);
  auto const v = variance ? on_host(*variance) : m;
  Vec<std::uint32_t> const words("bellwether::optim::active_words", tensor_of_.extent(0));
  auto const active = Kokkos::create_mirror_view(words);
  auto const units = Kokkos::create_mirror(by_tensor_);  // never aliases by_tensor_, which may have to keep its values
  double sum_of_roots = 0;
  Index counted = 0;
  without_variance_.clear();
  for (std::size_t l = 0; l < layout_.tensors().size(); ++l) {
    auto const& tensor = layout_.tensors()[l];
    double squares = 0;
    Index alive = 0, lost = 0;
    auto marked = tensor.masked.begin();
    for (Index i = 0; i < tensor.count; ++i) {
      auto const k = static_cast<std::size_t>(tensor.offset + i);
      bool const masked = i >= tensor.active || (marked != tensor.masked.end() && *marked == i);
      if (marked != tensor.masked.end() && *marked == i) ++marked;
      if (!masked && (variance == nullptr || v(k) > 0)) {
        active(k / 32) |= 0x80000000u >> (k % 32);
        squares += static_cast<double>(m(k)) * m(k);
        ++alive;
      } else {
        if (variance != nullptr && momentum != nullptr) m(k) = 0;
        lost += masked ? 0 : 1;
      }
    }
    units(l) = alive > 0 ? static_cast<float>(std::sqrt(squares / static_cast<double>(alive))) : 0;
    if (units(l) > 0) {
      sum_of_roots += units(l);
      ++counted;
    }
    if (lost > 0)
      without_variance_ += (without_variance_.empty() ? "" : ", ") + tensor.name + " (" + std::to_string(lost) +
                           " of " + std::to_string(tensor.count) + " elements)";
  }
  for (std::size_t l = 0; l < units.extent(0); ++l)
    units(l) = units(l) > 0 ? static_cast<float>(sum_of_roots / static_cast<double>(counted) / units(l)) : 1;
  if (momentum != nullptr) Kokkos::deep_copy(exec, momentum->flat(), m);
  if (!units_known_) Kokkos::deep_copy(exec, by_tensor_, units);
  units_known_ = true;
  Kokkos::deep_copy(exec, words, active);
  exchange_.set_active(exec, words);
  if (growth_) growth_->survey(exec, words, variance->data());
  exec.fence("bellwether::optim::survey, what the host found is copied before its memory goes");
}

// A single rank or node has no one to exchange compressed data with.
bool CompressedPhase::compresses(OptimizerContext const& context) {
  return (context.groups.node ? context.groups.node->inter_node() : context.groups.data).size() > 1;
}

bool CompressedPhase::leaves_residuals(OptimizerContext const& context) {
  return compresses(context) && context.comm.error_feedback;
}

Index CompressedPhase::residual_count(OptimizerConfig const& config, OptimizerContext const& context) {
  return comm::HierarchicalAllreduce::predicted_slice_count(
      context.groups.data, context.groups.node, context.layout.count(), compression_options(config, context));
}

CompressedPhase::Scalars& CompressedPhase::scalars_of(std::int64_t after_freeze) {
  // The noise of a rank's gradient depends on the number of ranks, and so does the proportion. A skipped step does not
  // measure it, and is made again with the same `after_freeze`.
  if (sketch_ranks_ != data_.size()) sketch_at_ = after_freeze;
  sketch_ranks_ = data_.size();
  bool const sketches =
      !between_sketches_ || (after_freeze - 1) % config_.sketch_every == 0 || after_freeze == sketch_at_;
  return sketches ? with_sketch_ : *between_sketches_;
}

StepReport& CompressedPhase::reduce(Exec const& exec, Arena<> const& gradients, std::int64_t step,
                                    std::int64_t after_freeze) {
  auto& report = record_.open(exec);
  comm::Traffic const before = data_.traffic();
  auto& scalars = scalars_of(after_freeze);
  reduced_ = &scalars;
  sketch_gradient(
      exec, record_.blocks(),
      {.values = gradients.data(), .count = gradients.count(), .rank = data_.rank(), .key = key_, .step = step},
      scalars.at, {.partial = sketches_, .squares = squares_}, scalars.values);
  if (growth_) growth_->sketch(exec, gradients.data(), step, scalars.by_tensor());
  scalars.mean.start(exec, scalars.values);
  scalars.mean.wait(exec);
  report.phase = Phase::compressed;
  report.segments.clear();
  comm::Traffic const now = data_.traffic();
  report.sent = {.exchange = 0,
                 .scalars = now.sent_bytes - before.sent_bytes,
                 .intra_node = now.intra_node_bytes - before.intra_node_bytes,
                 .dense_fp32 = exchange_.last_traffic().dense_fp32_bytes,
                 .dense_16bit = exchange_.last_traffic().dense_16bit_bytes};
  return report;
}

void CompressedPhase::check_gradient(Exec const& exec) {
  check_scalars(exec, reduced_->at, {.clip = config_.clip, .limit = record_.norm_limit()}, reduced_->values,
                proportion_, record_.gradient_check());
  if (growth_) growth_->grow(exec, record_.gradient_check(), reduced_->by_tensor());
}

void CompressedPhase::measure_shares(Exec const& exec, bool wanted, float* values) {
  comm::Traffic const before = data_.traffic();
  shares_.measure(exec, record_.blocks(), exchange_.last_mean(), wanted, &record_.gradient_check().data()->skip,
                  values);
  comm::Traffic const now = data_.traffic();
  auto& sent = record_.opened().sent;
  sent.scalars += now.sent_bytes - before.sent_bytes;
  sent.intra_node += now.intra_node_bytes - before.intra_node_bytes;
}

Units CompressedPhase::units(Arena<> const* variance) const {
  return {.exchange = config_.exchange,
          .unify = variance ? config_.unify : Unify::none,
          .epsilon = static_cast<float>(config_.epsilon),
          .variance = variance ? variance->data() : nullptr,
          .by_tensor = by_tensor_.data(),
          .tensor_of = tensor_of_.data(),
          .end = end_.data(),
          .growth = roots_.data(),
          .limit = static_cast<float>(gradient_limit(config_.gradient_limit, config_.beta2, data_.size())),
          .lead = static_cast<float>(config_.lead())};
}

void CompressedPhase::visit_state(StateVisitor& visit) {
  units_known_ = true;
  visit.array(replicated("units"), {by_tensor_.data(), by_tensor_.extent(0)});
  visit.array(replicated("sketch_proportion"), {proportion_.data(), 1});
  sketch_ranks_ = visit.has("sketch_ranks") ? sketch_ranks_ : 0;  // checkpoints of version 0.1.0 lack it
  if (visit.has("sketch_ranks")) visit.scalar(counter("sketch_ranks"), sketch_ranks_);
  if (growth_) growth_->visit_state(visit);
  exchange_.visit_state(visit);
}

void CompressedPhase::drop_state(StateVisitor& visit) {
  visit.drop("units");
  visit.drop("sketch_proportion");
  visit.drop("sketch_ranks");
  comm::CompressedAllreduce::drop_state(visit);
}

std::int64_t CompressedPhase::predicted_memory(OptimizerConfig const& config, OptimizerContext const& context,
                                               BlockTable<Exec> const& blocks) {
  auto const& data = context.groups.data;
  Index const n = context.layout.count(), tensors = static_cast<Index>(context.layout.tensors().size());
  std::int64_t scalar_bytes = 0;
  auto const add_scalars = [&](ScalarLayout const& at) {
    comm::DenseMean const mean(context.groups.data, at.count(), comm::Wire::fp32, comm::Allreduce::ordered);
    scalar_bytes +=
        mean.buffer_bytes() + static_cast<std::int64_t>(sizeof(float)) * (at.count() + sketch_parts * at.columns);
  };
  add_scalars(scalar_layout(config, context, true));
  if (skips_sketches(config, context)) add_scalars(scalar_layout(config, context, false));
  return comm::HierarchicalAllreduce::predicted_buffer_bytes(
             data, context.groups.node, n, compression_options(config, context), context.comm.dense_wire) +
         scalar_bytes + comm::CompressionShares::predicted_bytes(context.groups.data, compresses(context), blocks) +
         (config.variance_grows() ? VarianceGrowth::predicted_bytes(blocks) + active_bytes(n) : 0) +
         static_cast<std::int64_t>(sizeof(float)) * (tensors + 1) +
         static_cast<std::int64_t>(sizeof(double)) *
             SketchStrips<Exec>::squares(scalar_layout(config, context, true).columns) +
         static_cast<std::int64_t>(sizeof(std::int32_t)) * ((n + 31) / 32) +
         static_cast<std::int64_t>(sizeof(Index)) * tensors;
}

std::int64_t scalars_after_freeze(OptimizerConfig const& config, std::int64_t tensors, int ranks) {
  return scalar_layout(config, tensors, ranks, true).count();
}

SentBytes CompressedPhase::predicted_bytes(OptimizerConfig const& config, OptimizerContext const& context) {
  auto const& data = context.groups.data;
  Index const n = context.layout.count();
  auto const exchange = comm::HierarchicalAllreduce::predicted_traffic(
      data, context.groups.node, n, compression_options(config, context), context.comm.dense_wire);
  auto const scalars = comm::DenseMean::predicted_traffic(data, scalar_layout(config, context, true).count(),
                                                          comm::Wire::fp32, comm::Allreduce::ordered);
  return {.exchange = exchange.sent_bytes(),
          .worker = exchange.worker_bytes,
          .server = exchange.server_bytes,
          .scalars = scalars.sent_bytes,
          .intra_node = exchange.intra_node_bytes + scalars.intra_node_bytes,
          .dense_fp32 = exchange.dense_fp32_bytes,
          .dense_16bit = exchange.dense_16bit_bytes};
}

std::int64_t CompressedPhase::bytes() const {
  return exchange_.buffer_bytes() + shares_.bytes() + with_sketch_.bytes() +
         (between_sketches_ ? between_sketches_->bytes() : 0) + bytes_of(proportion_) +
         (growth_ ? growth_->bytes() + active_bytes(layout_.count()) : 0) + bytes_of(sketches_) + bytes_of(squares_) +
         bytes_of(by_tensor_) + bytes_of(tensor_of_) + bytes_of(end_);
}

}  // namespace bellwether::optim
