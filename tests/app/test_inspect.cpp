// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/inspect.hpp"
#include "core/error.hpp"
#include "input/hdf5_file.hpp"
#include "tests/input/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sstream>

using namespace bellwether;
using namespace bellwether::app;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string inspected(std::string const& path, InspectOptions const& options = {}) {
  std::ostringstream out;
  inspect(path, options, out);
  return out.str();
}

}  // namespace

TEST_CASE("inspect tells what a shard holds", "[inspect]") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 21);
  write_shard(folder / "b.h5", small_format(false), 0, 3);
  auto const one = inspected(folder / "a.h5", {.rows = 1});
  CHECK_THAT(one, ContainsSubstring("a.h5: Bellwether shard"));
  CHECK_THAT(one, ContainsSubstring("rows                21\n"));
  CHECK_THAT(one, ContainsSubstring("static, 2.00 a row"));
  CHECK_THAT(one, ContainsSubstring("random next         33.3 %"));
  CHECK_THAT(one, ContainsSubstring("[CLS] 1, [SEP] 2, [MASK] 3"));
  // Row 0 has 6 tokens: [CLS], one masked, [SEP], two, [SEP].
  CHECK_THAT(one, ContainsSubstring("row 0 (random next)\n  ids       1 3 2 13 14 2\n  segments  0 0 0 1 1 1\n"
                                    "  masked at 1\n  original  11\n"));
  auto const both = inspected(folder.path());
  CHECK_THAT(both, ContainsSubstring("a.h5: Bellwether shard") && ContainsSubstring("b.h5: Bellwether shard") &&
                       ContainsSubstring("dynamic: drawn at training time"));
}

TEST_CASE("inspect tells what other files hold", "[inspect]") {
  TemporaryFolder const folder;
  auto file = input::Hdf5File::create(folder / "replicated.h5");
  file.set_attribute("/", "format", "bellwether checkpoint");
  file.set_attribute("/", "step", std::int64_t{40});
  file.write<float>("parameters/pooler", {2, 2}, std::vector<float>{1, -1, 1, -1});
  file.write_texts("deck", {"run:\n  seed: 7\n"});
  file.write_table("steps", {{"step", std::vector<std::int64_t>{1, 2}}, {"loss", std::vector<double>{9, 8.5}}});
  file.close();
  auto const text = inspected(folder / "replicated.h5", {.show_deck = true});
  CHECK_THAT(text, ContainsSubstring("replicated.h5: bellwether checkpoint"));
  CHECK_THAT(text, ContainsSubstring("/@step = 40\n"));
  CHECK_THAT(text, ContainsSubstring("/parameters/pooler  float32 (2, 2)  rms 1\n"));
  CHECK_THAT(text,
             ContainsSubstring("steps: 2 rows, the last one:\n  step                2\n  loss                8.5\n"));
  CHECK_THAT(text, ContainsSubstring("  seed: 7\n"));
  CHECK_THROWS_AS(inspected(folder / "nothing.h5"), InputError);
}

TEST_CASE("inspect speaks of no model where an id is out of range", "[inspect]") {
  TemporaryFolder const folder;
  auto file = input::Hdf5File::create(folder / "foreign.h5");
  std::vector<std::int64_t> const row{1, 1, 1, 1};
  for (char const* name : {"input_mask", "segment_ids"}) file.write<std::int64_t>(name, {1, 4}, row);
  for (char const* name : {"masked_lm_positions", "masked_lm_ids"})
    file.write<std::int64_t>(name, {1, 1}, std::vector<std::int64_t>{0});
  file.write<std::int64_t>("next_sentence_labels", {1}, std::vector<std::int64_t>{0});
  file.write<std::int64_t>("input_ids", {1, 4}, std::vector<std::int64_t>{1, -1, 5, 2});
  file.close();
  CHECK_THROWS_WITH(
      inspected(folder / "foreign.h5"),
      ContainsSubstring("'input_ids', row 0, column 1: -1; allowed: 0 to 2147483646") && !ContainsSubstring("model"));
}
