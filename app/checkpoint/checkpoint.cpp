// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint.hpp"

#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/checkpoint/checkpoint_reader.hpp"
#include "app/checkpoint/checkpoint_snapshot.hpp"
#include "app/checkpoint/device_copy.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/session.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"
#include "core/system/system_limits.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace bellwether::app {
namespace {

constexpr auto priority = input::IoThread::Priority::checkpoint;

template <class T>
bool is_ready(std::future<T> const& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Stores the value and returns an empty text, or returns the error's text. If invalid values are the cause, also
/// stores it in `unsound`.
template <class T>
std::string outcome(std::future<T>& future, T& value, std::string& unsound) {
  try {
    value = future.get();
    return "";
  } catch (UnsoundValues const& error) {
    return unsound = error.what();
  } catch (std::exception const& error) {
    return what_of(error);
  }
}

}  // namespace

struct Checkpoints::Impl {
  CheckpointFolder folder;
  CheckpointOptions options;
  comm::RankGroup& group;
  input::IoThread& io;
  CheckpointHooks hooks;

  /// writing: every rank writes its files. completing: rank 0 writes the manifest, renames the folder and removes older
  /// ones.
  enum class Stage { idle, writing, completing } stage = Stage::idle;
  std::int64_t step = 0, position = 0;
  /// Starts writing. Called at this rank's next poll(), after another step in training. By then every rank has its
  /// copy; copying is slower next to a rank that writes.
  std::function<void()> start_writing{};
  RunClock::duration copying{};
  std::future<std::vector<CheckpointFile>> written{};
  std::future<std::vector<std::string>> completed{};
  /// Skipped steps change only the position.
  struct Saved {
    std::int64_t step, position;
    bool operator==(Saved const&) const = default;
  };
  std::optional<Saved> last{};
  std::set<std::int64_t> damaged{};  // steps whose checkpoints were skipped
  RunClock::time_point began{};
  std::optional<double> longest{};
  HostBuffer memory{};  // of the snapshot

  bool is_root() const { return group.rank() == 0; }

  void begin(std::int64_t new_step, std::string const& deck, TrainingState const& state) {
    began = RunClock::now();
    std::string fault;
    if (is_root()) try {
        hooks.may_write();
        folder.prepare(new_step);
      } catch (RuntimeError const& error) {
        fault = error.what();
      }
    raise(first_fault(group, fault));
    finish_device_work();
    step = new_step;
    position = state.position();
    CheckpointHead head{.step = step,
                        .rank = group.rank(),
                        .ranks = group.size(),
                        .deck = deck,
                        .layout_fingerprint = state.layout.fingerprint(),
                        .active = state.layout.active_counts()};
    auto const temporary = folder.temporary_path(step);
    if (options.asynchronous) {
      reserve(state);
      Snapshot snapshot(state, head.rank, head.ranks, memory);
      walk(state, snapshot);
      fault = first_fault(group, snapshot.fault());
      if (!fault.empty()) discard();
      raise(fault);
      auto write = write_snapshot(io, temporary, std::move(head), snapshot, memory);
      written = std::move(write.files);
      start_writing = std::move(write.start);
      copying = RunClock::now() - began;
    } else {
      std::packaged_task<std::vector<CheckpointFile>()> now([&] { return write_directly(io, temporary, head, state); });
      written = now.get_future();
      now();
    }
    stage = Stage::writing;
  }

  /// Allocates the memory of the copy. No checkpoint may be in progress.
  void reserve(TrainingState const& state) {
    if (!options.asynchronous) return;
    together(group, [&] {
      auto const bytes = checkpoint_bytes(state, group.rank(), group.size());
      auto const count = static_cast<std::size_t>(bytes) / sizeof(float);
      if (memory.size() >= count) return;
      memory = {};
      try {
        memory = HostBuffer(count);
      } catch (std::exception const&) {
        throw RuntimeError("checkpoint not written: no memory for a copy of " + bytes_text(bytes) +
                           "; checkpoint.asynchronous: false needs no copy");
      }
    });
  }

  void start() {
    if (!start_writing) return;
    began = RunClock::now() - copying;
    std::exchange(start_writing, nullptr)();
  }

  /// Waits, with warnings: a file system may hang for a long time.
  template <class T>
  void await(std::future<T> const& future) const {
    std::chrono::duration<double> const patience(options.patience);
    auto const start = RunClock::now();
    auto waited = patience;
    while (future.wait_for(patience) != std::future_status::ready) {
      if (seconds_since(start) < waited.count()) continue;  // the process was suspended meanwhile
      if (is_root())
        hooks.warn(formatted("step %lld: training has waited for %.0f s for its checkpoint to be written to ",
                             static_cast<long long>(step), waited.count()) +
                   folder.temporary_path(step));
      waited += patience;
    }
  }

  /// Advances as far as possible without waiting. Returns true if a stage ended.
  bool advance() {
    start();
    bool const mine = stage == Stage::writing ? is_ready(written) : !is_root() || is_ready(completed);
    double ready = mine ? 1 : 0;
    group.sum_host({&ready, 1}, "bellwether::checkpoint::ready");
    if (ready < group.size()) return false;
    if (stage == Stage::writing)
      end_writing();
    else
      end_completing();
    return true;
  }

  void end_writing() {
    stage = Stage::idle;
    damaged.erase(step);  // the new checkpoint replaces it
    std::vector<CheckpointFile> files;
    std::string unsound;
    auto const fault = first_fault(group, outcome(written, files, unsound));
    if (!fault.empty()) {
      unsound = first_fault(group, unsound);
      discard();
    }
    if (!unsound.empty())
      throw UnsoundState(
          "step " + std::to_string(step) + ": checkpoint not written: " + unsound +
          "; training cannot continue from such a state: continue with --resume from an older checkpoint");
    raise(fault);
    Manifest manifest{step, group.size(), gather(files)};
    if (is_root())
      completed = io.submit(priority, [this, manifest] {
        hooks.may_write();
        hooks.may_complete();
        folder.complete(manifest);
        hooks.may_write();
        return folder.prune(manifest.step, options.keep, damaged);
      });
    stage = Stage::completing;
  }

  void end_completing() {
    stage = Stage::idle;
    std::vector<std::string> left_over;
    std::string unsound;
    auto const fault = first_fault(group, is_root() ? outcome(completed, left_over, unsound) : "");
    if (!fault.empty()) discard();
    raise(fault);
    for (auto const& text : left_over) hooks.warn(text);
    last = Saved{step, position};
    longest = std::max(longest.value_or(0), seconds_since(began));
  }

  /// Removes the incomplete checkpoint, because the next one may need its disk space.
  void discard() const {
    if (!is_root()) return;
    try {
      hooks.may_write();
    } catch (RuntimeError const&) {
      return;  // what has this name now is not this object's
    }
    if (auto const fault = folder.discard(step); !fault.empty()) hooks.warn(fault);
  }

  /// Collects the files of all ranks on rank 0, one rank after another, because the lists are short.
  std::vector<CheckpointFile> gather(std::vector<CheckpointFile> const& mine) {
    std::vector<CheckpointFile> all;
    for (int rank = 0; rank < group.size(); ++rank) {
      std::ostringstream out;
      if (rank == group.rank())
        for (auto const& file : mine) out << file.name << ' ' << file.bytes << ' ' << file.checksum << '\n';
      std::istringstream in(broadcast_text(group, out.str(), rank));
      for (CheckpointFile file; in >> file.name >> file.bytes >> file.checksum;) all.push_back(file);
    }
    return all;
  }

  void raise(std::string const& fault) const {
    if (!fault.empty()) throw CommonFailure("checkpoint not written: " + fault);
  }

  /// Returns the manifest if the checkpoint is complete; otherwise prints a warning and returns nothing. The same on
  /// every rank.
  std::optional<Manifest> examine(std::int64_t candidate) {
    std::string fault, text;
    if (is_root()) try {
        text = folder.read_manifest(candidate).text();
      } catch (InputError const& error) {
        fault = error.what();
      }
    fault = first_fault(group, fault);
    std::optional<Manifest> manifest;
    if (fault.empty()) {
      manifest = Manifest::parse(broadcast_text(group, text));
      std::string mine, lock;
      for (std::size_t i = 0; i < manifest->files.size() && mine.empty() && lock.empty(); ++i)
        if (static_cast<int>(i % static_cast<std::size_t>(group.size())) == group.rank()) try {
            lock = folder.lock_on(candidate, manifest->files[i]);
            if (lock.empty()) mine = folder.fault_in(candidate, manifest->files[i]);
          } catch (RuntimeError const& error) {
            mine = error.what();
          }
      // A file that another program writes is not damaged, so an older checkpoint must not silently replace this one.
      if (lock = first_fault(group, lock); !lock.empty()) throw CommonError(lock);
      fault = first_fault(group, mine);
    }
    if (fault.empty()) return manifest;
    damaged.insert(candidate);
    if (is_root()) hooks.warn("checkpoint skipped: " + fault);
    return std::nullopt;
  }
};

Checkpoints::Checkpoints(std::string directory, CheckpointOptions const& options, comm::RankGroup& group,
                         input::IoThread& io, CheckpointHooks hooks)
    : impl_(new Impl{CheckpointFolder(std::move(directory)), options, group, io, std::move(hooks)}) {}

Checkpoints::~Checkpoints() {
  // The last task refers to this object.
  if (impl_->completed.valid()) impl_->completed.wait();
}

void Checkpoints::reserve(TrainingState const& state) { impl_->reserve(state); }

void Checkpoints::save(std::int64_t step, std::string const& deck, TrainingState const& state) {
  Impl::Saved const now{step, state.position()};
  if (impl_->stage != Impl::Stage::idle && Impl::Saved{impl_->step, impl_->position} == now) return;
  wait();
  if (impl_->last == now) return;
  impl_->begin(step, deck, state);
  if (!impl_->options.asynchronous) wait();
}

void Checkpoints::poll() {
  if (impl_->stage != Impl::Stage::idle) impl_->advance();
}

void Checkpoints::wait() {
  while (impl_->stage != Impl::Stage::idle) {
    impl_->start();
    if (impl_->stage == Impl::Stage::writing)
      impl_->await(impl_->written);
    else if (impl_->is_root())
      impl_->await(impl_->completed);
    impl_->advance();
  }
}

std::optional<std::int64_t> Checkpoints::last_complete() const {
  return impl_->last ? std::optional(impl_->last->step) : std::nullopt;
}
std::optional<double> Checkpoints::longest_seconds() const { return impl_->longest; }

std::string Checkpoints::newest_path() const {
  try {
    for (auto const step : impl_->folder.steps())
      if (!impl_->damaged.contains(step) && impl_->folder.has_manifest(step)) return impl_->folder.complete_path(step);
  } catch (InputError const&) {
    // The caller prints an error; failing here must not hide it.
  }
  return "";
}

std::string Checkpoints::path(std::int64_t step) const { return impl_->folder.complete_path(step); }

std::optional<FoundCheckpoint> Checkpoints::find_latest() {
  std::string list;
  together(impl_->group, [&] {
    if (!impl_->is_root()) return;
    for (auto const& text : impl_->folder.recover()) impl_->hooks.warn("checkpoint skipped: " + text);
    for (auto const step : impl_->folder.steps()) list += std::to_string(step) + '\n';
  });
  list = broadcast_text(impl_->group, list);
  std::istringstream steps(list);
  for (std::int64_t step = 0; steps >> step;) {
    auto const manifest = impl_->examine(step);
    if (!manifest) continue;
    FoundCheckpoint found{impl_->folder.complete_path(step), step, manifest->ranks, ""};
    for (auto const& file : manifest->files) found.files.push_back(file.name);
    together(impl_->group, [&] {
      if (!impl_->is_root()) return;
      found.deck = impl_->io.run(priority, [&] {
        auto const file = input::Hdf5File::open((std::filesystem::path(found.path) / "replicated.h5").string());
        auto const texts = file.read_texts("deck");
        if (texts.size() != 1) throw InputError(file.path() + ": data set 'deck': allowed: one text");
        return texts.front();
      });
    });
    found.deck = broadcast_text(impl_->group, found.deck);
    return found;
  }
  // Starting at step 0 would overwrite the record of these steps, so the user must ask for it.
  if (!list.empty())
    throw CommonError(
        impl_->folder.path() +
        ": holds checkpoints, but none is usable; restore one, or move the folder elsewhere to start at step 0");
  return std::nullopt;
}

void Checkpoints::load(FoundCheckpoint const& found, TrainingState const& state) {
  CheckpointReader reader(found, state.layout, impl_->group, impl_->io);
  try {
    walk(state, reader);
  } catch (std::exception const& error) {
    reader.fault(what_of(error));
  }
  reader.check_layout(state.key_of_active ? state.key_of_active() : "");
  reader.finish();
  impl_->last = Impl::Saved{found.step, state.position()};
}

}  // namespace bellwether::app
