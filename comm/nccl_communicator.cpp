// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/nccl_communicator.hpp"

#include "comm/nccl_calls.hpp"
#include "comm/traffic_counter.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/status_cuda.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace bellwether::comm {
namespace {

/// One collective under way, with the events that order it; kept from one collective to the next.
class NcclOperation final : public Ticket::State {
 public:
  NcclOperation() {
    for (cudaEvent_t* event : {&ready_, &done_})
      check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  ~NcclOperation() {
    cudaEventDestroy(ready_);
    cudaEventDestroy(done_);
  }
  NcclOperation(NcclOperation const&) = delete;
  NcclOperation& operator=(NcclOperation const&) = delete;

  char const* label() const override { return label_; }
  bool busy() const { return busy_; }

  void begin(Exec const& exec, cudaStream_t stream, char const* name, Label label, std::int64_t bytes) {
    name_ = name;
    label_ = label;
    bytes_ = bytes;
    busy_ = true;
    caller_ = exec.cuda_stream();
    check_cuda(cudaEventRecord(ready_, caller_), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(stream, ready_, 0), "cudaStreamWaitEvent");
  }
  void started(cudaStream_t stream) {
    check_cuda(cudaEventRecord(done_, stream), "cudaEventRecord");
    since_ = Clock::now();
    under_way_ = true;
  }
  /// What the caller puts on its stream from here on comes after the collective.
  void finish() {
    check_cuda(cudaStreamWaitEvent(caller_, done_, 0), "cudaStreamWaitEvent");
    busy_ = false;
  }

  /// Looks at the device: false once the collective has ended there. Its time does not run before the work that it
  /// comes after has. \throws RuntimeError where the device has failed.
  bool under_way() {
    if (!under_way_) return false;
    if (!reached(ready_)) since_ = Clock::now();
    under_way_ = !reached(done_);
    return under_way_;
  }
  bool marked() const { return under_way_; }  ///< what under_way() has found last
  double seconds() const { return seconds_since(since_); }
  std::string description() const {
    return std::string(name_) + " " + label_ + ", " + std::to_string(bytes_) + " bytes from this rank";
  }

 private:
  static bool reached(cudaEvent_t event) {
    cudaError_t const status = cudaEventQuery(event);
    if (status == cudaErrorNotReady)
      cudaGetLastError();  // no error: nobody else is to find it
    else
      check_cuda(status, "cudaEventQuery");
    return status == cudaSuccess;
  }

  char const* name_ = "";
  Label label_ = "";
  std::int64_t bytes_ = 0;
  bool busy_ = false, under_way_ = false;
  cudaEvent_t ready_ = nullptr, done_ = nullptr;
  cudaStream_t caller_ = nullptr;
  Clock::time_point since_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, double deadline, Watchdog* watchdog)
      : host_(std::move(host)), counter_(host_->rank(), host_->size()), deadline_(deadline), watchdog_(watchdog) {
    std::vector<int> node_of(static_cast<std::size_t>(size()), 0);
    for (int peer = 0; peer < size(); ++peer)
      if (!host_->shares_node(peer)) node_of[static_cast<std::size_t>(peer)] = 1 + peer;
    counter_.set_nodes(node_of);
    check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    ncclUniqueId id;
    if (rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    host_->broadcast_host(std::as_writable_bytes(std::span(&id, 1)), 0, "bellwether::comm::nccl_id");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t const made = ncclCommInitRankConfig(&group_, size(), id, rank(), &config);
    calls_ = std::make_unique<NcclCalls>(group_, stream_, rank(), size(), [this] { poll(); });
    settle_or_fail("the start of NCCL", [&] { calls_->settle(made, "ncclCommInitRankConfig"); });
    watch_ = std::thread([this] { watch(); });
  }

  ~NcclCommunicator() override {
    {
      std::lock_guard const lock(mutex_);
      leaving_ = true;
    }
    leave_.notify_all();
    if (watch_.joinable()) watch_.join();
    // A group that is left while an exception unwinds would wait for ranks that do not come. Else what was waited for
    // ends on the device first: finalizing flushes it.
    bool aborts = aborted_ || std::uncaught_exceptions() > 0;
    if (!aborts && group_ != nullptr) {
      ncclResult_t status = ncclCommFinalize(group_);
      for (auto const start = Clock::now(); status == ncclInProgress && seconds_since(start) < deadline_;)
        if (ncclCommGetAsyncError(group_, &status) != ncclSuccess) break;
      aborts = status != ncclSuccess;
      if (!aborts) ncclCommDestroy(group_);
    }
    if (aborts && !aborted_ && group_ != nullptr) ncclCommAbort(group_);
    operations_.clear();
    cudaStreamDestroy(stream_);
  }

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  bool shares_node(int rank) const override { return counter_.shares_node(rank); }
  void set_nodes(std::span<int const> node_of) override {
    counter_.set_nodes(node_of);
    host_->set_nodes(node_of);
  }
  Traffic traffic() const override {
    Traffic sum = host_->traffic();
    sum.sent_bytes += counter_.traffic().sent_bytes;
    sum.inside_node_bytes += counter_.traffic().inside_node_bytes;
    sum.calls += counter_.traffic().calls;
    return sum;
  }
  void set_deadline(double seconds) override {
    deadline_ = seconds;
    host_->set_deadline(seconds);
  }

  Ticket start_alltoall(Exec const& exec, Bytes const& send, Bytes const& recv, Label label) override {
    require(send.size == recv.size && send.size % size() == 0, "all-to-all: not one equal chunk a rank");
    std::int64_t const chunk = send.size / size();
    return start(exec, "all-to-all", label, counter_.to_each(chunk),
                 [&] { calls_->alltoall(send.data, recv.data, chunk); });
  }
  Ticket start_alltoallv(Exec const& exec, Bytes const& send, std::span<std::int64_t const> send_bytes,
                         Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label label) override {
    require(counter_.covers(send_bytes, send) && counter_.covers(recv_bytes, recv),
            "all-to-all: chunks do not add up to the buffers");
    auto const mine = static_cast<std::size_t>(rank());
    require(send_bytes[mine] == recv_bytes[mine], "all-to-all: a rank's own chunk has two lengths");
    return start(exec, "all-to-all of uneven chunks", label, counter_.to_each(send_bytes),
                 [&] { calls_->alltoallv(send.data, send_bytes, recv.data, recv_bytes); });
  }
  Ticket start_allgather(Exec const& exec, Bytes const& mine, Bytes const& all, Label label) override {
    require(all.size == mine.size * size(), "all-gather: not one equal part a rank");
    return start(exec, "all-gather", label, counter_.to_each(mine.size),
                 [&] { calls_->allgather(mine.data, all.data, mine.size); });
  }
  Ticket start_allgatherv(Exec const& exec, Bytes const& mine, Bytes const& all,
                          std::span<std::int64_t const> all_bytes, Label label) override {
    require(counter_.covers(all_bytes, all) && all_bytes[static_cast<std::size_t>(rank())] == mine.size,
            "all-gather: parts do not add up to the buffers");
    return start(exec, "all-gather of uneven parts", label, counter_.to_each(mine.size),
                 [&] { calls_->allgatherv(mine.data, all.data, all_bytes); });
  }
  Ticket start_exchange(Exec const& exec, std::span<Message const> messages, Label label) override {
    transfers_.clear();
    for (auto const& message : messages)
      transfers_.push_back(
          {message.kind == Message::Kind::send, message.peer, message.buffer.data, message.buffer.size});
    return start(exec, "exchange", label, counter_.posted(messages), [&] { calls_->exchange(transfers_); });
  }
  Ticket start_library_sum(Exec const& exec, float* inout, std::int64_t count, Label label) override {
    return start(exec, "library sum", label, counter_.once(bytes(inout, count).size),
                 [&] { calls_->sum(inout, count); });
  }

  void wait(Ticket& ticket) override {
    require(ticket.pending(), "a ticket is waited for once");
    std::lock_guard const lock(mutex_);
    throw_failure();
    static_cast<NcclOperation&>(*ticket.state()).finish();
    ticket.release();
  }
  bool ended(Ticket const& ticket) override {
    require(ticket.pending(), "a ticket that was waited for is asked whether it has ended");
    std::lock_guard const lock(mutex_);
    throw_failure();
    return !static_cast<NcclOperation&>(*ticket.state()).under_way();
  }
  void progress() override {
    std::lock_guard const lock(mutex_);
    throw_failure();
  }
  bool leaves_host_free() const override { return true; }
  std::unique_ptr<Communicator> split(int color, int key) override {
    progress();
    return std::make_unique<NcclCommunicator>(host_->split(color, key), deadline_, watchdog_);
  }

  void sum_host(std::span<double> inout, Label label) override {
    progress();
    host_->sum_host(inout, label);
  }
  void broadcast_host(std::span<std::byte> inout, int root, Label label) override {
    progress();
    host_->broadcast_host(inout, root, label);
  }
  void barrier(Label label) override {
    progress();
    host_->barrier(label);
  }

 private:
  template <class Posts>
  Ticket start(Exec const& exec, char const* name, Label label, TrafficCounter::Sent const& sent, Posts const& posts) {
    std::lock_guard const lock(mutex_);
    throw_failure();
    auto free = std::find_if(operations_.begin(), operations_.end(), [](auto const& one) { return !one->busy(); });
    if (free == operations_.end()) {
      operations_.push_back(std::make_unique<NcclOperation>());
      free = operations_.end() - 1;
    }
    NcclOperation& operation = **free;
    operation.begin(exec, stream_, name, label, sent.all);
    if (watchdog_ != nullptr) watchdog_->begin(name, label, size());
    settle_or_fail(operation.description(), posts);
    operation.started(stream_);
    counter_.count(sent);
    return Ticket(operation);
  }

  /// Calls that may stay in progress, about `what`. \throws StuckCollective after the group was aborted.
  template <class Calls>
  void settle_or_fail(std::string const& what, Calls const& calls) {
    call_started_ = Clock::now();
    try {
      calls();
    } catch (RuntimeError const& error) {
      fail(what, std::string(", ended by ") + error.what());
      // Who is still being constructed has no destructor to come.
      if (!watch_.joinable()) cudaStreamDestroy(stream_);
      throw_failure();
    }
  }
  /// Between two looks at a call that has not come back: what never comes back ends by the deadline.
  void poll() const {
    if (seconds_since(call_started_) > deadline_)
      throw RuntimeError("a call that has not come back after " + std::to_string(seconds_since(call_started_)) + " s");
    std::this_thread::yield();
  }
  /// Kernels that wait for other ranks end, and with them whatever the host waits for.
  void fail(std::string const& what, std::string const& how) {
    failure_ = "stuck collective: " + what + place() + how + (watchdog_ != nullptr ? ", " + watchdog_->verdict() : "");
    if (group_ != nullptr) ncclCommAbort(group_);
    aborted_ = true;
  }
  std::string place() const { return ", rank " + std::to_string(rank()) + " of " + std::to_string(size()); }

  /// The communicator's own thread. Calls of NCCL and this one's never overlap: aborting is safe only then.
  void watch() {
    cudaSetDevice(device_);
    std::unique_lock lock(mutex_);
    while (!leaving_ && !aborted_) {
      leave_.wait_for(lock, std::chrono::milliseconds(100));
      std::string const ended = error_of_group_or_device();
      NcclOperation const* const oldest = oldest_under_way();
      double const waited = oldest != nullptr ? oldest->seconds() : 0;
      bool const late = waited > deadline_;
      if (watchdog_ != nullptr && waited > deadline_ / 2 && asked_ != oldest) watchdog_->ask();
      asked_ = waited > deadline_ / 2 ? oldest : nullptr;
      if (ended.empty() && !late) continue;
      std::string const what = oldest != nullptr ? oldest->description() : std::string("between collectives");
      fail(what, ended.empty() ? ", not finished after " + std::to_string(waited) + " s" : ", ended by " + ended);
    }
  }
  /// What NCCL or the device have met meanwhile; empty where all is well.
  std::string error_of_group_or_device() const {
    ncclResult_t status = ncclSuccess;
    ncclResult_t const asked = ncclCommGetAsyncError(group_, &status);
    if (asked != ncclSuccess) status = asked;
    if (status != ncclSuccess && status != ncclInProgress)
      return std::string("NCCL: ") + ncclGetErrorString(status) + ", " + ncclGetLastError(group_);
    try {
      for (auto const& operation : operations_) operation->under_way();
    } catch (RuntimeError const& error) {
      return error.what();
    }
    return "";
  }
  /// After error_of_group_or_device(), which looks at the device.
  NcclOperation const* oldest_under_way() const {
    NcclOperation const* oldest = nullptr;
    for (auto const& operation : operations_)
      if (operation->marked() && (oldest == nullptr || operation->seconds() > oldest->seconds()))
        oldest = operation.get();
    return oldest;
  }
  void throw_failure() const {
    if (aborted_) throw StuckCollective(failure_);
  }

  std::unique_ptr<Communicator> host_;
  TrafficCounter counter_;
  std::atomic<double> deadline_;
  Watchdog* watchdog_;
  NcclOperation const* asked_ = nullptr;  ///< the late one that the watchdog was asked about
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  ncclComm_t group_ = nullptr;
  std::unique_ptr<NcclCalls> calls_;
  std::vector<std::unique_ptr<NcclOperation>> operations_;
  std::vector<NcclCalls::Transfer> transfers_;
  Clock::time_point call_started_;

  std::mutex mutex_;  ///< of everything that both threads see
  std::condition_variable leave_;
  bool leaving_ = false, aborted_ = false;
  std::string failure_;
  std::thread watch_;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, double deadline,
                                                     Watchdog* watchdog) {
  return std::make_unique<NcclCommunicator>(std::move(host), deadline, watchdog);
}

}  // namespace bellwether::comm
