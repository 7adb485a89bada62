// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/hierarchical_allreduce.hpp"

#include "comm/collective/dense_mean.hpp"
#include "comm/compression/compressed_layout.hpp"
#include "core/system/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace bellwether::comm {
namespace {

template <class T>
Vec<T> buffer(char const* label, Index count) {
  return Vec<T>(std::string(label), static_cast<std::size_t>(count));
}

template <class T>
Vec<T> uploaded(char const* label, std::vector<T> const& values) {
  Vec<T> const device(std::string(label), values.size());
  Kokkos::deep_copy(device, Kokkos::View<T const*, Kokkos::HostSpace>(values.data(), values.size()));
  return device;
}

template <class T>
std::int64_t bytes_of(Vec<T> const& view) {
  return static_cast<std::int64_t>(view.size() * sizeof(T));
}

/// Passes the state of a slice to a visitor of the whole vector.
class SliceState final : public StateVisitor {
 public:
  SliceState(StateVisitor& whole, Index first, Index total) : whole_(whole), first_(first), total_(total) {}
  void array(ArraySpec const& spec, std::span<float> values) override {
    if (spec.placement == Placement::partitioned)
      return whole_.array(of_whole(spec, Placement::partitioned, first_ + spec.first), values);
    if (spec.placement != Placement::per_rank) refuse();
    require(spec.reshard == Reshard::mean, "the state of a slice needs Reshard::mean");
    whole_.array(of_whole(spec, Placement::held, first_), values);
  }
  void scalar(ScalarSpec<std::int64_t> const&, std::int64_t&) override { refuse(); }
  void scalar(ScalarSpec<double> const&, double&) override { refuse(); }

 private:
  ArraySpec of_whole(ArraySpec spec, Placement placement, std::int64_t first) const {
    spec.placement = placement;
    spec.first = first;
    spec.total = total_;
    return spec;
  }
  [[noreturn]] static void refuse() { throw InternalError("a slice cannot have this kind of state"); }
  StateVisitor& whole_;
  Index first_, total_;
};

int ranks_of(NodeGroups const* nodes) { return nodes ? nodes->intra_node().size() : 1; }
int place_of(NodeGroups const* nodes) { return nodes ? nodes->intra_node().rank() : 0; }
template <class Group>
Group& exchanging(Group& data, NodeGroups const* nodes) {
  return nodes ? nodes->inter_node() : data;
}
NodeLayout layout_of(Communicator const& data, NodeGroups const* nodes, Index count,
                     CompressionOptions const& options) {
  return {count, ranks_of(nodes), exchanging(data, nodes).size(), options.scale_groups};
}

/// Returns the bytes that a rank sends for the dense mean of n elements, in fp32 and in 16 bit.
std::array<std::int64_t, 2> dense_bytes(Communicator const& data, Index count) {
  return {DenseMean::predicted_bytes(count, data.rank(), data.size(), Wire::fp32, Allreduce::ordered),
          DenseMean::predicted_bytes(count, data.rank(), data.size(), Wire::bf16, Allreduce::ordered)};
}

/// This rank's values of the vector, and every local rank's values of its slice.
template <class T>
struct Values {
  Vec<T> mine;      ///< (n)
  Vec<T> received;  ///< (L, slice)

  void allocate(Index count, Index slice, int ranks) {
    mine = buffer<T>("bellwether::comm::node_values", count);
    received = buffer<T>("bellwether::comm::node_received", ranks * slice);
  }
};

}  // namespace

struct HierarchicalAllreduce::Impl {
  Impl(Communicator& data, NodeGroups const* groups, Index count, CompressionOptions const& options, Wire type)
      : nodes(groups),
        place(place_of(groups)),
        wire(type),
        layout(layout_of(data, groups, count, options)),
        exchange(exchanging(data, groups), layout.elements(place), options),
        exact(layout.nodes == 1 && !options.compress_alone) {
    dense = dense_bytes(data, count);
    add_dense();
    if (layout.ranks == 1) return;
    Index const words = (count + word_elements - 1) / word_elements;
    Index const mine = layout.elements(place);
    if (wire == Wire::fp32)
      fp32.allocate(count, mine, layout.ranks);
    else
      half.allocate(count, mine, layout.ranks);
    active = buffer<std::uint32_t>("bellwether::comm::node_active", words);
    signs = buffer<std::uint32_t>("bellwether::comm::node_signs", words);
    Exec const exec;
    copy_active(exec, count, static_cast<std::uint32_t const*>(nullptr), active.data());
    exec.fence("bellwether::comm::node_active, all elements active before a mean on any instance");
    own_bytes.assign(static_cast<std::size_t>(layout.ranks), bytes_of(wire) * mine);
    for (int slice = 0; slice < layout.ranks; ++slice) {
      slice_bytes.push_back(bytes_of(wire) * layout.elements(slice));
      message_bytes.push_back(4 * (exact ? layout.elements(slice) : layout.message_words(slice)));
      gathered_words += message_bytes.back() / 4;
    }
    if (exact) {
      values = buffer<float>("bellwether::comm::node_means", count);
      return;
    }
    part_first = uploaded("bellwether::comm::node_parts", layout.parts(place));
    blocks = uploaded("bellwether::comm::node_blocks", layout.blocks());
    message = buffer<std::uint32_t>("bellwether::comm::node_message", layout.message_words(place));
    gathered = buffer<std::uint32_t>("bellwether::comm::node_gathered", gathered_words);
    magnitudes = buffer<float>("bellwether::comm::node_magnitudes", words);
  }

  void add_dense() {
    traffic.dense_fp32_bytes = dense[0];
    traffic.dense_16bit_bytes = dense[1];
  }
  /// Starts an intra-node collective and counts its bytes.
  template <class Start>
  void launch(Start const& start) {
    Traffic const before = nodes->intra_node().traffic();
    request = start(nodes->intra_node());
    Traffic const now = nodes->intra_node().traffic();
    node_sent.sent_bytes += now.sent_bytes - before.sent_bytes;
    node_sent.intra_node_bytes += now.intra_node_bytes - before.intra_node_bytes;
  }
  template <class T>
  void scatter(Exec const& exec, Values<T> const& values_of_node) {
    launch([&](Communicator& node) {
      return node.start_alltoallv(exec, bytes(values_of_node.mine.data(), layout.count), slice_bytes,
                                  bytes(values_of_node.received.data(), layout.ranks * layout.elements(place)),
                                  own_bytes, "bellwether::comm::node_scatter");
    });
  }
  template <class T>
  Decoded across(Exec const& exec, Values<T> const& values_of_node) {
    return exchange.mean(exec, NodeMeanForm<T>{values_of_node.received.data(), layout.elements(place), layout.ranks},
                         skip);
  }
  void gather(Exec const& exec, Bytes const& mine, Bytes const& all) {
    launch([&](Communicator& node) {
      return node.start_allgatherv(exec, mine, all, message_bytes, "bellwether::comm::node_gather");
    });
    nodes->intra_node().wait(request);
  }
  void count_bytes() {
    traffic = exchange.last_traffic();
    traffic.node_bytes = node_sent.sent_bytes;
    traffic.intra_node_bytes += node_sent.intra_node_bytes;
    add_dense();
  }

  NodeGroups const* nodes;
  int place;  ///< local rank
  Wire wire;
  NodeLayout layout;
  CompressedAllreduce exchange;  ///< of this rank's slice
  bool exact;                    ///< one node: sends values, not signs
  Values<float> fp32;
  Values<bf16> half;
  Vec<std::uint32_t> active;                ///< (W)
  Vec<std::uint32_t> signs;                 ///< (W) of the mean
  Vec<float> values;                        ///< (n) mean, if exact
  Vec<Index> part_first;                    ///< (parts of the slice)
  Vec<WordBlock> blocks;                    ///< blocks of the whole vector
  Vec<std::uint32_t> message;               ///< message of this rank's slice
  Vec<std::uint32_t> gathered;              ///< messages of all slices
  Vec<float> magnitudes;                    ///< (W)
  std::vector<std::int64_t> slice_bytes;    ///< (L) bytes of each slice's values
  std::vector<std::int64_t> own_bytes;      ///< (L) bytes of this slice's values from every local rank
  std::vector<std::int64_t> message_bytes;  ///< (L)
  Index gathered_words = 0;
  std::int32_t const* skip = nullptr;  ///< of the mean in progress
  Request request;
  bool under_way = false;
  Traffic node_sent;  ///< bytes of the current or last mean
  std::array<std::int64_t, 2> dense{};
  CompressedTraffic traffic;
};

HierarchicalAllreduce::HierarchicalAllreduce(Communicator& data, NodeGroups const* nodes, Index count,
                                             CompressionOptions const& options, Wire wire)
    : impl_(std::make_unique<Impl>(data, nodes, count, options, wire)) {}

HierarchicalAllreduce::~HierarchicalAllreduce() = default;

CompressedAllreduce& HierarchicalAllreduce::exchange() const { return impl_->exchange; }
bool HierarchicalAllreduce::has_nodes() const { return impl_->layout.ranks > 1; }
Index HierarchicalAllreduce::slice_first() const { return impl_->layout.first(impl_->place); }
Index HierarchicalAllreduce::slice_count() const { return impl_->layout.elements(impl_->place); }
Vec<std::uint32_t> const& HierarchicalAllreduce::worker_signs() const { return impl_->exchange.worker_signs(); }
std::uint32_t const* HierarchicalAllreduce::active() const {
  return has_nodes() ? impl_->active.data() : exchange().active();
}

LastMean HierarchicalAllreduce::last_mean() const {
  LastMean last = impl_->exchange.last_mean();
  last.origin = slice_first();
  return last;
}

void HierarchicalAllreduce::set_active(Exec const& exec, Vec<std::uint32_t> const& words) {
  Impl& mean = *impl_;
  require(!mean.under_way, "set_active() was called during a compressed mean");
  require(static_cast<Index>(words.extent(0)) == (mean.layout.count + word_elements - 1) / word_elements,
          "the mask must have one bit per element");
  if (has_nodes())
    copy_active(exec, mean.layout.count, static_cast<std::uint32_t const*>(words.data()), mean.active.data());
  mean.exchange.set_active(exec, Vec<std::uint32_t>(words.data() + slice_first() / word_elements,
                                                    static_cast<std::size_t>(mean.layout.words(mean.place))));
}

HierarchicalAllreduce::Outgoing HierarchicalAllreduce::begin(std::int32_t const* skip) {
  Impl& mean = *impl_;
  require(!mean.under_way, "the previous compressed mean is not finished");
  mean.under_way = true;
  mean.skip = skip;
  mean.node_sent = {};
  return {mean.layout.count, mean.wire == Wire::fp32 ? mean.fp32.mine.data() : nullptr, mean.half.mine.data()};
}

void HierarchicalAllreduce::scatter(Exec const& exec) {
  Impl& mean = *impl_;
  if (mean.wire == Wire::fp32)
    mean.scatter(exec, mean.fp32);
  else
    mean.scatter(exec, mean.half);
}

Decoded HierarchicalAllreduce::finish(Exec const& exec) {
  Impl& mean = *impl_;
  if (!has_nodes()) {
    Decoded const decoded = mean.exchange.finish(exec);
    mean.count_bytes();
    return decoded;
  }
  require(mean.under_way, "finish() was called before start()");
  mean.under_way = false;
  mean.nodes->intra_node().wait(mean.request);
  Decoded const slice = mean.wire == Wire::fp32 ? mean.across(exec, mean.fp32) : mean.across(exec, mean.half);
  auto const& layout = mean.layout;
  if (mean.exact) {
    mean.gather(exec, bytes(slice.values(), layout.elements(mean.place)), bytes(mean.values.data(), layout.count));
    sign_words(exec, layout.count, static_cast<float const*>(mean.values.data()),
               static_cast<std::uint32_t const*>(mean.active.data()), mean.signs.data());
    mean.count_bytes();
    return {mean.signs.data(), mean.active.data(), nullptr, mean.values.data()};
  }
  pack_slice(exec, layout.words(mean.place), static_cast<Index>(mean.part_first.extent(0)),
             static_cast<Index const*>(mean.part_first.data()), slice, mean.message.data());
  mean.gather(exec, bytes(mean.message.data(), static_cast<Index>(mean.message.extent(0))),
              bytes(mean.gathered.data(), mean.gathered_words));
  unpack_words(exec, {mean.blocks.data(), static_cast<Index>(mean.blocks.extent(0))},
               static_cast<std::uint32_t const*>(mean.gathered.data()), mean.signs.data(), mean.magnitudes.data());
  mean.count_bytes();
  return {mean.signs.data(), mean.active.data(), mean.magnitudes.data(), nullptr};
}

void HierarchicalAllreduce::visit_state(StateVisitor& visit) {
  require(!impl_->under_way, "visit_state() was called during a compressed mean");
  if (!has_nodes()) return impl_->exchange.visit_state(visit);
  SliceState slice(visit, slice_first(), impl_->layout.count);
  impl_->exchange.visit_state(slice);
}

CompressedTraffic const& HierarchicalAllreduce::last_traffic() const { return impl_->traffic; }
CompressedReport const& HierarchicalAllreduce::last_report() const { return impl_->exchange.last_report(); }

CompressedTraffic HierarchicalAllreduce::predicted_traffic(Communicator const& data, NodeGroups const* nodes,
                                                           Index count, CompressionOptions const& options, Wire wire) {
  NodeLayout const layout = layout_of(data, nodes, count, options);
  auto const& between = exchanging(data, nodes);
  int const place = place_of(nodes), others = between.size() - 1;
  Index const mine = layout.elements(place);
  auto const exchange = CompressedAllreduce::predicted_bytes(mine, between.size(), options.scale_groups);
  auto const dense = dense_bytes(data, count);
  CompressedTraffic traffic{.worker_bytes = exchange / 2,  // both phases send as many signs and scales
                            .server_bytes = exchange / 2,
                            .dense_fp32_bytes = dense[0],
                            .dense_16bit_bytes = dense[1]};
  // Each other rank gets the same share.
  for (int rank = 0; rank < between.size(); ++rank)
    if (rank != between.rank() && between.shares_node(rank)) traffic.intra_node_bytes += exchange / others;
  Index const message = others == 0 && !options.compress_alone ? mine : layout.message_words(place);
  if (layout.ranks > 1) traffic.node_bytes = bytes_of(wire) * (count - mine) + 4 * (layout.ranks - 1) * message;
  traffic.intra_node_bytes += traffic.node_bytes;
  return traffic;
}

Index HierarchicalAllreduce::predicted_slice_count(Communicator const& data, NodeGroups const* nodes, Index count,
                                                   CompressionOptions const& options) {
  return layout_of(data, nodes, count, options).elements(place_of(nodes));
}

std::int64_t HierarchicalAllreduce::predicted_buffer_bytes(Communicator const& data, NodeGroups const* nodes,
                                                           Index count, CompressionOptions const& options, Wire wire) {
  NodeLayout const layout = layout_of(data, nodes, count, options);
  auto const& between = exchanging(data, nodes);
  int const place = place_of(nodes);
  Index const mine = layout.elements(place);
  auto const exchange = CompressedAllreduce::predicted_buffer_bytes(mine, between.rank(), between.size(), options);
  if (layout.ranks == 1) return exchange;
  Index const words = (count + word_elements - 1) / word_elements;
  std::int64_t bytes = exchange + bytes_of(wire) * (count + layout.ranks * mine) + 8 * words;
  if (layout.nodes == 1 && !options.compress_alone) return bytes + 4 * count;
  Index messages = layout.message_words(place);
  for (int slice = 0; slice < layout.ranks; ++slice) messages += layout.message_words(slice);
  return bytes + 4 * (messages + words) + static_cast<std::int64_t>(layout.parts(place).size() * sizeof(Index)) +
         static_cast<std::int64_t>(layout.blocks().size() * sizeof(WordBlock));
}

std::int64_t HierarchicalAllreduce::buffer_bytes() const {
  Impl const& mean = *impl_;
  return mean.exchange.buffer_bytes() + bytes_of(mean.fp32.mine) + bytes_of(mean.fp32.received) +
         bytes_of(mean.half.mine) + bytes_of(mean.half.received) + bytes_of(mean.active) + bytes_of(mean.signs) +
         bytes_of(mean.values) + bytes_of(mean.part_first) + bytes_of(mean.blocks) + bytes_of(mean.message) +
         bytes_of(mean.gathered) + bytes_of(mean.magnitudes);
}

}  // namespace bellwether::comm
