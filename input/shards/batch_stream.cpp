// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/batch_stream.hpp"

#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"
#include "input/shards/shard_set.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace bellwether::input {
namespace {

/// A window that is being read or is in memory.
struct Reading {
  std::int64_t epoch = 0;
  Window window;
  std::int64_t first_sample = 0;  ///< g of its first sample
  std::future<std::vector<ShardRows>> future;
  std::vector<ShardRows> pieces;
  std::vector<RowPlace> order;
  bool ready = false;

  std::int64_t end_sample() const { return first_sample + window.rows; }
  SampleRow sample(std::int64_t g) const {
    auto const [piece, row] = order[static_cast<std::size_t>(g - first_sample)];
    return {&pieces[static_cast<std::size_t>(piece)], row, g};
  }
};

std::shared_ptr<ShardSet const> open_set(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
                                         StreamGeometry const& geometry) {
  require(geometry.rank >= 0 && geometry.rank < geometry.size && geometry.global >= 1 && geometry.micro >= 1,
          "bad stream geometry");
  return io.run(IoThread::Priority::read_ahead,
                [&] { return std::make_shared<ShardSet const>(shards, config, geometry); });
}

}  // namespace

struct BatchStream::Impl {
  IoThread& io;
  StreamGeometry geometry;
  std::shared_ptr<ShardSet const> set;  // shared with tasks that may outlive the stream

  std::int64_t position = 0;
  std::deque<Reading> readings{};  // in the order of the stream
  std::int64_t epoch = -1;         // epoch of `windows`
  std::vector<Window> windows{};
  std::size_t next_window = 0;
  double waited_seconds = 0;
  std::int64_t rows_read = 0;

  void begin_epoch(std::int64_t number) {
    epoch = number;
    windows = epoch_windows(geometry.seed, epoch, set->extents(), set->window_rows());
    next_window = 0;
  }
  void start_next_window() {
    if (next_window == windows.size()) begin_epoch(epoch + 1);
    Window const window = windows[next_window++];
    Reading& reading = readings.emplace_back();
    reading.epoch = epoch;
    reading.window = window;
    reading.first_sample = epoch * set->info().rows + window.start;
    reading.future = io.submit(IoThread::Priority::read_ahead, [shards = set, pieces = window.pieces] {
      std::vector<ShardRows> rows;
      rows.reserve(pieces.size());
      for (auto const& piece : pieces) rows.push_back(shards->read(piece));
      return rows;
    });
    rows_read += window.rows;
  }
  void read_up_to(std::int64_t end) {
    while (readings.empty() || readings.back().end_sample() < end) start_next_window();
  }
  void await(Reading& reading) {
    if (reading.ready) return;
    auto const start = RunClock::now();
    reading.pieces = reading.future.get();
    waited_seconds += seconds_since(start);
    reading.order = window_order(geometry.seed, reading.epoch, reading.window);
    reading.ready = true;
  }
};

BatchStream::BatchStream(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
                         StreamGeometry const& geometry)
    : impl_(new Impl{.io = io, .geometry = geometry, .set = open_set(io, shards, config, geometry)}) {
  seek(0);
}

BatchStream::~BatchStream() = default;
ShardSetInfo const& BatchStream::info() const { return impl_->set->info(); }
std::int64_t BatchStream::position() const { return impl_->position; }
double BatchStream::waited_seconds() const { return impl_->waited_seconds; }
std::int64_t BatchStream::rows_read() const { return impl_->rows_read; }

std::int64_t BatchStream::buffer_bytes() const {
  std::int64_t piece = 1;
  for (auto const& extent : impl_->set->extents()) piece = std::max(piece, std::min(extent.piece, extent.rows));
  std::int64_t const window = std::min(info().rows, impl_->set->window_rows() + piece - 1);
  // This global batch, the next one, and the other rows of the windows where they begin and end.
  std::int64_t const rows = 2 * impl_->geometry.global + 2 * window;
  std::int64_t const row_bytes = info().sequence_length * 6 + info().masked_length * 8 + 17;  // of ShardRows and order
  return rows * row_bytes;
}

void BatchStream::seek(std::int64_t position) {
  require(position >= 0, "a stream begins at sample 0");
  Impl& self = *impl_;
  std::int64_t const rows = info().rows;
  self.position = position;
  self.readings.clear();
  self.begin_epoch(position / rows);
  auto const holds = [&](Window const& window) { return window.start + window.rows > position % rows; };
  self.next_window = static_cast<std::size_t>(std::ranges::find_if(self.windows, holds) - self.windows.begin());
}

model::StepBatch BatchStream::next() {
  Impl& self = *impl_;
  std::int64_t const end = self.position + self.geometry.global;
  self.read_up_to(end);
  std::vector<SampleRow> batch;
  batch.reserve(static_cast<std::size_t>(self.geometry.global));
  for (Reading& reading : self.readings) {
    if (reading.first_sample >= end) break;
    self.await(reading);
    for (auto g = std::max(self.position, reading.first_sample); g < std::min(end, reading.end_sample()); ++g)
      batch.push_back(reading.sample(g));
  }
  // Read one global batch and at least one window ahead, so that the next call finds its rows in memory.
  self.read_up_to(end + self.geometry.global);
  if (self.readings.back().first_sample < end) self.start_next_window();
  model::StepBatch step = self.set->balancer().share(batch);
  while (!self.readings.empty() && self.readings.front().end_sample() <= end) self.readings.pop_front();
  self.position = end;
  return step;
}

HeldoutSet heldout_batches(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
                           StreamGeometry const& geometry, std::int64_t sequences) {
  auto const set = open_set(io, shards, config, geometry);
  HeldoutSet heldout{.info = set->info(), .batches = {}};
  std::int64_t const wanted = std::min(sequences, set->info().rows);
  std::deque<ShardRows> pieces;  // a deque keeps addresses stable
  std::vector<SampleRow> batch;
  std::int64_t sample = 0;
  for (std::int64_t shard = 0; sample < wanted; ++shard) {
    std::int64_t const rows = set->extents()[static_cast<std::size_t>(shard)].rows;
    for (std::int64_t first = 0; first < rows && sample < wanted;) {
      std::int64_t const count =
          std::min({rows - first, wanted - sample, geometry.global - static_cast<std::int64_t>(batch.size())});
      ShardRows const& piece = pieces.emplace_back(io.run(IoThread::Priority::read_ahead, [&] {
        return set->read({shard, first, count});
      }));
      for (std::int64_t r = 0; r < count; ++r) batch.push_back({&piece, r, sample++});
      first += count;
      if (std::ssize(batch) < geometry.global && sample < wanted) continue;
      heldout.batches.push_back(set->balancer().share(batch));
      batch.clear();
      pieces.clear();
    }
  }
  return heldout;
}

}  // namespace bellwether::input
