// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_start.hpp"

#include "app/launch/collective_errors.hpp"
#include "app/train/run_directory.hpp"
#include "app/train/shared_directory.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <exception>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

/// Returns the topmost missing folder of the path `directory`; empty if all exist.
fs::path topmost_missing(fs::path directory) {
  fs::path missing;
  for (; !directory.empty() && !fs::exists(directory); directory = directory.parent_path()) missing = directory;
  return missing;
}

}  // namespace

RunStart::RunStart(std::string const& directory, bool resume, comm::RankGroup& group, std::string const& host)
    : group_(group), directory_(directory), log_(directory) {
  try {
    take(directory, resume);
    require_shared(group_, directory, host);
  } catch (CommonError const&) {
    withdraw();
    throw;
  } catch (CommonFailure const&) {
    withdraw();
    throw;
  }
}

void RunStart::take(std::string const& directory, bool resume) {
  together(group_, [&] {
    if (group_.rank() != 0) return;
    try {
      if (!resume && holds_run(directory))
        throw InputError("run.directory: " + directory +
                         " holds a run already; continue it with --resume or name another directory");
      require_possible(directory);
      made_ = topmost_missing(directory_);
      fs::create_directories(directory_);
      lock_ = std::make_unique<RunLock>(directory);
      require_own_folders(directory);
    } catch (InputError const&) {
      throw;
    } catch (input::NoRoom const& error) {
      throw RuntimeError("run.directory: " + directory + ": " + error.what());
    } catch (fs::filesystem_error const& error) {
      input::throw_unwritable("run.directory: " + directory, error.code().value());
    } catch (std::exception const& error) {
      throw InputError("run.directory: " + directory + ": " + error.what());
    }
  });
}

void RunStart::enter(std::int64_t step) {
  together(group_, [&] {
    if (group_.rank() != 0) return;
    log_.require_progress(step);
    log_.append(step, group_.size());
    entered_ = true;
  });
}

void RunStart::got_to(std::int64_t step) {
  if (entered_ && loss().empty()) log_.append_checkpoint(step);
}

void RunStart::withdraw() noexcept try {
  if (!lock_ || !loss().empty()) return;
  if (entered_) log_.remove_last();
  entered_ = false;
  if (made_.empty()) return;
  fs::remove(directory_ / ".lock");
  for (auto folder = directory_; fs::is_empty(folder); folder = folder.parent_path()) {
    fs::remove(folder);
    if (folder == made_) return;
  }
} catch (std::exception const&) {
  // A line or a folder that stays must not hide the error that the user is about to see.
}

std::string RunStart::loss() const { return lock_ ? lock_->loss() : ""; }

void RunStart::require_kept() const {
  if (auto const text = loss(); !text.empty()) throw RuntimeError(text);
}

void RunStart::require_kept_together() {
  together(group_, [&] { require_kept(); });
}

std::string RunStart::warning() const { return lock_ ? lock_->warning() : ""; }

}  // namespace bellwether::app
