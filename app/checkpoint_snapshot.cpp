// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint_snapshot.hpp"

#include "app/device_copy.hpp"
#include "app/durable_file.hpp"
#include "input/hdf5_file.hpp"
#include "input/io_thread.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <optional>

namespace bellwether::app {
namespace {

using input::Hdf5File;

constexpr auto priority = input::IoThread::Priority::checkpoint;
constexpr std::int64_t elements_a_task = std::int64_t{4} << 20;

/// Writes one file in steps: head, every entry piece by piece, end of file, checksum.
class FileWriter {
 public:
  FileWriter(std::string folder, std::string name, std::vector<SavedEntry> const& entries)
      : path_((std::filesystem::path(folder) / name).string()), name_(std::move(name)), entries_(entries) {}

  /// Does a little. True: there is more to do.
  template <class WriteHead>
  bool advance(WriteHead const& write_head) {
    if (sum_) return read_back();
    if (!file_) {
      file_.emplace(Hdf5File::create(path_));
      write_head(*file_);
    } else if (at_ < entries_.size()) {
      write_piece(entries_[at_]);
    } else {
      file_->close();
      sync_path(path_);
      sum_.emplace(path_);
    }
    return true;
  }
  CheckpointFile report() const { return {name_, sum_->bytes(), sum_->digest()}; }

 private:
  bool read_back() { return sum_->advance(); }

  void write_piece(SavedEntry const& entry) {
    if (auto const* values = std::get_if<std::vector<float>>(&entry.value)) {
      if (row_ == 0) file_->create_data_set(entry.path, input::ElementType::f32, entry.shape);
      auto first = std::vector<std::int64_t>(entry.shape.size(), 0), count = entry.shape;
      std::int64_t const rows = entry.shape.at(0);
      std::int64_t const width = rows == 0 ? 0 : static_cast<std::int64_t>(values->size()) / rows;
      first[0] = row_;
      count[0] = std::min(rows - row_, std::max<std::int64_t>(1, elements_a_task / std::max<std::int64_t>(1, width)));
      if (rows > 0)
        file_->write_slab<float>(entry.path, first, count,
                                 std::span(*values).subspan(static_cast<std::size_t>(row_ * width),
                                                            static_cast<std::size_t>(count[0] * width)));
      row_ += count[0];
      if (row_ < rows) return;
      if (entry.cut) {
        file_->set_attribute(entry.path, "first", entry.first);
        file_->set_attribute(entry.path, "total", entry.total);
      }
    } else if (auto const* integer = std::get_if<std::int64_t>(&entry.value)) {
      file_->write<std::int64_t>(entry.path, {}, std::span(integer, 1));
    } else {
      file_->write<double>(entry.path, {}, std::span(&std::get<double>(entry.value), 1));
    }
    row_ = 0;
    ++at_;
  }

  std::string path_, name_;
  std::vector<SavedEntry> const& entries_;
  std::optional<Hdf5File> file_;
  std::optional<FileChecksum> sum_;
  std::size_t at_ = 0;
  std::int64_t row_ = 0;
};

/// All files of one rank, as tasks that each submit the next: what is more urgent goes in between.
class WriteJob : public std::enable_shared_from_this<WriteJob> {
 public:
  WriteJob(input::IoThread& io, std::string folder, SnapshotHead head, Snapshot snapshot)
      : io_(io), head_(std::move(head)), snapshot_(std::move(snapshot)) {
    if (head_.rank == 0) writers_.emplace_back(folder, "replicated.h5", snapshot_.shared());
    if (!snapshot_.own().empty())
      writers_.emplace_back(folder, "rank" + std::to_string(head_.rank) + ".h5", snapshot_.own());
  }
  std::future<std::vector<CheckpointFile>> result() { return promise_.get_future(); }

  void go_on() {
    io_.submit(priority, [self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    try {
      if (at_ == writers_.size()) {
        promise_.set_value(std::move(reports_));
        return;
      }
      if (!writers_[at_].advance([this](Hdf5File& file) { write_head(file); })) {
        reports_.push_back(writers_[at_].report());
        ++at_;
      }
    } catch (...) {
      writers_.clear();  // closes files here: only this thread may
      promise_.set_exception(std::current_exception());
      return;
    }
    go_on();
  }

  void write_head(Hdf5File& file) {
    bool const shared = at_ == 0 && head_.rank == 0;
    file.set_attribute("/", "format", shared ? "bellwether checkpoint" : "bellwether checkpoint, one rank");
    file.set_attribute("/", "format_version", "1.0");
    file.set_attribute("/", "step", head_.step);
    file.set_attribute("/", "ranks", std::int64_t{head_.ranks});
    file.set_attribute("/", "layout_fingerprint", fingerprint_text(head_.layout_fingerprint));
    if (!shared) {
      file.set_attribute("/", "rank", std::int64_t{head_.rank});
      return;
    }
    file.write_texts("deck", {head_.deck});
    file.write_texts("index", snapshot_.index());
    file.write<std::int64_t>("live", {std::ssize(head_.live)}, head_.live);
  }

  input::IoThread& io_;
  SnapshotHead head_;
  Snapshot snapshot_;
  std::deque<FileWriter> writers_;
  std::vector<CheckpointFile> reports_;
  std::size_t at_ = 0;
  std::promise<std::vector<CheckpointFile>> promise_;
};

}  // namespace

void walk(TrainingState const& state, CheckpointVisitor& visit) {
  visit.enter("parameters");
  for (auto const& tensor : state.layout.tensors())
    visit.parameter(
        tensor,
        state.parameters.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count)),
        state.parameters_per_rank);
  visit.enter("optimizer");
  if (state.optimizer) state.optimizer(visit);
  visit.enter("data");
  if (state.data) state.data(visit);
}

std::string fingerprint_text(std::uint64_t fingerprint) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint));
  return text;
}

SavedEntry& Snapshot::keep(std::vector<SavedEntry>& where, char const* kind, std::string path,
                           std::vector<std::int64_t> shape, std::span<float const> values) {
  std::vector<float> copy(values.size());
  copy_from_device(values, copy);
  return where.emplace_back(SavedEntry{kind, std::move(path), std::move(shape), std::move(copy)});
}

namespace {

class SnapshotSize : public CheckpointVisitor {
 public:
  explicit SnapshotSize(int rank) : rank_(rank) {}
  void parameter(TensorInfo const&, std::span<float> values, bool each) override { add(values, each || rank_ == 0); }
  void replicated(std::string_view, std::span<float> values) override { add(values, rank_ == 0); }
  void partitioned(std::string_view, std::span<float> slice, std::int64_t, std::int64_t) override { add(slice, true); }
  void per_rank(std::string_view, std::span<float> values, Recut) override { add(values, true); }
  void held(std::string_view, std::span<float> slice, std::int64_t, std::int64_t) override { add(slice, true); }
  void scalar(std::string_view, std::int64_t&) override {}
  void scalar(std::string_view, double&) override {}
  std::int64_t bytes() const { return bytes_; }

 private:
  void add(std::span<float> values, bool kept) {
    if (kept) bytes_ += static_cast<std::int64_t>(values.size_bytes());
  }
  int rank_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::int64_t snapshot_bytes(TrainingState const& state, int rank) {
  SnapshotSize size(rank);
  walk(state, size);
  return size.bytes();
}

void Snapshot::parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) {
  char const* const kind = per_rank ? "per_rank" : "replicated";
  index_.push_back(std::string(kind) + " " + path(tensor.name));
  if (per_rank || rank_ == 0) keep(per_rank ? own_ : shared_, kind, path(tensor.name), tensor.shape, values);
}

void Snapshot::replicated(std::string_view name, std::span<float> values) {
  index_.push_back("replicated " + path(name));
  if (rank_ == 0) keep(shared_, "replicated", path(name), {static_cast<std::int64_t>(values.size())}, values);
}

void Snapshot::partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) {
  index_.push_back("partitioned " + path(name));
  auto& entry = keep(own_, "partitioned", path(name), {static_cast<std::int64_t>(slice.size())}, slice);
  entry.cut = true;
  entry.first = first;
  entry.total = total;
}

void Snapshot::held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) {
  index_.push_back("per_rank " + path(name));  // a whole vector is the slice of all
  auto& entry = keep(own_, "per_rank", path(name), {static_cast<std::int64_t>(slice.size())}, slice);
  entry.cut = true;
  entry.first = first;
  entry.total = total;
}

void Snapshot::per_rank(std::string_view name, std::span<float> values, Recut) {
  index_.push_back("per_rank " + path(name));
  keep(own_, "per_rank", path(name), {static_cast<std::int64_t>(values.size())}, values);
}

void Snapshot::scalar(std::string_view name, std::int64_t& value) {
  index_.push_back("scalar " + path(name));
  if (rank_ == 0) shared_.push_back({"scalar", path(name), {}, value});
}

void Snapshot::scalar(std::string_view name, double& value) {
  index_.push_back("scalar " + path(name));
  if (rank_ == 0) shared_.push_back({"scalar", path(name), {}, value});
}

std::future<std::vector<CheckpointFile>> write_snapshot(input::IoThread& io, std::string folder, SnapshotHead head,
                                                        Snapshot snapshot) {
  auto job = std::make_shared<WriteJob>(io, std::move(folder), std::move(head), std::move(snapshot));
  auto future = job->result();
  job->go_on();
  return future;
}

}  // namespace bellwether::app
