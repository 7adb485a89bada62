// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/parameter_layout.hpp"
#include "core/memory/arena.hpp"
#include "core/system/error.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

using namespace bellwether;

namespace {

ParameterLayout small_layout() {
  ParameterLayout layout;
  layout.add({.name = "weight", .shape = {3, 5}, .active = 15});
  layout.add({.name = "bias", .shape = {5}, .decays = false, .adapts = false, .active = 0});
  layout.add({.name = "scalar", .shape = {}, .active = 1});
  return layout;
}

}  // namespace

TEST_CASE("tensors lie one after the other without gaps") {
  auto const layout = small_layout();
  CHECK(layout.count() == 21);
  CHECK(layout.find("weight").offset == 0);
  CHECK(layout.find("bias").offset == 15);
  CHECK(layout.find("scalar").offset == 20);
  CHECK(layout.find("scalar").count == 1);
  CHECK(layout.index_of("bias") == 1);
}

TEST_CASE("a layout rejects duplicate and unknown names and wrong active counts") {
  auto layout = small_layout();
  CHECK_THROWS_AS(layout.add({.name = "bias", .shape = {1}, .active = 1}), InternalError);
  CHECK_THROWS_AS(layout.find("no such tensor"), InternalError);
  CHECK_THROWS_AS(layout.add({.name = "more", .shape = {2}, .active = 3}), InternalError);
  for (auto const& masked : std::vector<std::vector<std::int64_t>>{{1, 0}, {1, 1}, {-1}, {2}, {0, 1, 3}})
    CHECK_THROWS_AS(layout.add({.name = "marked", .shape = {4}, .active = 2, .masked = masked}), InternalError);
  CHECK(layout.count() == 21);
}

TEST_CASE("the fingerprint covers every property that ranks must share") {
  auto const original = small_layout().fingerprint();
  CHECK(small_layout().fingerprint() == original);
  auto const changed = [](TensorInfo const& first) {
    ParameterLayout layout;
    layout.add(first);
    layout.add({.name = "bias", .shape = {5}, .decays = false, .adapts = false, .active = 0});
    layout.add({.name = "scalar", .shape = {}, .active = 1});
    return layout.fingerprint();
  };
  CHECK(changed({.name = "weight", .shape = {3, 5}, .active = 15}) == original);
  CHECK(changed({.name = "weighs", .shape = {3, 5}, .active = 15}) != original);
  CHECK(changed({.name = "weight", .shape = {5, 3}, .active = 15}) != original);
  CHECK(changed({.name = "weight", .shape = {3, 5}, .active = 14}) != original);
  CHECK(changed({.name = "weight", .shape = {3, 5}, .decays = false, .active = 15}) != original);
  CHECK(changed({.name = "weight", .shape = {3, 5}, .adapts = false, .active = 15}) != original);
}

TEST_CASE("a fingerprint with other active counts equals that of the layout with these counts") {
  auto const layout = small_layout();
  CHECK(layout.active_counts() == std::vector<std::int64_t>{15, 0, 1});
  CHECK(layout.fingerprint(layout.active_counts()) == layout.fingerprint());
  ParameterLayout fewer;
  for (auto tensor : layout.tensors()) {
    if (tensor.name == "weight") tensor.active = 10;
    fewer.add(tensor);
  }
  CHECK(layout.fingerprint(fewer.active_counts()) == fewer.fingerprint());
  CHECK(fewer.fingerprint() != layout.fingerprint());
  CHECK_THROWS_AS(layout.fingerprint(std::vector<std::int64_t>{15, 0}), InternalError);
}

TEST_CASE("an arena is one buffer of zeros, and its tensors are slices of it") {
  auto const layout = small_layout();
  Arena<double> const arena(layout, "bellwether::test::arena");
  CHECK(arena.count() == 21);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), arena.flat());
  CHECK(std::all_of(host.data(), host.data() + 21, [](double value) { return value == 0; }));
  CHECK(arena.tensor(layout.find("bias")) == arena.data() + 15);
}
