// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/random.hpp"
#include "model/batch/device_batch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <map>
#include <vector>

using namespace bellwether;
using namespace bellwether::model;

namespace {

std::vector<std::int32_t> read(std::int32_t const* from, Index count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(Kokkos::View<std::int32_t*, Kokkos::HostSpace, Unmanaged>(values.data(), values.size()),
                    Kokkos::View<std::int32_t const*, Mem, Unmanaged>(from, values.size()));
  return values;
}

Batch batch_of(std::vector<std::int32_t> ids) {
  auto const length = static_cast<std::int32_t>(ids.size());
  Batch batch;
  batch.segment_ids.assign(ids.size(), 0);
  batch.token_ids = std::move(ids);
  batch.sequence_offsets = {0, length};
  batch.next_labels = {0};
  batch.samples = {5};
  return batch;
}

}  // namespace

TEST_CASE("the token index groups rows by id, in row order") {
  // The sort needs one, two, three or four digits for these ids; the first case has a single id.
  auto const ids = GENERATE(std::int32_t{1}, 200, 30522, 70000, 2147483647);
  Index const count = GENERATE(Index{1}, 37, 500);
  CAPTURE(ids, count);
  RandomStream random(3, Purpose::pairs, static_cast<std::uint64_t>(ids));
  std::vector<std::int32_t> tokens;
  std::map<std::int32_t, std::vector<std::int32_t>> rows;
  for (std::int32_t row = 0; row < count; ++row) {
    // Few distinct ids, so that most have several rows.
    auto const id = static_cast<std::int32_t>(std::int64_t{random.below(23)} * (ids - 1) / 22);
    tokens.push_back(id);
    rows[id].push_back(row);
  }

  Exec const exec;
  Capacity const capacity{.sequences = 1, .longest = count, .masked = 1};
  Workspace workspace;
  DeviceBatch batch(capacity, workspace);
  workspace.allocate("bellwether::test::batch");
  batch.load(exec, batch_of(tokens));
  exec.fence("bellwether::test::loaded");

  auto const& index = batch.token_index;
  REQUIRE(index.entries == std::ssize(rows));
  auto const entry_ids = read(index.ids, index.entries), starts = read(index.starts, index.entries + 1),
             order = read(index.order, count);
  std::size_t entry = 0;
  for (auto const& [id, mine] : rows) {
    CHECK(entry_ids[entry] == id);
    CHECK(std::vector(order.begin() + starts[entry], order.begin() + starts[entry + 1]) == mine);
    ++entry;
  }
}
