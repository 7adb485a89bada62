// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_communicator.hpp"

#include "comm/transport/backend.hpp"
#include "comm/transport/call_guard.hpp"
#include "comm/transport/mpi_operation.hpp"
#include "comm/transport/receive_queue.hpp"
#include "comm/transport/traffic_counter.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <numeric>
#include <string>
#include <thread>

namespace bellwether::comm {
namespace {

// Each kind of collective has its own order: messages of different kinds never match.
constexpr int uneven_alltoall_tag = 1, exchange_tag = 2, uneven_allgather_tag = 3;
constexpr int long_call_tag = 4;  // for library collectives that exceed call_limit

int rank_in(MPI_Comm group) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(group, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm group) {
  int size = 1;
  check_mpi(MPI_Comm_size(group, &size), "MPI_Comm_size");
  return size;
}

/// Operations whose buffers MPI may still write to after the communicator is gone. Never destroyed: MPI may
/// outlive every static object.
std::vector<std::unique_ptr<MpiOperation>>& timed_out_operations() {
  static auto* const operations = new std::vector<std::unique_ptr<MpiOperation>>;
  return *operations;
}

/// Communicator over MPI. Uses library collectives if one call can carry everything, else sends and receives of at most
/// `call_limit` bytes. Collectives with uneven chunks always use sends and receives. Otherwise ranks would have to
/// communicate to agree on a library call, and to follow the order of the library's collectives.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm group, MpiOptions const& options)
      : group_(group),
        options_(options),
        rank_(rank_in(group)),
        size_(size_of(group)),
        counter_(rank_, size_),
        receives_(group, options.long_message) {
    options_.staged = options.staged || (on_devices && !backend::mpi_reads_devices());
    check_mpi(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }

  ~MpiCommunicator() override {
    // If a collective never ended, keep its group and its buffers, to which MPI may still write. The job is about to
    // end, and freeing the group would wait for other ranks.
    bool stuck = false;
    for (auto& operation : operations_) {
      if (!operation->busy() || operation->ended()) continue;
      stuck = true;
      timed_out_operations().push_back(std::move(operation));
    }
    if (stuck || std::uncaught_exceptions() != 0) return;
    CallGuard const guard("MPI_Comm_free", "at the end", options_.timeout, options_.watchdog);
    MPI_Comm_free(&group_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool shares_node(int rank) const override { return counter_.shares_node(rank); }
  void set_nodes(std::span<int const> node_of) override { counter_.set_nodes(node_of); }
  Traffic traffic() const override { return counter_.traffic(); }
  void set_timeout(double seconds) override { options_.timeout = seconds; }

  Request start_alltoall(Exec const& exec, Bytes const& send, Bytes const& recv, Label label) override {
    require(send.size == recv.size && send.size % size_ == 0,
            "all-to-all: the buffers are not one equal chunk per rank");
    std::int64_t const chunk = send.size / size_;
    MpiOperation& operation = begin(exec, "all-to-all", label, counter_.to_each(chunk), options_.staged);
    Bytes const from = operation.transport_buffer(send, MpiOperation::Access::read);
    Bytes const to = operation.transport_buffer(recv, MpiOperation::Access::write);
    exec.fence("bellwether::comm::ready_for_transport");
    if (send.size <= options_.call_limit) {
      int const count = static_cast<int>(chunk);
      check_mpi(MPI_Ialltoall(from.data, count, MPI_BYTE, to.data, count, MPI_BYTE, group_, &operation.new_request()),
                "MPI_Ialltoall");
    } else {
      part_bytes_.assign(static_cast<std::size_t>(size_), chunk);
      post_alltoall(operation, from, part_bytes_, to, part_bytes_, long_call_tag);
    }
    return Request(operation);
  }

  Request start_alltoallv(Exec const& exec, Bytes const& send, std::span<std::int64_t const> send_bytes,
                          Bytes const& recv, std::span<std::int64_t const> recv_bytes, Label label) override {
    require(counter_.covers(send_bytes, send) && counter_.covers(recv_bytes, recv),
            "all-to-all: chunks do not add up to the buffers");
    auto const mine = static_cast<std::size_t>(rank_);
    require(send_bytes[mine] == recv_bytes[mine],
            "all-to-all: the send and receive sizes of this rank's own chunk differ");
    MpiOperation& operation =
        begin(exec, "all-to-all of uneven chunks", label, counter_.to_each(send_bytes), options_.staged);
    Bytes const from = operation.transport_buffer(send, MpiOperation::Access::read);
    Bytes const to = operation.transport_buffer(recv, MpiOperation::Access::write);
    exec.fence("bellwether::comm::ready_for_transport");
    post_alltoall(operation, from, send_bytes, to, recv_bytes, uneven_alltoall_tag);
    return Request(operation);
  }

  Request start_allgather(Exec const& exec, Bytes const& mine, Bytes const& all, Label label) override {
    require(all.size == mine.size * size_, "all-gather: the buffer is not one equal part per rank");
    part_bytes_.assign(static_cast<std::size_t>(size_), mine.size);
    MpiOperation& operation = begin(exec, "all-gather", label, counter_.to_each(mine.size), options_.staged);
    Bytes const from = operation.transport_buffer(mine, MpiOperation::Access::read);
    Bytes const to = operation.transport_buffer(all, MpiOperation::Access::write);
    exec.fence("bellwether::comm::ready_for_transport");
    library_allgather(operation, from, to, part_bytes_);
    return Request(operation);
  }

  Request start_allgatherv(Exec const& exec, Bytes const& mine, Bytes const& all,
                           std::span<std::int64_t const> all_bytes, Label label) override {
    require(counter_.covers(all_bytes, all) && all_bytes[static_cast<std::size_t>(rank_)] == mine.size,
            "all-gather: parts do not add up to the buffers");
    MpiOperation& operation =
        begin(exec, "all-gather of uneven parts", label, counter_.to_each(mine.size), options_.staged);
    Bytes const from = operation.transport_buffer(mine, MpiOperation::Access::read);
    Bytes const to = operation.transport_buffer(all, MpiOperation::Access::write);
    exec.fence("bellwether::comm::ready_for_transport");
    post_allgather(operation, from, to, all_bytes, uneven_allgather_tag);
    return Request(operation);
  }

  Request start_exchange(Exec const& exec, std::span<Message const> messages, Label label) override {
    MpiOperation& operation = begin(exec, "exchange", label, counter_.posted(messages), options_.staged);
    buffers_.clear();
    for (auto const& message : messages)
      buffers_.push_back(operation.transport_buffer(message.buffer, message.kind == Message::Kind::send
                                                                        ? MpiOperation::Access::read
                                                                        : MpiOperation::Access::write));
    exec.fence("bellwether::comm::ready_for_transport");
    for (std::size_t k = 0; k < messages.size(); ++k)
      if (messages[k].kind == Message::Kind::receive)
        post_receive(operation, buffers_[k], messages[k].peer, exchange_tag);
    for (std::size_t k = 0; k < messages.size(); ++k)
      if (messages[k].kind == Message::Kind::send) post_send(operation, buffers_[k], messages[k].peer, exchange_tag);
    return Request(operation);
  }

  Request start_library_sum(Exec const& exec, float* inout, std::int64_t count, Label label) override {
    Bytes const whole = bytes(inout, count);
    MpiOperation& operation = begin(exec, "library sum", label, counter_.once(whole.size), options_.staged);
    Bytes const buffer = operation.transport_buffer(whole, MpiOperation::Access::read_write);
    exec.fence("bellwether::comm::ready_for_transport");
    auto* const values = reinterpret_cast<float*>(buffer.data);
    std::int64_t const piece =
        std::max<std::int64_t>(1, options_.call_limit / static_cast<std::int64_t>(sizeof(float)));
    for (std::int64_t first = 0; first < count; first += piece)
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values + first, static_cast<int>(std::min(piece, count - first)),
                               MPI_FLOAT, MPI_SUM, group_, &operation.new_request()),
                "MPI_Iallreduce");
    return Request(operation);
  }

  void wait(Request& request) override {
    require(request.pending(), "the request has no collective in progress");
    complete(static_cast<MpiOperation&>(*request.state()));
    request.release();
  }

  bool ended(Request const& request) override {
    require(request.pending(), "the request has no collective in progress");
    receives_.advance();
    return static_cast<MpiOperation&>(*request.state()).test();
  }

  void progress() override {
    receives_.advance();
    for (auto const& operation : operations_)
      if (operation->busy()) operation->test();
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    require(color >= 0, "split: the color must be 0 or more");
    barrier("bellwether::comm::split");  // names late ranks better than the calls below
    MPI_Comm part = MPI_COMM_NULL;
    CallGuard const guard("MPI_Comm_split", "at start-up", options_.timeout, options_.watchdog);
    check_mpi(MPI_Comm_split(group_, color, key, &part), "MPI_Comm_split");
    auto made = std::make_unique<MpiCommunicator>(part, options_);
    int const mine = counter_.node_of(rank_);
    std::vector<int> nodes(static_cast<std::size_t>(made->size()));
    check_mpi(MPI_Allgather(&mine, 1, MPI_INT, nodes.data(), 1, MPI_INT, part), "MPI_Allgather");
    made->set_nodes(nodes);
    return made;
  }

  void sum_host(std::span<double> inout, Label label) override {
    if (size_ == 1) return;
    Bytes const mine = bytes(inout.data(), static_cast<std::int64_t>(inout.size()));
    part_bytes_.assign(static_cast<std::size_t>(size_), mine.size);
    MpiOperation& operation = begin(Exec(), "host sum", label, counter_.to_each(mine.size), false);
    auto& gathered = operation.gathered;
    gathered.resize(inout.size() * static_cast<std::size_t>(size_));
    library_allgather(operation, mine, bytes(gathered.data(), static_cast<std::int64_t>(gathered.size())), part_bytes_,
                      true);
    complete(operation);
    for (std::size_t k = 0; k < inout.size(); ++k) {
      inout[k] = gathered[k];
      for (std::size_t from = 1; from < static_cast<std::size_t>(size_); ++from)
        inout[k] += gathered[from * inout.size() + k];
    }
  }

  void broadcast_host(std::span<std::byte> inout, int root, Label label) override {
    require(root >= 0 && root < size_, "broadcast: invalid root rank");
    auto const total = static_cast<std::int64_t>(inout.size());
    MpiOperation& operation =
        begin(Exec(), "broadcast", label, rank_ == root ? counter_.to_each(total) : TrafficCounter::Sent(), false);
    for (std::int64_t first = 0; first < total; first += options_.call_limit)
      check_mpi(MPI_Ibcast(inout.data() + first, static_cast<int>(std::min(options_.call_limit, total - first)),
                           MPI_BYTE, root, group_, &operation.new_request()),
                "MPI_Ibcast");
    complete(operation);
  }

  void barrier(Label label) override {
    MpiOperation& operation = begin(Exec(), "barrier", label, {}, false);
    check_mpi(MPI_Ibarrier(group_, &operation.new_request()), "MPI_Ibarrier");
    complete(operation);
  }

 private:
  /// Returns the first free operation. A repeated sequence of collectives reuses the same operations and their memory.
  MpiOperation& begin(Exec const& exec, char const* name, Label label, TrafficCounter::Sent const& sent, bool staged) {
    auto free = std::find_if(operations_.begin(), operations_.end(), [](auto const& one) { return !one->busy(); });
    if (free == operations_.end()) {
      operations_.push_back(std::make_unique<MpiOperation>());
      free = operations_.end() - 1;
    }
    (*free)->begin(exec, name, label, staged);
    (*free)->bytes = sent.all;
    counter_.count(sent);
    if (options_.watchdog != nullptr) options_.watchdog->begin(name, label, size_);
    return **free;
  }

  void complete(MpiOperation& operation) {
    auto const began = RunClock::now();
    auto* const watchdog = options_.watchdog;
    bool asked = watchdog == nullptr;
    if (watchdog != nullptr) watchdog->note_waiting(true);
    while (receives_.advance(), !operation.test()) {
      double const waited = seconds_since(began);
      if (!asked && waited > options_.timeout / 2) {
        watchdog->ask();
        asked = true;
      }
      if (waited > options_.timeout)
        throw CollectiveTimeout("collective timeout: " + operation.description() + ", rank " + std::to_string(rank_) +
                                " of " + std::to_string(size_) + ", not finished after " + std::to_string(waited) +
                                " s" + (watchdog != nullptr ? ", " + watchdog->report() : ""));
      // Yield, because ranks may share cores.
      std::this_thread::yield();
    }
    receives_.advance();  // it may still refer to requests that end here
    if (watchdog != nullptr) watchdog->note_waiting(false);
    operation.finish();
  }

  static std::int64_t offset_of(std::span<std::int64_t const> lengths, int rank) {
    return std::accumulate(lengths.begin(), lengths.begin() + rank, std::int64_t{0});
  }

  /// Returns the maximum length of one message. Sender and receiver split a message in the same way.
  std::int64_t longest_message(int peer) const {
    return counter_.shares_node(peer) ? options_.call_limit : std::min(options_.call_limit, options_.piece);
  }
  void post_send(MpiOperation& operation, Bytes const& buffer, int peer, int tag) {
    std::int64_t const longest = longest_message(peer);
    for (std::int64_t first = 0; first < buffer.size; first += longest)
      check_mpi(MPI_Isend(buffer.data + first, static_cast<int>(std::min(longest, buffer.size - first)), MPI_BYTE, peer,
                          tag, group_, &operation.new_request()),
                "MPI_Isend");
  }
  void post_receive(MpiOperation& operation, Bytes const& buffer, int peer, int tag) {
    std::int64_t const longest = longest_message(peer);
    for (std::int64_t first = 0; first < buffer.size; first += longest)
      receives_.post(operation, {buffer.data + first, std::min(longest, buffer.size - first)}, peer, tag);
  }
  /// Posts receives in the order in which for_peers() of the other ranks sends: the preceding rank first.
  void post_receives(MpiOperation& operation, std::byte* all, std::span<std::int64_t const> lengths, int tag) {
    auto const from = [&](int peer, std::int64_t end) {
      std::int64_t const length = lengths[static_cast<std::size_t>(peer)];
      post_receive(operation, {all + end - length, length}, peer, tag);
      return end - length;
    };
    std::int64_t end = offset_of(lengths, rank_);
    for (int peer = rank_ - 1; peer >= 0; --peer) end = from(peer, end);
    end = offset_of(lengths, size_);
    for (int peer = size_ - 1; peer > rank_; --peer) end = from(peer, end);
  }

  /// Copies a rank's own chunk. host: the buffers are in host memory, even on devices.
  void keep(std::byte* to, std::byte const* from, std::int64_t size, bool host = false) const {
    auto const count = static_cast<std::size_t>(size);
    if (!on_devices || options_.staged || host)
      std::memcpy(to, from, count);
    else
      Kokkos::deep_copy(Kokkos::View<std::byte*, Mem, Kokkos::MemoryUnmanaged>(to, count),
                        Kokkos::View<std::byte const*, Mem, Kokkos::MemoryUnmanaged>(from, count));
  }

  /// Calls visit(peer) for every other rank, starting with the next one, so that ranks start with different peers.
  template <class Visit>
  void for_peers(Visit visit) const {
    for (int peer = rank_ + 1; peer < size_; ++peer) visit(peer);
    for (int peer = 0; peer < rank_; ++peer) visit(peer);
  }

  void post_alltoall(MpiOperation& operation, Bytes const& from, std::span<std::int64_t const> send_bytes,
                     Bytes const& to, std::span<std::int64_t const> recv_bytes, int tag) {
    post_receives(operation, to.data, recv_bytes, tag);
    std::int64_t const own = offset_of(send_bytes, rank_), kept = send_bytes[static_cast<std::size_t>(rank_)];
    std::int64_t offset = own + kept;
    for_peers([&](int peer) {
      if (peer == 0) offset = 0;
      std::int64_t const length = send_bytes[static_cast<std::size_t>(peer)];
      post_send(operation, {from.data + offset, length}, peer, tag);
      offset += length;
    });
    if (kept > 0) keep(to.data + offset_of(recv_bytes, rank_), from.data + own, kept);
  }

  void library_allgather(MpiOperation& operation, Bytes const& mine, Bytes const& all,
                         std::span<std::int64_t const> lengths, bool host = false) {
    if (all.size > options_.call_limit) return post_allgather(operation, mine, all, lengths, long_call_tag, host);
    auto& counts = operation.receive_counts;
    auto& offsets = operation.receive_offsets;
    counts.assign(lengths.begin(), lengths.end());
    offsets.resize(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    check_mpi(MPI_Iallgatherv(mine.data, static_cast<int>(mine.size), MPI_BYTE, all.data, counts.data(), offsets.data(),
                              MPI_BYTE, group_, &operation.new_request()),
              "MPI_Iallgatherv");
  }

  void post_allgather(MpiOperation& operation, Bytes const& mine, Bytes const& all,
                      std::span<std::int64_t const> lengths, int tag, bool host = false) {
    post_receives(operation, all.data, lengths, tag);
    for_peers([&](int peer) { post_send(operation, mine, peer, tag); });
    if (mine.size > 0) keep(all.data + offset_of(lengths, rank_), mine.data, mine.size, host);
  }

  MPI_Comm group_;
  MpiOptions options_;
  int rank_, size_;
  TrafficCounter counter_;
  ReceiveQueue receives_;
  std::vector<std::unique_ptr<MpiOperation>> operations_;
  std::vector<std::int64_t> part_bytes_;  ///< (P)
  std::vector<Bytes> buffers_;
};

}  // namespace

std::unique_ptr<Communicator> make_world_communicator(MpiOptions const& options) {
  require(options.piece > 0, "the maximum message size must be at least 1 byte");
  require(options.call_limit > 0 && options.call_limit <= std::numeric_limits<int>::max(),
          "call_limit must be from 1 to the largest int");
  MPI_Comm copy = MPI_COMM_NULL;
  CallGuard const guard("MPI_Comm_dup", "at start-up", options.timeout, options.watchdog);
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  return std::make_unique<MpiCommunicator>(copy, options);
}

}  // namespace bellwether::comm
