// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/world.hpp"

#include "comm/transport/backend.hpp"
#include "comm/transport/call_guard.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/mpi_operation.hpp"
#include "comm/transport/mpi_ranks.hpp"
#include "comm/transport/transport.hpp"
#include "comm/transport/watchdog.hpp"
#include "core/device/device_launch.hpp"
#include "core/gemm/gemm.hpp"
#include "core/system/blas_memory.hpp"
#include "core/system/environment.hpp"
#include "core/system/error.hpp"
#include "core/system/openmp_places.hpp"
#include "core/system/system_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

namespace bellwether::comm {
namespace {

std::string processor_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return {name, static_cast<std::size_t>(length)};
}

/// Finds the nodes. Collective. Ranks that can share memory are on one node; nodes are numbered by their lowest rank.
Nodes find_nodes(int rank, int size, std::string const& host, double timeout) {
  MPI_Comm together = MPI_COMM_NULL;
  CallGuard const guard("finding nodes by MPI_Comm_split_type", "at start-up", timeout);
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &together),
            "MPI_Comm_split_type");
  Nodes nodes;
  check_mpi(MPI_Comm_rank(together, &nodes.rank_here), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(together, &nodes.ranks_here), "MPI_Comm_size");
  int lowest = rank;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, together), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&together), "MPI_Comm_free");

  std::vector<int> lowest_of(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&lowest, 1, MPI_INT, lowest_of.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  char mine[MPI_MAX_PROCESSOR_NAME] = {};
  host.copy(mine, sizeof mine - 1);
  std::vector<char> names(sizeof mine * static_cast<std::size_t>(size));
  check_mpi(
      MPI_Allgather(mine, sizeof mine, MPI_CHAR, names.data(), static_cast<int>(sizeof mine), MPI_CHAR, MPI_COMM_WORLD),
      "MPI_Allgather");

  std::vector<int> leaders = lowest_of;
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  nodes.count = static_cast<int>(leaders.size());
  std::vector<int> ranks_of(leaders.size(), 0);
  for (int const leader : lowest_of) {
    auto const node = std::lower_bound(leaders.begin(), leaders.end(), leader) - leaders.begin();
    nodes.node_of.push_back(static_cast<int>(node));
    ++ranks_of[static_cast<std::size_t>(node)];
  }
  nodes.mine = nodes.node_of[static_cast<std::size_t>(rank)];
  nodes.equal = std::all_of(ranks_of.begin(), ranks_of.end(), [&](int ranks) { return ranks == ranks_of.front(); });
  for (int const leader : leaders)
    nodes.hosts.emplace_back(names.data() + sizeof mine * static_cast<std::size_t>(leader));
  return nodes;
}

/// Returns "nodes hold from 1 to 3 ranks".
std::string ranks_by_node(Nodes const& nodes) {
  std::vector<int> ranks(static_cast<std::size_t>(nodes.count), 0);
  for (int const node : nodes.node_of) ++ranks[static_cast<std::size_t>(node)];
  auto const [least, most] = std::minmax_element(ranks.begin(), ranks.end());
  return "nodes hold from " + std::to_string(*least) + " to " + std::to_string(*most) + " ranks";
}

}  // namespace

Nodes chosen_nodes(Nodes const& found, int rank, CommConfig const& config) {
  if (!config.ranks_per_node) return found;
  int const size = static_cast<int>(found.node_of.size());
  int const together = static_cast<int>(std::min<std::int64_t>(*config.ranks_per_node, size));
  Nodes nodes{.count = (size + together - 1) / together,
              .mine = rank / together,
              .ranks_here = std::min(together, size - rank / together * together),
              .rank_here = rank % together,
              .equal = size % together == 0,
              .node_of = {},
              .hosts = {}};
  for (int each = 0; each < size; ++each) {
    nodes.node_of.push_back(each / together);
    if (each % together != 0) continue;
    auto const host = static_cast<std::size_t>(found.node_of[static_cast<std::size_t>(each)]);
    nodes.hosts.push_back(found.hosts[host]);
  }
  return nodes;
}

NodeGroups::NodeGroups(Communicator& all, Nodes const& nodes, CommConfig const& config) {
  require(static_cast<int>(nodes.node_of.size()) == all.size(), "the nodes do not match the ranks of the group");
  if (!nodes.equal)
    throw InputError((config.ranks_per_node ? "comm.ranks_per_node: " + std::to_string(*config.ranks_per_node)
                                            : std::string("comm.hierarchy: node")) +
                     "; its " + ranks_by_node(nodes) +
                     "; allowed: the same number of ranks on every node, or comm.hierarchy: none");
  intra_node_ = all.split(nodes.mine, all.rank());
  inter_node_ = all.split(nodes.rank_here, nodes.mine);
}

NodeGroups::~NodeGroups() = default;

struct World::Impl {
  explicit Impl(MpiRanks& started) : ranks(started) {}
  Impl(int& argc, char**& argv) : own(std::make_unique<MpiRanks>(argc, argv, start_timeout())), ranks(*own) {}

  std::unique_ptr<MpiRanks> own;
  MpiRanks& ranks;
  Nodes nodes;
  std::string host;
  Offer offer;
  std::vector<std::string> devices;
  std::unique_ptr<Watchdog> watchdog;
  std::unique_ptr<Communicator> communicator;
};

namespace {

/// Returns the device of this rank. Local ranks take the visible devices in turn; if a scheduler shows each rank one
/// device, all take the first.
int device_of(Nodes const& nodes, std::string const& host) {
  if constexpr (!on_devices) return -1;
  int const visible = backend::visible_devices();
  if (visible == 0)
    throw RuntimeError(
        host +
        ": no GPU is visible to this process; this program was built for GPUs: run it where one is visible "
        "(nvidia-smi, CUDA_VISIBLE_DEVICES), or use a CPU build");
  return nodes.rank_here % visible;
}

/// Returns the text of every rank, in rank order. Collective.
std::vector<std::string> gathered(Communicator& all, std::string const& mine) {
  std::vector<std::string> texts;
  for (int root = 0; root < all.size(); ++root) {
    std::uint64_t length = mine.size();
    all.broadcast_host(std::as_writable_bytes(std::span(&length, 1)), root, "bellwether::comm::devices");
    std::string text = mine;
    text.resize(length);
    all.broadcast_host(std::as_writable_bytes(std::span(text)), root, "bellwether::comm::devices");
    texts.push_back(std::move(text));
  }
  return texts;
}

/// Returns the number of threads that a rank computes with, before Kokkos has started.
int computing_threads() {
#ifdef KOKKOS_ENABLE_OPENMP
  char const* const of_kokkos = std::getenv("KOKKOS_NUM_THREADS");  // valid: faults_of_threads() has checked it
  return of_kokkos != nullptr ? std::atoi(of_kokkos) : omp_get_max_threads();
#else
  return 1;
#endif
}

/// Returns the number of threads that a rank starts: OpenMP's without the main thread, and a few of MPI's and our own.
/// Without a launcher, MPI starts a separate process with further threads.
int threads_of_a_rank() {
  bool launched = false;
  for (char const* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    launched = launched || std::getenv(variable) != nullptr;
  return computing_threads() - 1 + (launched ? 4 : 12);
}

std::string fault_of(ThreadProbe const& probe) {
  return probe.reason().empty() ? "" : no_thread("compute with", probe.reason());
}

/// Checks threads, OpenBLAS memory for them, and OpenBLAS's kernels. Collective. Local ranks may share a limit, so all
/// hold their threads at once. \throws InputError on every rank with the fault of the lowest rank that has one.
void require_resources_together(int rank, int size) {
  int lowest = size;
  std::string fault;
  {
    std::optional<ThreadProbe> probe;
    if (size > 1) probe.emplace(threads_of_a_rank());  // a single rank has tried before MPI started
    fault = probe ? fault_of(*probe) : "";
    if (fault.empty()) fault = reserve_blas_memory(computing_threads());
    if (fault.empty()) fault = fault_of_blas();
    int const mine = fault.empty() ? size : rank;
    check_mpi(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  }
  if (lowest == size) return;
  fault.resize(2048);
  check_mpi(MPI_Bcast(fault.data(), static_cast<int>(fault.size()), MPI_CHAR, lowest, MPI_COMM_WORLD), "MPI_Bcast");
  throw InputError((lowest > 0 ? "rank " + std::to_string(lowest) + ": " : "") + fault.c_str());
}

}  // namespace

std::optional<OpenMpLimits> World::openmp_limits() {
#ifdef KOKKOS_ENABLE_OPENMP
  std::vector<int> cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> own(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, own.data());
    cpus.insert(cpus.end(), own.begin(), own.end());
  }
  return OpenMpLimits{.most = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT,
                      .threads = omp_get_max_threads(),
                      .thread_limit = omp_get_thread_limit(),
                      .places = omp_get_num_places(),
                      .cpus = std::move(cpus),
                      .online = online_cpus()};
#else
  return std::nullopt;
#endif
}

std::string World::fault_of_threads() {
  ThreadProbe const probe(threads_of_a_rank());
  return fault_of(probe);
}

World::World(int& argc, char**& argv) : impl_(std::make_unique<Impl>(argc, argv)) { start(); }

World::World(MpiRanks& ranks) : impl_(std::make_unique<Impl>(ranks)) { start(); }

void World::start() {
  double const timeout = impl_->ranks.timeout();
  impl_->host = processor_name();
  impl_->nodes = find_nodes(rank(), size(), impl_->host, timeout);
  require_resources_together(rank(), size());
  // Kokkos warns in each process that threads are unbound, which is intended on laptops and with several ranks per
  // node.
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (int const device = device_of(impl_->nodes, impl_->host); device >= 0) settings.set_device_id(device);
  Kokkos::initialize(settings);
  start_device();
  use_single_threaded_blas();
  std::vector<std::string> hosts;
  for (int const node : impl_->nodes.node_of) hosts.push_back(impl_->nodes.hosts[static_cast<std::size_t>(node)]);
  {
    CallGuard const guard("MPI_Comm_dup", "at start-up", timeout);
    impl_->watchdog = std::make_unique<Watchdog>(std::move(hosts));
  }
  impl_->communicator = make_world_communicator({.timeout = timeout, .watchdog = impl_->watchdog.get()});
  impl_->communicator->set_nodes(impl_->nodes.node_of);
  find_offer();
}

void World::find_offer() {
  auto const device = backend::current_device();
  impl_->offer = {.on_devices = device.has_value(),
                  .mpi_reads_devices = backend::mpi_reads_devices(),
                  .device_library = backend::device_library(),
                  .library_shares = backend::device_library_shares_devices()};
  if (!device) return;
  auto& all = *impl_->communicator;
  auto const identities = gathered(all, impl_->host + " " + device->identity), names = gathered(all, device->name);
  auto sorted = identities;
  std::ranges::sort(sorted);
  impl_->offer.shared_device = std::ranges::adjacent_find(sorted) != sorted.end();
  for (int each = 0; each < size(); ++each) {
    auto const at = static_cast<std::size_t>(each);
    auto const node = static_cast<std::size_t>(impl_->nodes.node_of[at]);
    impl_->devices.push_back("rank " + std::to_string(each) + " on " + impl_->nodes.hosts[node] + ": " + names[at] +
                             identities[at].substr(identities[at].find_last_of(' ')));
  }
}

std::unique_ptr<Communicator> World::make_communicator(Transport transport, double timeout) const {
  auto* const watchdog = impl_->watchdog.get();
  auto made =
      make_world_communicator({.timeout = timeout, .staged = transport == Transport::mpi_staged, .watchdog = watchdog});
  made->set_nodes(impl_->nodes.node_of);
  return transport == Transport::nccl ? backend::make_device_communicator(std::move(made), timeout, watchdog)
                                      : std::move(made);
}

World::~World() {
  impl_->communicator.reset();
  {
    CallGuard const guard("MPI_Comm_free", "at the end", impl_->ranks.timeout());
    impl_->watchdog.reset();
  }
  Kokkos::finalize();
}

void World::set_timeout(double seconds) {
  impl_->ranks.set_timeout(seconds);
  impl_->communicator->set_timeout(seconds);
}

void World::note_end(int code) { comm::note_end(code); }

int World::rank() const { return impl_->ranks.rank(); }
int World::size() const { return impl_->ranks.size(); }
std::vector<std::string> const& World::devices() const { return impl_->devices; }
std::optional<std::int64_t> World::free_device_memory() const { return backend::free_device_memory(); }
Offer const& World::offer() const { return impl_->offer; }
Communicator& World::communicator() const { return *impl_->communicator; }
RankGroup& World::group() const { return *impl_->communicator; }
Nodes const& World::nodes() const { return impl_->nodes; }
std::string const& World::host() const { return impl_->host; }
void World::note_step(std::int64_t step) const { impl_->watchdog->note_step(step); }
int World::threads() const { return Kokkos::DefaultHostExecutionSpace().concurrency(); }

std::string World::library() const { return MpiRanks::library(); }

void World::sum_by_library(std::span<float> values) const {
  constexpr std::size_t longest = std::size_t{1} << 30;  // MPI counts are int
  for (; !values.empty(); values = values.subspan(std::min(values.size(), longest)))
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(std::min(values.size(), longest)), MPI_FLOAT,
                            MPI_SUM, MPI_COMM_WORLD),
              "MPI_Allreduce");
}

void World::abort(int exit_code, std::string_view message, double patience) const {
  impl_->ranks.abort(exit_code, message, patience);
}

}  // namespace bellwether::comm
