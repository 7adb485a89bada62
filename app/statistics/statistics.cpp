// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics.hpp"

#include "app/statistics/record_checks.hpp"
#include "app/statistics/statistics_segment.hpp"
#include "core/system/error.hpp"
#include "core/system/system_limits.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <limits>
#include <utility>

namespace bellwether::app {
namespace {

constexpr auto priority = input::IoThread::Priority::statistics;

bool is_beyond(StatisticsSegment const& segment, RecordPoint const& point) {
  return (!segment.steps.empty() && segment.steps.back().samples > point.samples) ||
         (!segment.evaluations.empty() && segment.evaluations.back().step > point.step) ||
         (!segment.layer_steps.empty() && segment.layer_steps.back() > point.step);
}

void cut(StatisticsSegment& segment, RecordPoint const& point, std::size_t layers) {
  std::erase_if(segment.steps, [&](StepRow const& row) { return row.samples > point.samples; });
  std::erase_if(segment.evaluations, [&](EvaluationRow const& row) { return row.step > point.step; });
  std::erase_if(segment.layer_steps, [&](std::int64_t step) { return step > point.step; });
  for (auto& quantity : segment.layers) quantity.resize(segment.layer_steps.size() * layers);
}

/// Reads the record; adds to an error how the run can continue without the record.
template <class Read>
auto read_or_advise(std::string const& directory, Read read) {
  try {
    return read();
  } catch (InputError const& error) {
    throw InputError(std::string(error.what()) + "; move statistics.h5 and the folder statistics out of " + directory +
                     " to resume with a new record");
  }
}

}  // namespace

Recorded recorded_statistics(std::string const& directory) {
  StatisticsFiles const files(directory, RunDescription{}, {}, {});
  bool const shown = std::filesystem::exists(files.main_file());
  if (files.count_segments() > 0) return Recorded::rows;  // written with the first rows, never earlier
  if (!shown) return Recorded::nothing;
  require_segments(files.main_file());
  return Recorded::no_rows;
}

struct Statistics::Impl {
  StatisticsOptions options;
  input::IoThread& io;
  StatisticsFiles files;
  StatisticsSegment open{};           // rows of the segment that still grows
  std::vector<SegmentRows> closed{};  // rows of the segments before it
  std::deque<std::future<void>> writes{};
  std::int64_t flushed_step = 0;  // step of the newest row handed to a write
  bool changed = false;
  TrafficTotals traffic;
  std::deque<StatisticsSegment> owed{};  // segments that were not written; accessed only by the I/O thread
  std::string fault{};                   // of the last write, empty on success; accessed only by the I/O thread
  std::int64_t failures = 0;             // of writes, in a row
  std::optional<StepRow> last{};
  std::string doubt{};

  Impl(StatisticsOptions o, input::IoThread& thread)
      : options(std::move(o)),
        io(thread),
        files(options.directory, options.run, {.quantities = options.quantities, .layers = options.layers},
              {options.segment_rows, options.segment_rows, options.segment_layer_rows}),
        traffic(options.traffic) {}

  void reserve() {
    auto const layer_rows = static_cast<std::size_t>(options.segment_layer_rows);
    open.layers.resize(options.quantities.size());
    open.steps.reserve(static_cast<std::size_t>(options.segment_rows));
    open.evaluations.reserve(static_cast<std::size_t>(options.segment_rows));
    open.layer_steps.reserve(layer_rows);
    for (auto& quantity : open.layers) quantity.reserve(layer_rows * options.layers.size());
  }

  bool is_full() const {
    auto const now = rows_in(open);
    return now.steps >= options.segment_rows || now.evaluations >= options.segment_rows ||
           now.layers >= options.segment_layer_rows;
  }

  /// If the segment is full, writes it once more and begins the next one.
  void make_room() {
    if (!is_full()) return;
    submit();
    closed.push_back(rows_in(open));
    ++open.index;
    open.steps.clear();
    open.evaluations.clear();
    open.layer_steps.clear();
    for (auto& quantity : open.layers) quantity.clear();
  }

  void submit() {
    auto all = closed;
    all.push_back(rows_in(open));
    writes.push_back(io.submit(priority, [this, segment = open, rows = std::move(all), sent = traffic] {
      if (!owed.empty() && owed.back().index == segment.index) owed.pop_back();  // the new copy contains its rows
      owed.push_back(segment);
      try {
        for (; !owed.empty(); owed.pop_front()) {  // in order, without gaps
          options.may_write();
          files.write(owed.front());
        }
        options.may_write();
        files.publish(rows, sent);
        fault.clear();
      } catch (std::exception const& error) {
        fault = what_of(error);
        throw;
      }
    }));
    changed = false;
    if (last) flushed_step = last->step;
  }

  /// Collects the results of completed writes. Waits until at most `how_many` writes are pending.
  void collect(std::size_t how_many) {
    while (!writes.empty()) {
      if (writes.size() <= how_many && writes.front().wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return;
      auto first = std::move(writes.front());
      writes.pop_front();
      try {
        first.get();
        failures = 0;
      } catch (std::exception const& error) {
        if (++failures >= options.failure_limit) throw;
        changed = true;  // the next write includes these rows
        options.warn(error.what());
      }
    }
  }

  void start_new() {
    io.run(priority, [this] {
      for (auto const& file : {files.main_file(), files.segment_file(0)})
        if (std::filesystem::exists(file))
          throw InputError(file + ": exists already; resume that run or name another directory");
      files.count_segments();
      files.make_folder();
      files.publish({}, traffic);
    });
  }

  void resume(RecordPoint const& point) {
    io.run(priority, [this, point] {
      auto const segments = read_or_advise(options.directory, [this] { return files.count_segments(); });
      if (std::filesystem::exists(files.main_file()) || segments == 0) {
        files.check_layers();
        read_or_advise(options.directory, [this] { require_segments(files.main_file()); });
      }
      files.make_folder();
      for (std::int64_t index = 0; index < segments; ++index) {
        if (index > 0) closed.push_back(rows_in(open));
        open = read_or_advise(options.directory, [this, index] { return files.read(index); });
        // statistics.h5 shows the columns of all segments by their names in the first one.
        if (open.has_earlier_names) files.write(open);
        bool const ends_here = is_beyond(open, point);
        if (ends_here) cut(open, point, options.layers.size());
        if (doubt.empty()) doubt = record_break(last, open.steps);
        if (!open.steps.empty()) last = open.steps.back();
        if (ends_here) break;
      }
      if (doubt.empty() && last) doubt = other_record(*last, point);
      // Never show rows that are gone: replace statistics.h5 first, then the segments.
      auto shown = closed;
      shown.push_back(rows_in(open));
      if (segments == 0) shown.clear();
      files.publish(shown, traffic);
      if (!shown.empty()) {
        files.write(open);
        files.remove(open.index + 1);
      }
    });
  }
};

Statistics::Statistics(StatisticsOptions options, input::IoThread& io)
    : impl_(std::make_unique<Impl>(std::move(options), io)) {
  require(impl_->options.segment_rows > 0 && impl_->options.segment_layer_rows > 0 && impl_->options.flush_every > 0,
          "segment_rows, segment_layer_rows and flush_every must be at least 1");
  if (impl_->options.resume) {
    impl_->resume(*impl_->options.resume);
    impl_->flushed_step = impl_->options.resume->step;
  } else {
    impl_->start_new();
  }
  impl_->reserve();
}

Statistics::~Statistics() {
  // Tasks on the I/O thread refer to this object.
  for (auto& write : impl_->writes) write.wait();
}

std::optional<std::int64_t> Statistics::last_step() const {
  return impl_->last ? std::optional(impl_->last->step) : std::nullopt;
}

std::string const& Statistics::doubt() const { return impl_->doubt; }

void Statistics::append(StepRow const& row) {
  impl_->make_room();
  impl_->collect(impl_->writes.size());
  impl_->open.steps.push_back(row);
  impl_->last = row;
  impl_->changed = true;
  if (row.step - impl_->flushed_step >= impl_->options.flush_every) flush();
}

void Statistics::append_layers(std::int64_t step, std::span<std::span<float const> const> values) {
  require(values.size() == impl_->options.quantities.size(),
          "there must be one vector per quantity in StatisticsOptions");
  impl_->make_room();
  impl_->open.layer_steps.push_back(step);
  for (std::size_t q = 0; q < values.size(); ++q) {
    auto& matrix = impl_->open.layers[q];
    require(values[q].empty() || values[q].size() == impl_->options.layers.size(),
            "a quantity must have one value per layer");
    if (values[q].empty())
      matrix.insert(matrix.end(), impl_->options.layers.size(), std::numeric_limits<float>::quiet_NaN());
    else
      matrix.insert(matrix.end(), values[q].begin(), values[q].end());
  }
  impl_->changed = true;
}

void Statistics::append_evaluation(EvaluationRow const& row) {
  impl_->make_room();
  impl_->open.evaluations.push_back(row);
  impl_->changed = true;
}

void Statistics::count(TrafficTotals const& sent) {
  impl_->traffic = sent;
  impl_->changed = true;
}

void Statistics::flush() {
  // If the disk cannot keep up, wait, instead of filling memory with copies.
  impl_->collect(4);
  if (impl_->changed) impl_->submit();
}

void Statistics::require_written() const {
  if (!impl_->fault.empty()) throw RuntimeError(impl_->fault);
}

void Statistics::wait() {
  impl_->collect(0);
  if (impl_->failures == 0) return;
  impl_->failures = impl_->options.failure_limit - 1;  // no later write follows
  impl_->submit();
  impl_->collect(0);
}

}  // namespace bellwether::app
