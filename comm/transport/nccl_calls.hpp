// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

/// The calls of NCCL that collectives are made of: which, in what groups, with which counts and offsets. Sees neither
/// Kokkos nor MPI, so that a test can stand in for the library on a machine without a GPU.
namespace bellwether::comm {

/// One rank's end of an NCCL communicator, made with blocking = 0, and the stream that its calls are put on.
class NcclCalls {
 public:
  /// poll is called between two looks at a call that is still in progress; it throws where that takes too long.
  /// native_alltoall: whether to call ncclAlltoAll, which the library must have.
  NcclCalls(ncclComm_t group, cudaStream_t stream, int rank, int size, std::function<void()> poll,
            bool native_alltoall = has_native_alltoall())
      : group_(group),
        stream_(stream),
        rank_(rank),
        size_(size),
        poll_(std::move(poll)),
        native_alltoall_(native_alltoall) {}

  /// Whether the library that is loaded has ncclAlltoAll, as those from 2.28 on do.
  static bool has_native_alltoall();

  /// send, recv: (P * chunk) bytes. By the native call, else in a group of sends and receives.
  void alltoall(std::byte const* send, std::byte* recv, std::int64_t chunk) const;
  /// Chunk j of send is send_bytes[j] long, chunk i of recv recv_bytes[i]; chunks are adjacent.
  void alltoallv(std::byte const* send, std::span<std::int64_t const> send_bytes, std::byte* recv,
                 std::span<std::int64_t const> recv_bytes) const;
  /// mine: (chunk) bytes -> all: (P * chunk).
  void allgather(std::byte const* mine, std::byte* all, std::int64_t chunk) const;
  /// Rank i's part is all_bytes[i] long; parts are adjacent.
  void allgatherv(std::byte const* mine, std::byte* all, std::span<std::int64_t const> all_bytes) const;
  struct Transfer {
    bool sends;
    int peer;
    std::byte* data;
    std::int64_t size;
  };
  void exchange(std::span<Transfer const> transfers) const;
  void sum(float* inout, std::int64_t count) const;

  /// Looks at `status`, and at the group while that says "in progress".
  /// \throws RuntimeError with the library's own text for anything but success.
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

/// The library's own text, with what it says of the group beside.
std::string nccl_error(ncclResult_t status, ncclComm_t group);
/// \throws RuntimeError with the library's own text, for calls outside a communicator.
void check_nccl(ncclResult_t status, char const* call);
/// "NCCL 2.28.9", of the library that is loaded.
std::string nccl_version();

}  // namespace bellwether::comm
