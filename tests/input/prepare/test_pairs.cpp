// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/pairs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;

namespace {

/// 200 documents of 30 segments of 5..20 tokens. Token = 1000 * document + position, so that its origin is known.
DocumentWindow sample_window() {
  DocumentWindow window(125);
  RandomStream random(7, Purpose::pairs, 0);
  for (std::int32_t document = 0; document < 200; ++document) {
    window.start_document();
    std::int32_t next = 1000 * document;
    for (int s = 0; s < 30; ++s) {
      std::vector<std::int32_t> ids(5 + random.below(16));
      for (auto& id : ids) id = next++;
      window.add_segment(ids);
    }
  }
  return window;
}

auto fields(SentencePair const& p) {
  return std::tuple(p.first_begin, p.first_count, p.second_begin, p.second_count, p.random_next);
}

}  // namespace

TEST_CASE("pairs fit, and follow each other or not as their label says", "[pairs]") {
  auto const window = sample_window();
  auto const pairs = draw_pairs(window, {.sequence_length = 128}, 1, 0, 0);
  auto const ids = window.ids();
  double random = 0;
  for (auto const& p : pairs) {
    REQUIRE(p.first_count >= 1);
    REQUIRE(p.second_count >= 1);
    REQUIRE(p.first_count + p.second_count <= 125);
    auto const a = ids.subspan(p.first_begin, p.first_count), b = ids.subspan(p.second_begin, p.second_count);
    CHECK(a.front() / 1000 == a.back() / 1000);
    CHECK(b.front() / 1000 == b.back() / 1000);
    CHECK((a.front() / 1000 != b.front() / 1000) == p.random_next);
    if (!p.random_next) CHECK(b.front() > a.back());
    random += p.random_next ? 1 : 0;
  }
  double const n = static_cast<double>(pairs.size());
  // Half are drawn at random; the last chunk of a document adds some, because it often has one segment.
  CHECK(random / n > 0.47);
  CHECK(random / n < 0.60);
}

TEST_CASE("every token is in some pair of a pass without truncation", "[pairs]") {
  DocumentWindow window(1000);
  for (std::int32_t document = 0; document < 50; ++document) {
    window.start_document();
    for (std::int32_t s = 0; s < 10; ++s) window.add_segment(std::vector<std::int32_t>{100 * document + s});
  }
  // The sequence is longer than any document: one chunk takes all segments; those unused after a random next are taken
  // again.
  auto const pairs = draw_pairs(window, {.sequence_length = 1003, .short_probability = 0}, 3, 0, 0);
  std::vector<int> seen(static_cast<std::size_t>(window.tokens()));
  for (auto const& p : pairs) {
    for (std::uint32_t i = 0; i < p.first_count; ++i) ++seen[p.first_begin + i];
    if (!p.random_next)
      for (std::uint32_t i = 0; i < p.second_count; ++i) ++seen[p.second_begin + i];
  }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
}

TEST_CASE("pairs depend only on seed, window and pass", "[pairs]") {
  auto const window = sample_window();
  auto const draw = [&](std::uint64_t seed, std::int64_t number, std::int64_t pass) {
    std::vector<decltype(fields({}))> result;
    for (auto const& p : draw_pairs(window, {.sequence_length = 64}, seed, number, pass)) result.push_back(fields(p));
    return result;
  };
  auto const reference = draw(1, 0, 0);
  CHECK(draw(1, 0, 0) == reference);
  CHECK(draw(2, 0, 0) != reference);
  CHECK(draw(1, 1, 0) != reference);
  CHECK(draw(1, 0, 1) != reference);
}

TEST_CASE("long segments are split and empty documents are ignored", "[pairs]") {
  DocumentWindow window(10);
  window.start_document();
  window.add_segment({});
  window.start_document();
  window.add_segment(std::vector<std::int32_t>(23, 1));
  window.add_segment(std::vector<std::int32_t>(10, 2));
  REQUIRE(window.documents() == 1);
  std::vector<std::uint32_t> counts;
  for (auto const& segment : window.document(0)) counts.push_back(segment.count);
  CHECK(counts == std::vector<std::uint32_t>{4, 5, 4, 5, 5, 10});
  // With one document, its own segments replace another document's.
  CHECK_FALSE(draw_pairs(window, {.sequence_length = 13}, 1, 0, 0).empty());
}
