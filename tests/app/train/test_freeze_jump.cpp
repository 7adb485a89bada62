// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics.hpp"
#include "app/train/freeze_jump.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace bellwether;
using app::freeze_jump;

TEST_CASE("a jump is a ratio of medians, if both exist") {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  using Values = std::vector<float>;
  CHECK(app::jump(Values{1, 9, 2}, Values{8}) == 4.0);
  CHECK(app::jump(Values{1, none, 3}, Values{none, 1}) == 0.5);
  CHECK(app::jump(Values{0, 0}, Values{0}) == std::nullopt);
  CHECK(app::jump(Values{none}, Values{1}) == std::nullopt);
  CHECK(app::jump(Values{1}, Values{}) == std::nullopt);
  CHECK(std::isinf(*app::jump(Values{0}, Values{1})));
}

TEST_CASE("layers whose updates jump at the freeze are named") {
  TemporaryFolder const folder;
  input::IoThread io;
  bool const norms = GENERATE(true, false);
  app::StatisticsOptions options;
  options.directory = folder.path();
  options.layers = {"calm", "grows", "shrinks", "at_rest"};
  options.quantities = {norms ? "update_norm" : "sign_agreement"};
  app::Statistics statistics(options, io);
  // The freeze is after step 25. Rows of every fifth step and of those around the freeze. Far from the freeze all
  // values differ.
  for (std::int64_t step = 5; step <= 60; ++step) {
    bool const near = step > 15 && step <= 35, after = step > 25;
    if (!near && step % 5 != 0) continue;
    float const far = near ? 1 : 100;
    std::vector<float> const row{after ? 2.9f * far : 1, after ? 3.2f : 1 * far, after ? 0.3f : 1 * far, 0};
    statistics.append_layers(step, std::array<std::span<float const>, 1>{row});
  }
  statistics.flush();
  statistics.wait();
  auto const said = io.run(input::IoThread::Priority::statistics, [&] { return freeze_jump(folder.path(), 25); });
  CHECK(said == (norms ? "update norms just after the freeze at step 25 are not within a factor of 3 of those before "
                         "it (ratio of medians): grows (3.2), shrinks (0.3)"
                       : ""));
  if (!norms) return;
  CHECK(io.run(input::IoThread::Priority::statistics, [&] { return freeze_jump(folder.path(), 100); }).empty());
}

TEST_CASE("of many layers that jump, the farthest are named and all are counted") {
  TemporaryFolder const folder;
  input::IoThread io;
  app::StatisticsOptions options;
  options.directory = folder.path();
  for (int layer = 0; layer < 14; ++layer) options.layers.push_back("layer" + std::to_string(layer));
  options.quantities = {"update_norm"};
  app::Statistics statistics(options, io);
  for (std::int64_t step = 1; step <= 4; ++step) {
    std::vector<float> row(14, 1);
    for (std::size_t layer = 0; layer < row.size() && step > 2; ++layer)
      row[layer] = layer == 13 ? 1 : static_cast<float>(layer + 4);
    statistics.append_layers(step, std::array<std::span<float const>, 1>{row});
  }
  statistics.flush();
  statistics.wait();
  auto const said = io.run(input::IoThread::Priority::statistics, [&] { return freeze_jump(folder.path(), 2); });
  CHECK(said.find("medians): layer12 (16), layer11 (15), ") != std::string::npos);
  CHECK(said.ends_with("layer3 (7) and 3 more of 14 layers; bellwether report lists all"));
}
