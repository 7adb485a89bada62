// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_snapshot.hpp"

#include "core/system/system_limits.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace bellwether::app {
namespace {

constexpr auto priority = input::IoThread::Priority::checkpoint;
using Floats = std::span<float const>;

/// Returns the message for values that could not be computed for lack of memory.
std::string no_memory(SavedEntry const& entry, std::exception const& error) {
  return entry.path + ": no memory to compute it: " + what_of(error);
}

/// Writes one file of a snapshot in steps: header, every entry piece by piece, end of file, checksum.
class FileSteps {
 public:
  FileSteps(std::string const& folder, bool shared, CheckpointHead const& head, std::vector<SavedEntry> const& entries,
            std::vector<std::string> const& index)
      : writer_(folder, shared, head), index_(index) {
    for (auto const& entry : entries)
      if (entry.shared == shared) entries_.push_back(&entry);
  }

  bool empty() const { return entries_.empty(); }
  /// Makes one step. Returns false when all is done.
  bool advance() {
    if (closed_) return writer_.read_back();
    if (!opened_) {
      writer_.open();
      opened_ = true;
    } else if (at_ < entries_.size()) {
      write_piece(*entries_[at_]);
    } else {
      writer_.close(index_);
      closed_ = true;
    }
    return true;
  }
  CheckpointFile report() const { return writer_.report(); }

 private:
  void write_piece(SavedEntry const& entry) {
    if (auto const* values = std::get_if<Floats>(&entry.value)) {
      std::int64_t const rows = std::min(entry.shape.at(0) - row_, rows_a_task(entry)), width = row_width(entry);
      writer_.rows(entry, row_,
                   values->subspan(static_cast<std::size_t>(row_ * width), static_cast<std::size_t>(rows * width)));
      row_ += rows;
      if (row_ < entry.shape[0]) return;
    } else {
      writer_.scalar(entry);
    }
    row_ = 0;
    ++at_;
  }

  CheckpointFileWriter writer_;
  std::vector<std::string> const& index_;
  std::vector<SavedEntry const*> entries_;
  bool opened_ = false, closed_ = false;
  std::size_t at_ = 0;
  std::int64_t row_ = 0;
};

/// Writes all files of one rank as tasks that each submit the next one, so that more urgent tasks run in between.
class WriteJob : public std::enable_shared_from_this<WriteJob> {
 public:
  WriteJob(input::IoThread& io, std::string const& folder, CheckpointHead head, Snapshot const& snapshot,
           HostBuffer memory)
      : io_(io),
        head_(std::move(head)),
        memory_(std::move(memory)),
        entries_(snapshot.entries()),
        index_(snapshot.index()) {
    for (bool const shared : {true, false}) {
      auto file = std::make_unique<FileSteps>(folder, shared, head_, entries_, index_);
      if (!file->empty()) files_.push_back(std::move(file));
    }
  }
  std::future<std::vector<CheckpointFile>> result() { return promise_.get_future(); }

  void go_on() {
    io_.submit(priority, [self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    try {
      if (at_ == files_.size()) {
        promise_.set_value(std::move(reports_));
        return;
      }
      if (!files_[at_]->advance()) {
        reports_.push_back(files_[at_]->report());
        files_[at_++].reset();
      }
    } catch (...) {
      files_.clear();  // HDF5 files must be closed on this thread
      promise_.set_exception(std::current_exception());
      return;
    }
    go_on();
  }

  input::IoThread& io_;
  CheckpointHead head_;
  HostBuffer memory_;  // memory of the entries' values
  std::vector<SavedEntry> entries_;
  std::vector<std::string> index_;
  std::vector<std::unique_ptr<FileSteps>> files_;
  std::vector<CheckpointFile> reports_;
  std::size_t at_ = 0;
  std::promise<std::vector<CheckpointFile>> promise_;
};

/// Writes each entry it visits. After a fault it continues the visit without writing, because other ranks continue.
class DirectWalk final : public EntryWalk {
 public:
  DirectWalk(input::IoThread& io, std::string folder, CheckpointHead const& head, TrainingState const& state)
      : EntryWalk(state, head.rank, head.ranks), io_(io), folder_(std::move(folder)), head_(head) {}
  ~DirectWalk() override {
    io_.run(priority, [this] {
      shared_.reset();
      own_.reset();
    });
  }

  std::vector<CheckpointFile> finish() {
    std::vector<CheckpointFile> reports;
    for (auto* const file : {&shared_, &own_}) {
      if (!*file) continue;
      attempt([&] { (*file)->close(index()); });
      for (bool more = true; more && fault_ == nullptr;) attempt([&] { more = (*file)->read_back(); });
      if (fault_ == nullptr) reports.push_back((*file)->report());
    }
    if (fault_ != nullptr) std::rethrow_exception(fault_);
    return reports;
  }

 private:
  template <class Work>
  void attempt(Work const& work) {
    if (fault_ == nullptr) try {
        io_.run(priority, work);
      } catch (...) {
        fault_ = std::current_exception();
      }
  }

  void entry(SavedEntry entry, Place place) override {
    if (fault_ != nullptr) return;
    auto& file = entry.shared ? shared_ : own_;
    if (!file) {
      file.emplace(folder_, entry.shared, head_);
      attempt([&] { file->open(); });
    }
    if (auto const* values = std::get_if<Floats>(&entry.value))
      by_rows(entry, [&](std::int64_t row, std::int64_t first, std::int64_t size) {
        write(*file, entry, row, values->subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)),
              place);
      });
    else if (auto const* formed = std::get_if<FormedValues const*>(&entry.value))
      by_rows(entry, [&](std::int64_t row, std::int64_t first, std::int64_t size) {
        try {
          (*formed)->give(first, size,
                          [&](std::int64_t, Floats piece) { write(*file, entry, row, piece, Place::device); });
        } catch (std::exception const& error) {
          fault_ = std::make_exception_ptr(RuntimeError(no_memory(entry, error)));
        }
      });
    else
      attempt([&] { file->scalar(entry); });
  }

  /// Calls step(row, first element, elements) for as many rows at a time as fit into a task.
  template <class Step>
  void by_rows(SavedEntry const& entry, Step const& step) const {
    std::int64_t const all = entry.shape.at(0), width = row_width(entry);
    std::int64_t row = 0;
    do {
      std::int64_t const rows = std::min(all - row, rows_a_task(entry));
      step(row, row * width, rows * width);
      row += rows;
    } while (row < all && fault_ == nullptr);
  }

  void write(CheckpointFileWriter& file, SavedEntry const& entry, std::int64_t row, Floats piece, Place place) {
    if (place == Place::device && !host_reads_training_memory() && fault_ == nullptr) {
      if (piece_.size() < piece.size()) piece_ = HostBuffer(piece.size());
      auto const copy = piece_.values().first(piece.size());
      copy_from_device(piece, copy);
      piece = copy;
    }
    attempt([&] { file.rows(entry, row, piece); });
  }

  input::IoThread& io_;
  std::string folder_;
  CheckpointHead const& head_;
  std::optional<CheckpointFileWriter> shared_, own_;
  HostBuffer piece_;
  std::exception_ptr fault_ = nullptr;
};

}  // namespace

void Snapshot::entry(SavedEntry entry, Place place) {
  if (auto* const values = std::get_if<Floats>(&entry.value)) {
    auto const copy = free_.first(values->size());
    free_ = free_.subspan(values->size());
    if (place == Place::device)
      copy_from_device(*values, copy);
    else
      std::ranges::copy(*values, copy.begin());
    *values = copy;
  } else if (auto const* const formed = std::get_if<FormedValues const*>(&entry.value)) {
    std::int64_t const all = (*formed)->count(), piece = rows_a_task(entry);
    auto const copy = free_.first(static_cast<std::size_t>(all));
    free_ = free_.subspan(copy.size());
    // Other ranks continue the walk, so the error is reported at its end.
    try {
      for (std::int64_t first = 0; first < all; first += piece)
        (*formed)->give(first, std::min(piece, all - first), [&](std::int64_t at, Floats numbers) {
          copy_from_device(numbers, copy.subspan(static_cast<std::size_t>(at), numbers.size()));
        });
    } catch (std::exception const& error) {
      fault_ = no_memory(entry, error);
    }
    entry.value = Floats(copy);
  }
  entries_.push_back(std::move(entry));
}

SnapshotWrite write_snapshot(input::IoThread& io, std::string const& folder, CheckpointHead head,
                             Snapshot const& snapshot, HostBuffer memory) {
  auto job = std::make_shared<WriteJob>(io, folder, std::move(head), snapshot, std::move(memory));
  auto files = job->result();
  return {.start = [job = std::move(job)] { job->go_on(); }, .files = std::move(files)};
}

std::vector<CheckpointFile> write_directly(input::IoThread& io, std::string const& folder, CheckpointHead const& head,
                                           TrainingState const& state) {
  DirectWalk direct(io, folder, head, state);
  walk(state, direct);
  return direct.finish();
}

}  // namespace bellwether::app
