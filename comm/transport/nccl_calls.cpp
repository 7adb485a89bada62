// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/nccl_calls.hpp"

#include "core/system/error.hpp"

// Weak, so that a program linked with a newer NCCL also starts with an older one.
extern "C" __attribute__((weak)) ncclResult_t ncclAlltoAll(void const* from, void* to, std::size_t count,
                                                           ncclDataType_t type, ncclComm_t group, cudaStream_t stream);

namespace bellwether::comm {

void check_nccl(ncclResult_t status, char const* call) {
  if (status != ncclSuccess) throw RuntimeError(std::string(call) + ": " + ncclGetErrorString(status));
}

std::string nccl_error(ncclResult_t status, ncclComm_t group) {
  char const* const detail = ncclGetLastError(group);
  return ncclGetErrorString(status) +
         (detail != nullptr && *detail != '\0' ? std::string(", ") + detail : std::string());
}

std::string nccl_version() {
  int code = 0;
  check_nccl(ncclGetVersion(&code), "ncclGetVersion");
  return "NCCL " + std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

void NcclCalls::complete(ncclResult_t status, char const* call) const {
  while (status == ncclInProgress) {
    poll_();
    check_nccl(ncclCommGetAsyncError(group_, &status), "ncclCommGetAsyncError");
  }
  if (status != ncclSuccess) throw RuntimeError(std::string(call) + ": " + nccl_error(status, group_));
}

template <class Posts>
void NcclCalls::grouped(Posts const& posts) const {
  check_nccl(ncclGroupStart(), "ncclGroupStart");
  // An error of a post is reported by ncclGroupEnd(), which must be called in any case.
  posts();
  complete(ncclGroupEnd(), "a group of ncclSend and ncclRecv");
}

void NcclCalls::send(std::byte const* data, std::int64_t size, int peer) const {
  static_cast<void>(ncclSend(data, static_cast<std::size_t>(size), ncclUint8, peer, group_, stream_));
}

void NcclCalls::receive(std::byte* data, std::int64_t size, int peer) const {
  static_cast<void>(ncclRecv(data, static_cast<std::size_t>(size), ncclUint8, peer, group_, stream_));
}

bool NcclCalls::has_native_alltoall() { return &ncclAlltoAll != nullptr; }

void NcclCalls::alltoall(std::byte const* from, std::byte* to, std::int64_t chunk) const {
  if (native_alltoall_)
    return complete(ncclAlltoAll(from, to, static_cast<std::size_t>(chunk), ncclUint8, group_, stream_),
                    "ncclAlltoAll");
  grouped([&] {
    for (int peer = 0; peer < size_; ++peer) {
      send(from + peer * chunk, chunk, peer);
      receive(to + peer * chunk, chunk, peer);
    }
  });
}

void NcclCalls::alltoallv(std::byte const* from, std::span<std::int64_t const> send_bytes, std::byte* to,
                          std::span<std::int64_t const> recv_bytes) const {
  grouped([&] {
    for (int peer = 0; peer < size_; ++peer) {
      auto const at = static_cast<std::size_t>(peer);
      // Both sides know that a chunk is empty; neither posts it.
      if (send_bytes[at] > 0) send(from, send_bytes[at], peer);
      if (recv_bytes[at] > 0) receive(to, recv_bytes[at], peer);
      from += send_bytes[at];
      to += recv_bytes[at];
    }
  });
}

void NcclCalls::allgather(std::byte const* mine, std::byte* all, std::int64_t chunk) const {
  complete(ncclAllGather(mine, all, static_cast<std::size_t>(chunk), ncclUint8, group_, stream_), "ncclAllGather");
}

void NcclCalls::allgatherv(std::byte const* mine, std::byte* all, std::span<std::int64_t const> all_bytes) const {
  grouped([&] {
    for (int peer = 0; peer < size_; ++peer) {
      std::int64_t const own = all_bytes[static_cast<std::size_t>(rank_)];
      std::int64_t const theirs = all_bytes[static_cast<std::size_t>(peer)];
      if (own > 0) send(mine, own, peer);
      if (theirs > 0) receive(all, theirs, peer);
      all += theirs;
    }
  });
}

void NcclCalls::exchange(std::span<Transfer const> transfers) const {
  grouped([&] {
    for (auto const& transfer : transfers) {
      if (transfer.size == 0) continue;
      if (transfer.sends)
        send(transfer.data, transfer.size, transfer.peer);
      else
        receive(transfer.data, transfer.size, transfer.peer);
    }
  });
}

void NcclCalls::sum(float* inout, std::int64_t count) const {
  complete(ncclAllReduce(inout, inout, static_cast<std::size_t>(count), ncclFloat32, ncclSum, group_, stream_),
           "ncclAllReduce");
}

}  // namespace bellwether::comm
