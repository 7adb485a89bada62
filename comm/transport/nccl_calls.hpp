// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

/// Implements the collectives with NCCL calls: grouping, counts and offsets. Independent of Kokkos and MPI, so that
/// tests can replace the library on a machine without a GPU.
namespace bellwether::comm {

/// One rank's NCCL communicator, created with blocking = 0, and the stream for its calls.
class NcclCalls {
 public:
  /// poll: called repeatedly while a call is in progress; throws on a timeout. native_alltoall: use ncclAlltoAll, which
  /// the library must have.
  NcclCalls(ncclComm_t group, cudaStream_t stream, int rank, int size, std::function<void()> poll,
            bool native_alltoall = has_native_alltoall())
      : group_(group),
        stream_(stream),
        rank_(rank),
        size_(size),
        poll_(std::move(poll)),
        native_alltoall_(native_alltoall) {}

  /// Returns true if the loaded library has ncclAlltoAll (since 2.28).
  static bool has_native_alltoall();

  /// send, recv: (P * chunk) bytes. Uses ncclAlltoAll or else a group of sends and receives.
  void alltoall(std::byte const* send, std::byte* recv, std::int64_t chunk) const;
  /// Chunk j of send has send_bytes[j] bytes, chunk i of recv recv_bytes[i]; chunks are adjacent.
  void alltoallv(std::byte const* send, std::span<std::int64_t const> send_bytes, std::byte* recv,
                 std::span<std::int64_t const> recv_bytes) const;
  /// mine: (chunk) bytes -> all: (P * chunk).
  void allgather(std::byte const* mine, std::byte* all, std::int64_t chunk) const;
  /// Rank i's part has all_bytes[i] bytes; parts are adjacent.
  void allgatherv(std::byte const* mine, std::byte* all, std::span<std::int64_t const> all_bytes) const;
  struct Transfer {
    bool sends;
    int peer;
    std::byte* data;
    std::int64_t size;
  };
  void exchange(std::span<Transfer const> transfers) const;
  void sum(float* inout, std::int64_t count) const;

  /// Checks `status`. While it is "in progress", polls the state of the communicator.
  /// \throws RuntimeError with NCCL's error text for anything but success.
  void complete(ncclResult_t status, char const* call) const;

 private:
  /// Calls posts(), which posts sends and receives, between ncclGroupStart and ncclGroupEnd.
  template <class Posts>
  void grouped(Posts const& posts) const;
  void send(std::byte const* data, std::int64_t size, int peer) const;
  void receive(std::byte* data, std::int64_t size, int peer) const;

  ncclComm_t group_;
  cudaStream_t stream_;
  int rank_, size_;
  std::function<void()> poll_;
  bool native_alltoall_;
};

/// Returns NCCL's text for `status`, with the last error of the communicator.
std::string nccl_error(ncclResult_t status, ncclComm_t group);
/// Checks a call made without a communicator. \throws RuntimeError with NCCL's error text.
void check_nccl(ncclResult_t status, char const* call);
/// Returns the name and version of the loaded library, "NCCL 2.28.9".
std::string nccl_version();

}  // namespace bellwether::comm
