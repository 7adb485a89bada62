// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Tests how values that are computed only for a checkpoint are written.
#include "app/checkpoint/device_copy.hpp"
#include "tests/app/checkpoint/checkpoint_fixture.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <new>
#include <vector>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// More values than one task writes; each value follows from its index.
class Ramp final : public FormedValues {
 public:
  explicit Ramp(bool fails) : fails_(fails) {}
  static float value(std::int64_t k) { return static_cast<float>(k % 1000003); }
  std::int64_t count() const override { return (std::int64_t{9} << 20) + 5; }
  void give(std::int64_t first, std::int64_t size, Use const& use) const override {
    if (fails_ && first > 0) throw std::bad_alloc();
    app::DeviceBuffer const device(static_cast<std::size_t>(size));
    std::vector<float> values;
    for (std::int64_t k = first; k < first + size; ++k) values.push_back(value(k));
    app::copy_to_device(values, device.values());
    use(first, device.values());
  }

 private:
  bool fails_;
};

}  // namespace

TEST_CASE("Values computed for a checkpoint are saved piece by piece, and a failure is reported on all ranks") {
  CheckpointFixture run({.keep = 0, .asynchronous = GENERATE(true, false)});
  auto owner = run.owner(1);
  auto state = owner.state();
  bool const fails = GENERATE(false, true);
  Ramp const ramp(fails);
  state.optimizer = [&, plain = state.optimizer](StateVisitor& visit) {
    plain(visit);
    visit.formed("ramp", ramp);
  };
  auto const save = [&] {
    run.checkpoints->save(1, "deck", state);
    run.checkpoints->wait();
  };
  if (fails) {
    CHECK_THROWS_WITH(save(), ContainsSubstring("optimizer/ramp: no memory to compute it: not enough memory"));
    CHECK_FALSE(run.checkpoints->find_latest().has_value());
    return;
  }
  save();
  on_rank_0([&] {
    auto const file = input::Hdf5File::open(run.folder->step(1) + "/replicated.h5");
    std::vector<float> values(static_cast<std::size_t>(ramp.count()));
    file.read_slab<float>("optimizer/ramp", {0}, {ramp.count()}, values);
    bool right = true;
    for (std::size_t k = 0; k < values.size(); ++k)
      right = right && values[k] == Ramp::value(static_cast<std::int64_t>(k));
    CHECK(right);
  });
}
