// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/communicator.hpp"

#include "core/system/error.hpp"

namespace bellwether::comm {
namespace {

using DeviceBytes = Kokkos::View<std::byte*, Mem, Kokkos::MemoryUnmanaged>;

/// A group of one. Collectives are copies enqueued on `exec` and finished when started.
class SelfCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  bool shares_node(int rank) const override { return rank == 0; }
  void set_nodes(std::span<int const> node_of) override {
    require(node_of.size() == 1, "one node index per rank is required");
  }
  Traffic traffic() const override { return traffic_; }
  void set_timeout(double) override {}

  Request start_alltoall(Exec const& exec, Bytes const& send, Bytes const& recv, Label label) override {
    return copied(exec, send, recv, label);
  }
  Request start_alltoallv(Exec const& exec, Bytes const& send, std::span<std::int64_t const> send_bytes,
                          Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label label) override {
    require(
        send_bytes.size() == 1 && send_bytes[0] == send.size && recv_bytes.size() == 1 && recv_bytes[0] == recv.size,
        "all-to-all: chunks do not add up to the buffers");
    return copied(exec, send, recv, label);
  }
  Request start_allgather(Exec const& exec, Bytes const& mine, Bytes const& all, Label label) override {
    return copied(exec, mine, all, label);
  }
  Request start_allgatherv(Exec const& exec, Bytes const& mine, Bytes const& all,
                           std::span<std::int64_t const> all_bytes, Label label) override {
    require(all_bytes.size() == 1 && all_bytes[0] == all.size, "all-gather: parts do not add up to the buffers");
    return copied(exec, mine, all, label);
  }
  Request start_exchange(Exec const&, std::span<Message const> messages, Label label) override {
    require(messages.empty(), "exchange: invalid peer rank");
    return started(label);
  }
  Request start_library_sum(Exec const&, float*, std::int64_t, Label label) override { return started(label); }

  void wait(Request& request) override {
    require(request.pending(), "the request has no collective in progress");
    request.release();
  }
  bool ended(Request const&) override { return true; }
  void progress() override {}
  std::unique_ptr<Communicator> split(int color, int) override {
    require(color >= 0, "split: the color must be 0 or more");
    return make_self_communicator();
  }

  void sum_host(std::span<double>, Label) override { ++traffic_.calls; }
  void broadcast_host(std::span<std::byte>, int root, Label) override {
    require(root == 0, "broadcast: invalid root rank");
    ++traffic_.calls;
  }
  void barrier(Label) override { ++traffic_.calls; }

 private:
  /// All requests share this state, because nothing is ever in progress.
  struct Finished final : Request::State {
    char const* label() const override { return name; }
    char const* name = "";
  };

  Request started(Label label) {
    finished_.name = label;
    ++traffic_.calls;
    return Request(finished_);
  }
  Request copied(Exec const& exec, Bytes const& from, Bytes const& to, Label label) {
    require(from.size == to.size, "group of one: the send and receive sizes differ");
    if (from.size > 0 && from.data != to.data) {
      auto const size = static_cast<std::size_t>(from.size);
      Kokkos::deep_copy(exec, DeviceBytes(to.data, size), DeviceBytes(from.data, size));
    }
    return started(label);
  }

  Finished finished_;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() { return std::make_unique<SelfCommunicator>(); }

}  // namespace bellwether::comm
