// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/session.hpp"

#include "app/agreement.hpp"
#include "app/command_line.hpp"
#include "comm/world.hpp"
#include "input/hdf5_file.hpp"

namespace bellwether::app {

Session::Session(int argc, char** argv) : argc_(argc), argv_(argv) {}

Session::~Session() = default;

comm::World& Session::world() {
  if (!world_) {
    if (auto const fault = comm::World::fault_of_threads(); !fault.empty()) throw CommonError(fault);
    input::start_hdf5();
    try {
      world_ = std::make_unique<comm::World>(argc_, argv_);
    } catch (InputError const& error) {  // on every rank
      throw CommonError(error.faults());
    }
  }
  return *world_;
}

int Session::rank() const { return world_ ? world_->rank() : 0; }

bool Session::tells() const { return world_ ? world_->rank() == 0 : tells_faults(); }

int Session::size() const { return world_ ? world_->size() : 1; }

void Session::note_end(int exit_code) const {
  if (world_) world_->note_end(exit_code);
}

void Session::end_other_ranks(int exit_code, std::string const& message, double patience) const {
  if (world_ && world_->size() > 1) world_->abort(exit_code, message, patience);
}

}  // namespace bellwether::app
