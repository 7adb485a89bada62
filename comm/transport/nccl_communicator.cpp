// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/nccl_communicator.hpp"

#include "comm/transport/nccl_group.hpp"
#include "comm/transport/traffic_counter.hpp"
#include "core/system/error.hpp"

namespace bellwether::comm {
namespace {

/// Message that creates the group: the id, or the error status.
struct Invitation {
  ncclUniqueId id;
  ncclResult_t status;
};

ncclUniqueId shared_id(Communicator& host) {
  Invitation invitation{};
  if (host.rank() == 0) invitation.status = ncclGetUniqueId(&invitation.id);
  host.broadcast_host(std::as_writable_bytes(std::span(&invitation, 1)), 0, "bellwether::comm::nccl_id");
  check_nccl(invitation.status, "ncclGetUniqueId");  // throws on all ranks
  return invitation.id;
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, double timeout, Watchdog* watchdog)
      : host_(std::move(host)),
        counter_(host_->rank(), host_->size()),
        watchdog_(watchdog),
        group_(shared_id(*host_), host_->rank(), host_->size(), timeout, watchdog) {
    std::vector<int> node_of(static_cast<std::size_t>(size()), 0);
    for (int peer = 0; peer < size(); ++peer)
      if (!host_->shares_node(peer)) node_of[static_cast<std::size_t>(peer)] = 1 + peer;
    counter_.set_nodes(node_of);
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
    sum.intra_node_bytes += counter_.traffic().intra_node_bytes;
    sum.calls += counter_.traffic().calls;
    return sum;
  }
  void set_timeout(double seconds) override {
    host_->set_timeout(seconds);
    group_.set_timeout(seconds);
  }

  Request start_alltoall(Exec const& exec, Bytes const& send, Bytes const& recv, Label label) override {
    require(send.size == recv.size && send.size % size() == 0,
            "all-to-all: the buffers are not one equal chunk per rank");
    std::int64_t const chunk = send.size / size();
    return start(exec, "all-to-all", label, counter_.to_each(chunk),
                 [&](NcclCalls const& calls) { calls.alltoall(send.data, recv.data, chunk); });
  }
  Request start_alltoallv(Exec const& exec, Bytes const& send, std::span<std::int64_t const> send_bytes,
                          Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label label) override {
    require(counter_.covers(send_bytes, send) && counter_.covers(recv_bytes, recv),
            "all-to-all: chunks do not add up to the buffers");
    auto const mine = static_cast<std::size_t>(rank());
    require(send_bytes[mine] == recv_bytes[mine],
            "all-to-all: the send and receive sizes of this rank's own chunk differ");
    return start(exec, "all-to-all of uneven chunks", label, counter_.to_each(send_bytes),
                 [&](NcclCalls const& calls) { calls.alltoallv(send.data, send_bytes, recv.data, recv_bytes); });
  }
  Request start_allgather(Exec const& exec, Bytes const& mine, Bytes const& all, Label label) override {
    require(all.size == mine.size * size(), "all-gather: the buffer is not one equal part per rank");
    return start(exec, "all-gather", label, counter_.to_each(mine.size),
                 [&](NcclCalls const& calls) { calls.allgather(mine.data, all.data, mine.size); });
  }
  Request start_allgatherv(Exec const& exec, Bytes const& mine, Bytes const& all,
                           std::span<std::int64_t const> all_bytes, Label label) override {
    require(counter_.covers(all_bytes, all) && all_bytes[static_cast<std::size_t>(rank())] == mine.size,
            "all-gather: parts do not add up to the buffers");
    return start(exec, "all-gather of uneven parts", label, counter_.to_each(mine.size),
                 [&](NcclCalls const& calls) { calls.allgatherv(mine.data, all.data, all_bytes); });
  }
  Request start_exchange(Exec const& exec, std::span<Message const> messages, Label label) override {
    transfers_.clear();
    for (auto const& message : messages)
      transfers_.push_back(
          {message.kind == Message::Kind::send, message.peer, message.buffer.data, message.buffer.size});
    return start(exec, "exchange", label, counter_.posted(messages),
                 [&](NcclCalls const& calls) { calls.exchange(transfers_); });
  }
  Request start_library_sum(Exec const& exec, float* inout, std::int64_t count, Label label) override {
    return start(exec, "library sum", label, counter_.once(bytes(inout, count).size),
                 [&](NcclCalls const& calls) { calls.sum(inout, count); });
  }

  void wait(Request& request) override { group_.wait(request); }
  bool ended(Request const& request) override { return group_.ended(request); }
  void progress() override { group_.throw_if_failed(); }
  bool leaves_host_free() const override { return true; }
  std::unique_ptr<Communicator> split(int color, int key) override {
    progress();
    return std::make_unique<NcclCommunicator>(host_->split(color, key), group_.timeout(), watchdog_);
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
  Request start(Exec const& exec, char const* name, Label label, TrafficCounter::Sent const& sent, Posts const& posts) {
    Request request = group_.start(exec.cuda_stream(), name, label, sent.all, posts);
    counter_.count(sent);
    return request;
  }

  std::unique_ptr<Communicator> host_;
  TrafficCounter counter_;
  Watchdog* watchdog_;
  NcclGroup group_;
  std::vector<NcclCalls::Transfer> transfers_;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, double timeout,
                                                     Watchdog* watchdog) {
  return std::make_unique<NcclCommunicator>(std::move(host), timeout, watchdog);
}

}  // namespace bellwether::comm
