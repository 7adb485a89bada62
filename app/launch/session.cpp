// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/session.hpp"

#include "app/launch/collective_errors.hpp"
#include "app/launch/launcher.hpp"
#include "comm/transport/call_guard.hpp"
#include "comm/transport/mpi_ranks.hpp"
#include "comm/transport/world.hpp"
#include "core/system/environment.hpp"
#include "input/hdf5/hdf5_file.hpp"

#include <optional>
#include <thread>

namespace bellwether::app {
namespace {

/// Runs `work` and collects the faults of an InputError.
template <class Work>
void collect(std::vector<std::string>& faults, Work const& work) {
  try {
    work();
  } catch (InputError const& error) {
    faults.insert(faults.end(), error.faults().begin(), error.faults().end());
  }
}

}  // namespace

Session::Session(int argc, char** argv, GivenCommand given) : argc_(argc), argv_(argv), given_(std::move(given)) {}

Session::~Session() = default;

comm::World& Session::world() {
  if (world_) return *world_;
  // Find errors before MPI starts, but print them after, because MPI knows which rank prints. A lone process needs no
  // MPI for that.
  auto faults = faults_of_threads(comm::World::openmp_limits());
  if (faults.empty())
    if (auto const fault = comm::World::fault_of_threads(); !fault.empty()) {
      // MPI and the guards of its calls need threads, too, so ranks cannot communicate to print it only once.
      std::this_thread::sleep_for(turn_to_tell());
      throw CommonError(fault);
    }
  double timeout = comm::usual_start_timeout;
  collect(faults, [&] { timeout = comm::start_timeout(); });
  collect(faults, [] { input::start_hdf5(); });
  bool const launched = has_launcher();
  if (!faults.empty() && !launched) throw CommonError(faults);
  // Variables that a shell inherited or a user exported do not count.
  auto const tasks = launched ? launched_tasks() : std::nullopt;
  ranks_ = std::make_unique<comm::MpiRanks>(argc_, argv_, timeout);
  // Each task would be a separate job, and all would write to one run directory.
  if (tasks && ranks_->size() == 1) faults.push_back(fault_of_launcher(*tasks, comm::MpiRanks::library()));
  raise_together(*ranks_, faults);
  require_same_command(*ranks_, given_);
  try {
    world_ = std::make_unique<comm::World>(*ranks_);
  } catch (InputError const& error) {  // on every rank
    throw CommonError(error.faults());
  }
  return *world_;
}

int Session::rank() const { return ranks_ ? ranks_->rank() : 0; }

int Session::size() const { return ranks_ ? ranks_->size() : 1; }

void Session::note_end(int exit_code) const {
  if (world_) world_->note_end(exit_code);
}

void Session::end_other_ranks(int exit_code, std::string const& message, double patience) const {
  if (ranks_ && ranks_->size() > 1) ranks_->abort(exit_code, message, patience);
}

}  // namespace bellwether::app
