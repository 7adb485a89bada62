// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/transport/stand_in_gpu.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

/// Each record creates a new version of an event. A wait refers to the newest version at the time of its call.
struct CUevent_st {
  long recorded = 0, reached = 0;
};
struct CUstream_st {
  std::deque<std::function<bool()>> work;  ///< each returns true once it has ended
};

namespace {

/// A send or receive of a collective, in call order.
struct Post {
  bool sends;
  int peer;
  void* data;
  std::size_t size;
};
struct Collective {
  std::vector<Post> posts;
  float* sum = nullptr;
  std::size_t count = 0;
  bool arrived = false, delivered = false;
};
struct Ranks;

}  // namespace

struct ncclComm {
  Ranks* ranks;
  int rank;
  bool open = false, finalized = false,
       gone = false;  ///< inside a group call; finalized; destroyed or aborted
  std::vector<std::unique_ptr<Collective>> collectives;
};

namespace {

struct Ranks {
  std::vector<ncclComm*> members;  ///< null until the rank has joined
  bool complete() const {
    for (auto const* one : members)
      if (one == nullptr) return false;
    return true;
  }
};

struct Machine {
  std::mutex mutex;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::vector<std::unique_ptr<CUevent_st>> events;
  std::vector<std::unique_ptr<ncclComm>> groups;
  std::map<char, Ranks> by_id;
  std::map<int, ncclResult_t> errors;
  cudaError_t device_error = cudaSuccess;
  char ids = 0;
  int aborted = 0, destroyed = 0, made = 0, held = 0;
  std::optional<int> events_left;
  std::string faults;
};
Machine machine;

/// Posts of a thread since its ncclGroupStart.
struct Open {
  ncclComm_t group = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Post> posts;
  int depth = 0;
};
thread_local Open open_group;

void fault(std::string const& text) { machine.faults += text + "; "; }

/// Delivers collective k once it is at the head of a stream on every rank. Sends and receives of a pair match in order.
void deliver(Ranks const& ranks, std::size_t k) {
  for (auto* one : ranks.members)
    if (one == nullptr || one->gone || one->collectives.size() <= k || !one->collectives[k]->arrived) return;
  auto const at = [&](std::size_t rank) -> Collective& { return *ranks.members[rank]->collectives[k]; };
  std::size_t const P = ranks.members.size();
  for (std::size_t from = 0; from < P; ++from)
    for (std::size_t to = 0; to < P; ++to) {
      std::vector<Post> sent, awaited;
      for (auto const& post : at(from).posts)
        if (post.sends && post.peer == static_cast<int>(to)) sent.push_back(post);
      for (auto const& post : at(to).posts)
        if (!post.sends && post.peer == static_cast<int>(from)) awaited.push_back(post);
      if (sent.size() != awaited.size()) return fault("a send without a receive");
      for (std::size_t i = 0; i < sent.size(); ++i) {
        if (sent[i].size != awaited[i].size) return fault("a send and its receive differ in size");
        std::memcpy(awaited[i].data, sent[i].data, sent[i].size);
      }
    }
  for (std::size_t i = 0; i < at(0).count; ++i) {
    float sum = 0;
    for (std::size_t rank = 0; rank < P; ++rank) sum += at(rank).sum[i];
    for (std::size_t rank = 0; rank < P; ++rank) at(rank).sum[i] = sum;
  }
  for (std::size_t rank = 0; rank < P; ++rank) at(rank).delivered = true;
}

void advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& stream : machine.streams)
      while (!stream->work.empty() && stream->work.front()()) {
        stream->work.pop_front();
        moved = true;
      }
  }
}

ncclResult_t state_of(ncclComm_t group) {
  auto const found = machine.errors.find(group->rank);
  if (found != machine.errors.end()) return found->second;
  if (group->finalized)
    for (auto const& one : group->collectives)
      if (!one->delivered) return ncclInProgress;
  return group->ranks->complete() ? ncclSuccess : ncclInProgress;
}

ncclResult_t put(ncclComm_t group, cudaStream_t stream, Collective collective) {
  if (group->gone) fault("a collective on a destroyed group");
  auto* const mine = group->collectives.emplace_back(std::make_unique<Collective>(std::move(collective))).get();
  std::size_t const k = group->collectives.size() - 1;
  stream->work.push_back([group, mine, k] {
    mine->arrived = true;
    if (!mine->delivered) deliver(*group->ranks, k);
    return mine->delivered || group->gone;
  });
  return state_of(group);
}

ncclResult_t post(ncclComm_t group, cudaStream_t stream, Post const& one) {
  if (open_group.depth == 0) fault("a send or receive outside a group call");
  open_group.group = group;
  group->open = true;
  open_group.stream = stream;
  open_group.posts.push_back(one);
  return ncclSuccess;
}

char* at(void const* data, std::size_t offset) { return static_cast<char*>(const_cast<void*>(data)) + offset; }

}  // namespace

namespace stand_in_gpu {

void reset() {
  std::lock_guard const lock(machine.mutex);
  machine.streams.clear();
  machine.events.clear();
  machine.groups.clear();
  machine.by_id.clear();
  machine.errors.clear();
  machine.device_error = cudaSuccess;
  machine.aborted = machine.destroyed = machine.made = machine.held = 0;
  machine.events_left.reset();
  machine.faults.clear();
}
cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}
void put_work(cudaStream_t stream, std::function<bool()> passes) {
  std::lock_guard const lock(machine.mutex);
  stream->work.push_back(std::move(passes));
}
bool idle(cudaStream_t stream) {
  std::lock_guard const lock(machine.mutex);
  advance();
  return stream->work.empty();
}
void fail_device(cudaError_t error) {
  std::lock_guard const lock(machine.mutex);
  machine.device_error = error;
}
void limit_events(int more) {
  std::lock_guard const lock(machine.mutex);
  machine.events_left = more;
}
void fail_rank(int rank, ncclResult_t error) {
  std::lock_guard const lock(machine.mutex);
  machine.errors[rank] = error;
}
int aborted() {
  std::lock_guard const lock(machine.mutex);
  return machine.aborted;
}
int destroyed() {
  std::lock_guard const lock(machine.mutex);
  return machine.destroyed;
}
int events() {
  std::lock_guard const lock(machine.mutex);
  return machine.made;
}
int held() {
  std::lock_guard const lock(machine.mutex);
  return machine.held;
}
std::string faults() {
  std::lock_guard const lock(machine.mutex);
  return machine.faults;
}

}  // namespace stand_in_gpu

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
char const* cudaGetErrorString(cudaError_t) { return "the device's own words"; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  std::lock_guard const lock(machine.mutex);
  *stream = machine.streams.emplace_back(std::make_unique<CUstream_st>()).get();
  ++machine.held;
  return cudaSuccess;
}
/// Work on the stream and waits on its events continue, as on a device.
cudaError_t cudaStreamDestroy(cudaStream_t) {
  std::lock_guard const lock(machine.mutex);
  --machine.held;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  std::lock_guard const lock(machine.mutex);
  if (machine.events_left && --*machine.events_left < 0) return cudaErrorMemoryAllocation;
  *event = machine.events.emplace_back(std::make_unique<CUevent_st>()).get();
  ++machine.made;
  ++machine.held;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  std::lock_guard const lock(machine.mutex);
  --machine.held;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::lock_guard const lock(machine.mutex);
  stream->work.push_back([event, version = ++event->recorded] {
    event->reached = version;
    return true;
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard const lock(machine.mutex);
  stream->work.push_back([event, version = event->recorded] { return event->reached >= version; });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  std::lock_guard const lock(machine.mutex);
  if (machine.device_error != cudaSuccess) return machine.device_error;
  advance();
  return event->reached >= event->recorded ? cudaSuccess : cudaErrorNotReady;
}

char const* ncclGetErrorString(ncclResult_t) { return "NCCL's own words"; }
char const* ncclGetLastError(ncclComm_t) { return "with detail"; }
ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::lock_guard const lock(machine.mutex);
  id->internal[0] = ++machine.ids;
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* group, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  std::lock_guard const lock(machine.mutex);
  if (config->blocking != 0) fault("a group with blocking = 1");
  auto& ranks = machine.by_id[id.internal[0]];
  ranks.members.resize(static_cast<std::size_t>(size));
  *group = machine.groups.emplace_back(std::make_unique<ncclComm>(&ranks, rank)).get();
  ranks.members.at(static_cast<std::size_t>(rank)) = *group;
  return state_of(*group);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t group, ncclResult_t* status) {
  std::lock_guard const lock(machine.mutex);
  if (group->gone) fault("a query of a destroyed group");
  advance();
  *status = state_of(group);
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t group) {
  std::lock_guard const lock(machine.mutex);
  group->finalized = true;
  return state_of(group);
}
ncclResult_t ncclCommDestroy(ncclComm_t group) {
  std::lock_guard const lock(machine.mutex);
  if (group->gone) fault("a group destroyed twice");
  if (!group->finalized) fault("a group destroyed before finalization");
  group->gone = true;
  ++machine.destroyed;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t group) {
  std::lock_guard const lock(machine.mutex);
  if (group->open) fault("a group aborted during its calls");
  if (group->gone) fault("a destroyed group aborted");
  group->gone = true;
  ++machine.aborted;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  std::lock_guard const lock(machine.mutex);
  --open_group.depth;
  Open const closed = std::move(open_group);
  open_group = {};
  closed.group->open = false;
  return put(closed.group, closed.stream, {.posts = closed.posts});
}
ncclResult_t ncclSend(void const* from, std::size_t count, ncclDataType_t, int peer, ncclComm_t group,
                      cudaStream_t stream) {
  return post(group, stream, {true, peer, const_cast<void*>(from), count});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t group, cudaStream_t stream) {
  return post(group, stream, {false, peer, to, count});
}
ncclResult_t ncclAllGather(void const* from, void* to, std::size_t count, ncclDataType_t, ncclComm_t group,
                           cudaStream_t stream) {
  std::lock_guard const lock(machine.mutex);
  Collective all;
  for (std::size_t peer = 0; peer < group->ranks->members.size(); ++peer) {
    all.posts.push_back({true, static_cast<int>(peer), at(from, 0), count});
    all.posts.push_back({false, static_cast<int>(peer), at(to, peer * count), count});
  }
  return put(group, stream, std::move(all));
}
ncclResult_t ncclAlltoAll(void const* from, void* to, std::size_t count, ncclDataType_t, ncclComm_t group,
                          cudaStream_t stream) {
  std::lock_guard const lock(machine.mutex);
  Collective all;
  for (std::size_t peer = 0; peer < group->ranks->members.size(); ++peer) {
    all.posts.push_back({true, static_cast<int>(peer), at(from, peer * count), count});
    all.posts.push_back({false, static_cast<int>(peer), at(to, peer * count), count});
  }
  return put(group, stream, std::move(all));
}
ncclResult_t ncclAllReduce(void const*, void* to, std::size_t count, ncclDataType_t, ncclRedOp_t, ncclComm_t group,
                           cudaStream_t stream) {
  std::lock_guard const lock(machine.mutex);
  return put(group, stream, {.posts = {}, .sum = static_cast<float*>(to), .count = count});
}
}
