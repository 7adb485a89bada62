// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_ranks.hpp"

#include "comm/transport/call_guard.hpp"
#include "comm/transport/mpi_check.hpp"
#include "core/system/error.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>
#include <vector>

namespace bellwether::comm {
namespace {

constexpr auto when = "at start-up";

int count_of(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "too long for a collective at start-up");
  return static_cast<int>(size);
}

}  // namespace

MpiRanks::MpiRanks(int& argc, char**& argv, double timeout) : timeout_(timeout) {
  int provided = MPI_THREAD_SINGLE;
  {
    CallGuard const guard(BeforeMpi(), "MPI_Init_thread", when, timeout_);
    check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  }
  if (provided < MPI_THREAD_SERIALIZED)
    throw RuntimeError("this MPI allows calls from the main thread only; required: MPI_THREAD_SERIALIZED or more");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
}

MpiRanks::~MpiRanks() {
  if (std::uncaught_exceptions() != 0) return;
  CallGuard const guard("MPI_Finalize", "at the end", timeout_);
  MPI_Finalize();
}

void MpiRanks::sum_host(std::span<double> inout, Label) {
  if (size_ == 1 || inout.empty()) return;
  int const count = count_of(inout.size());
  std::vector<double> gathered(inout.size() * static_cast<std::size_t>(size_));
  {
    CallGuard const guard("MPI_Allgather", when, timeout_);
    check_mpi(MPI_Allgather(inout.data(), count, MPI_DOUBLE, gathered.data(), count, MPI_DOUBLE, MPI_COMM_WORLD),
              "MPI_Allgather");
  }
  for (std::size_t k = 0; k < inout.size(); ++k) {
    inout[k] = gathered[k];
    for (std::size_t from = 1; from < static_cast<std::size_t>(size_); ++from)
      inout[k] += gathered[from * inout.size() + k];
  }
}

void MpiRanks::broadcast_host(std::span<std::byte> inout, int root, Label) {
  if (size_ == 1 || inout.empty()) return;
  CallGuard const guard("MPI_Bcast", when, timeout_);
  check_mpi(MPI_Bcast(inout.data(), count_of(inout.size()), MPI_BYTE, root, MPI_COMM_WORLD), "MPI_Bcast");
}

void MpiRanks::barrier(Label) {
  CallGuard const guard("MPI_Barrier", when, timeout_);
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

std::string MpiRanks::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string line(text, static_cast<std::size_t>(length));
  return line.substr(0, line.find_first_of(",\n"));
}

void MpiRanks::abort(int exit_code, std::string_view message, double patience) const {
  std::fflush(stdout);
  std::fprintf(stderr, "[rank %d] %.*s\n", rank_, static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
  if (size_ > 1) {
    std::this_thread::sleep_for(std::chrono::duration<double>(patience));
    leave_after(10, exit_code);  // MPI_Abort may hang
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  // A single rank has no others to inform, and the output of MPI_Abort would bury the message.
  MPI_Finalize();
  std::_Exit(exit_code);
}

}  // namespace bellwether::comm
