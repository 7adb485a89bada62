// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/document_splitter.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace bellwether::input;

namespace {

struct Document {
  std::vector<LineDigest> lines;
  std::vector<std::int32_t> ids;
};

/// Adds a document of two lines; the first line is the same in all documents.
Document document(std::uint64_t number) {
  return {{{1, 10}, {number * 0x9E3779B97F4A7C15u, 20}}, {7, static_cast<std::int32_t>(number)}};
}

/// Returns the set of each document by its second token, in the order of `documents`. Lines are passed in groups of
/// `step`.
std::vector<std::pair<std::int32_t, bool>> split(std::vector<Document> const& documents, double share,
                                                 std::uint64_t seed, std::size_t step = 100) {
  std::vector<std::pair<std::int32_t, bool>> sets;
  bool current = false;
  DocumentSplitter splitter(
      share, seed,
      {.begin = [&](bool heldout) { current = heldout; },
       .add = [&](std::span<std::int32_t const> ids) { sets.emplace_back(ids.back(), current); }});
  for (auto const& one : documents) {
    splitter.start_document({});
    std::span<LineDigest const> lines(one.lines);
    for (; lines.size() > step; lines = lines.subspan(step)) splitter.add(lines.first(step));
    splitter.add(lines);
    splitter.add(one.ids);
  }
  splitter.finish();
  return sets;
}

double share_of(std::vector<std::pair<std::int32_t, bool>> const& sets) {
  return static_cast<double>(std::ranges::count_if(sets, [](auto const& s) { return s.second; })) /
         static_cast<double>(sets.size());
}

}  // namespace

TEST_CASE("the requested share of documents is held out, though all begin alike", "[text]") {
  constexpr int count = 20000;
  std::vector<Document> documents;
  for (int i = 0; i < count; ++i) documents.push_back(document(static_cast<std::uint64_t>(i)));
  for (double const share : {0.0, 0.01, 0.1, 0.5, 0.9})
    for (std::uint64_t seed = 1; seed < 4; ++seed)
      CHECK(std::abs(share_of(split(documents, share, seed)) - share) <= 4 * std::sqrt(share * (1 - share) / count));
  CHECK(split(documents, 0.3, 1) == split(documents, 0.3, 1, 1));
  CHECK(split(documents, 0.3, 1) != split(documents, 0.3, 2));
}

TEST_CASE("a document's set depends neither on its place nor on its copies", "[text]") {
  std::vector<Document> documents;
  for (std::uint64_t i = 0; i < 500; ++i) documents.push_back(document(i % 250));
  auto const forward = split(documents, 0.5, 3);
  std::map<std::int32_t, bool> set;
  for (auto const& [id, heldout] : forward) CHECK(set.emplace(id, heldout).first->second == heldout);
  std::ranges::reverse(documents);
  auto backward = split(documents, 0.5, 3);
  std::ranges::reverse(backward);
  CHECK(forward == backward);
}

TEST_CASE("the first 8 MiB of a very long document decide, whatever the blocks", "[text]") {
  Document longer;
  for (std::uint64_t i = 0; i < 3000; ++i) longer.lines.push_back({i * 0x9E3779B97F4A7C15u, 4096});
  longer.ids = {1, 2, 3};
  std::vector<Document> documents(40, longer);
  for (std::uint64_t i = 0; i < 40; ++i) {
    documents[i].lines[5].hash = i / 2 * 12345;  // pairs of copies; later lines differ
    documents[i].lines.back().hash = i;
  }
  auto const once = split(documents, 0.5, 1, 4000), cut = split(documents, 0.5, 1, 17);
  CHECK(once == cut);
  for (std::size_t i = 0; i < 40; i += 2) CHECK(once[i].second == once[i + 1].second);
  CHECK(share_of(once) > 0);
  CHECK(share_of(once) < 1);
}

TEST_CASE("duplicates are counted exactly, or from a sample if there are many", "[text]") {
  auto const hash = [](std::uint64_t i) { return (i + 1) * 0x9E3779B97F4A7C15u ^ (i * 0xD6E8FEB86659FD93u >> 29); };
  DuplicateCount exact(1000), sampled(1000);
  for (std::uint64_t i = 0; i < 600; ++i) exact.add(hash(i % 450));
  CHECK(exact.share() == 0.25);
  for (std::uint64_t i = 0; i < 120000; ++i) sampled.add(hash(i % 90000));
  CHECK(std::abs(sampled.share() - 0.25) < 0.03);
  CHECK(DuplicateCount().share() == 0);
}

TEST_CASE("the median of lengths is exact for small values and close for large ones", "[text]") {
  LengthMedian small, large;
  CHECK(small.median() == 0);
  for (int i = 1; i <= 101; ++i) small.add(i % 60);
  CHECK(small.median() == 25);
  for (int i = 0; i <= 1000; ++i) large.add(1000 + 100 * i);
  CHECK(std::abs(static_cast<double>(large.median()) / 51000 - 1) < 0.05);
}

TEST_CASE("the longest document is found with its place; documents without tokens are ignored", "[text]") {
  int begun = 0;
  DocumentSplitter splitter(0, 1, {.begin = [&](bool) { ++begun; }, .add = [](std::span<std::int32_t const>) {}});
  std::vector<std::int32_t> const ids(5, 7);
  for (std::int64_t line = 1; line < 10; ++line) {
    splitter.start_document({2, line});
    for (std::int64_t sentence = 0; sentence < (line == 4 ? 3 : line == 5 ? 0 : 1); ++sentence) splitter.add(ids);
  }
  splitter.finish();
  CHECK(begun == 8);
  CHECK(splitter.longest() == 15);
  CHECK(splitter.longest_at().file == 2);
  CHECK(splitter.longest_at().line == 4);
  CHECK(splitter.median() == 5);
}
