// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint.hpp"
#include "app/launch/collective_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/checkpoint/fake_owner.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

/// The checkpoints of a FakeOwner in a run directory that all ranks share.
namespace bellwether::test {

// Start HDF5 before MPI, as the program does. Otherwise MPI_Finalize would close files whose writes failed.
[[maybe_unused]] inline bool const hdf5_is_started = (input::start_hdf5(), true);

inline comm::Communicator& everyone() { return world().communicator(); }

/// A run directory that all ranks share, removed at the end.
class SharedFolder {
 public:
  SharedFolder() {
    static int count = 0;
    path_ = app::broadcast_text(everyone(),
                                (std::filesystem::temp_directory_path() /
                                 ("bellwether-checkpoint-" + std::to_string(getpid()) + "-" + std::to_string(count++)))
                                    .string());
    if (everyone().rank() == 0) std::filesystem::create_directories(path_);
    everyone().barrier("bellwether::test::made");
  }
  ~SharedFolder() {
    everyone().barrier("bellwether::test::used");
    std::error_code ignored;
    if (everyone().rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  std::string const& path() const { return path_; }
  std::string step(std::int64_t n) const { return path_ + "/checkpoints/step_" + std::to_string(n); }

 private:
  std::string path_;
};

/// Changes files on rank 0 while the other ranks wait.
inline void on_rank_0(std::function<void()> const& change) {
  everyone().barrier("bellwether::test::before_change");
  if (everyone().rank() == 0) change();
  everyone().barrier("bellwether::test::after_change");
}

struct CheckpointFixture {
  explicit CheckpointFixture(app::CheckpointOptions const& options = {.keep = 0},
                             comm::Communicator& ranks = everyone(), SharedFolder const* shared = nullptr)
      : communicator(ranks) {
    if (shared == nullptr) own.emplace();
    folder = shared != nullptr ? shared : &*own;
    checkpoints.emplace(folder->path(), options, ranks, io,
                        app::CheckpointHooks{.warn = [this](std::string const& text) { warnings += text + '\n'; }});
  }
  FakeOwner owner(float salt) const { return {communicator.rank(), communicator.size(), salt}; }
  void save(std::int64_t step, float salt) {
    auto state = owner(salt);
    checkpoints->save(step, "deck of step " + std::to_string(step), state.state());
    std::ranges::fill(state.parameters, -1.0F);  // the checkpoint must hold a copy
    checkpoints->wait();
  }

  comm::Communicator& communicator;
  std::optional<SharedFolder> own;
  SharedFolder const* folder = nullptr;
  input::IoThread io;
  std::string warnings;
  std::optional<app::Checkpoints> checkpoints;
};

inline void check_equal(FakeOwner const& found, FakeOwner const& wanted) {
  CHECK(found.parameters == wanted.parameters);
  CHECK(found.momentum == wanted.momentum);
  CHECK(found.slice == wanted.slice);
  CHECK(found.steps == wanted.steps);
  CHECK(found.position == wanted.position);
  CHECK(found.rate == wanted.rate);
}

}  // namespace bellwether::test
