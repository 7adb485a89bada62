// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/trained_passages.hpp"

#include "core/system/error.hpp"
#include "input/shards/shards.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

namespace bellwether::input {
namespace {

constexpr std::int64_t places = 64, rows_at_a_place = 8;  // of the held-out set
constexpr std::int64_t most_rows = 200'000;  // of the training set, for 128 tokens a row; fewer if rows are longer
constexpr std::int64_t most_tokens = most_rows * 128, most_shards = 256, piece = 4096;
constexpr std::size_t passage = 12;        // tokens; phrases common to all texts are shorter
constexpr std::size_t least_passages = 3;  // rows with fewer are not compared
constexpr double few = 0.05;               // share of repeated rows that is usual in a corpus
constexpr std::int64_t few_rows = 2;       // number of repeated rows that is usual in a small one

/// Ids that no passage contains: [CLS] and [SEP].
using Ends = std::vector<std::int64_t>;

/// Calls `visit(hash)` for a quarter of the passages of a row. The hash selects them, so that it selects the same ones
/// in every row.
template <class Visit>
void for_each_passage(std::span<std::int32_t const> ids, Ends const& ends, Visit const& visit) {
  constexpr std::uint64_t base = 0x9E3779B97F4A7C15;  // odd; base of a polynomial modulo 2^64
  constexpr std::uint64_t leaving = [] {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < passage; ++i) power *= base;
    return power;
  }();
  std::uint64_t hash = 0;
  std::size_t tokens = 0;  // since the sentence began
  for (std::size_t i = 0; i < ids.size() && ids[i] >= 0; ++i) {
    if (std::ranges::find(ends, ids[i]) != ends.end()) {
      hash = 0;
      tokens = 0;
      continue;
    }
    hash = hash * base + static_cast<std::uint64_t>(ids[i]) + 1;
    if (tokens >= passage) hash -= leaving * (static_cast<std::uint64_t>(ids[i - passage]) + 1);
    if (++tokens < passage) continue;
    auto mixed = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
    mixed ^= mixed >> 32;
    if (mixed % 4 == 0) visit(mixed);
  }
}

/// Calls `visit(ids)` for rows [first, first + count) of a shard.
template <class Visit>
void visit_rows(ShardReader const& reader, std::int64_t first, std::int64_t count, Visit const& visit) {
  auto const width = static_cast<std::size_t>(reader.format().sequence_length);
  for (std::int64_t row = first; row < first + count; row += piece) {
    auto const ids = reader.plain_ids(row, std::min(piece, first + count - row));
    for (std::size_t at = 0; at < ids.size(); at += width) visit(std::span(ids).subspan(at, width));
  }
}

std::int64_t rows_of(std::span<OpenedShard const> shards) {
  std::int64_t rows = 0;
  for (auto const& shard : shards) rows += shard.rows;
  return rows;
}

/// Returns the ids of both sets, because shards of other programs do not record them. If an ordinary word has such an
/// id, it ends passages in both sets alike.
Ends ends_of(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout) {
  Ends ends;
  for (auto const shards : {train, heldout})
    for (auto const& shard : shards) try {
        auto const special = ShardReader(shard.path).format().special;
        for (auto const id : {special.classify, special.separate})
          if (std::ranges::count(ends, id) == 0) ends.push_back(id);
        break;
      } catch (InputError const&) {
        continue;  // the next shard has the same ids
      }
  return ends;
}

/// Returns the passages of each held-out row. Rows with too few are omitted.
std::vector<std::vector<std::uint64_t>> heldout_passages(std::span<OpenedShard const> heldout, Ends const& ends) {
  std::vector<std::vector<std::uint64_t>> rows;
  auto const total = rows_of(heldout), step = std::max(rows_at_a_place, (total + places - 1) / places);
  std::int64_t before = 0, place = 0;  // rows of earlier shards; the next place, counted over all shards
  for (auto const& shard : heldout) {
    auto const reader = place < before + shard.rows ? std::optional<ShardReader>(shard.path) : std::nullopt;
    for (; place < before + shard.rows; place += step) {
      auto const first = place - before;
      visit_rows(*reader, first, std::min(rows_at_a_place, shard.rows - first), [&](auto ids) {
        std::vector<std::uint64_t> passages;
        for_each_passage(ids, ends, [&](auto hash) { passages.push_back(hash); });
        if (passages.size() >= least_passages) rows.push_back(std::move(passages));
      });
    }
    before += shard.rows;
  }
  return rows;
}

/// Searches training rows for the `wanted` passages and counts the rows.
struct Search {
  std::unordered_set<std::uint64_t> const& wanted;
  Ends const& ends;
  std::unordered_set<std::uint64_t> found{};
  std::int64_t rows = 0;

  void look(OpenedShard const& shard, std::int64_t count) try {
    visit_rows(ShardReader(shard.path), 0, count, [&](auto ids) {
      ++rows;
      for_each_passage(ids, ends, [&](auto hash) {
        if (wanted.contains(hash)) found.insert(hash);
      });
    });
  } catch (InputError const&) {
    // Training reports a row that cannot be read, if it reads that row at all.
  }
  void look(std::span<OpenedShard const> train) {
    auto const total = rows_of(train);
    auto const allowed = std::min(most_rows, most_tokens / std::max<std::int64_t>(1, train.front().sequence_length));
    bool const all = total <= allowed;
    auto const step = all ? 1 : (std::ssize(train) + most_shards - 1) / most_shards;
    auto const share = all ? total : std::max<std::int64_t>(1, allowed * step / std::ssize(train));
    for (std::int64_t i = 0; i < std::ssize(train); i += step) {
      auto const& shard = train[static_cast<std::size_t>(i)];
      look(shard, std::min(share, shard.rows));
    }
  }
};

}  // namespace

std::string trained_passages(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout) try {
  auto const ends = ends_of(train, heldout);
  auto const rows = heldout_passages(heldout, ends);
  std::unordered_set<std::uint64_t> wanted;
  for (auto const& passages : rows) wanted.insert(passages.begin(), passages.end());
  if (wanted.empty() || train.empty()) return "";
  Search search{.wanted = wanted, .ends = ends};
  search.look(train);
  auto const known = std::ranges::count_if(rows, [&](auto const& passages) {
    auto const shared = std::ranges::count_if(passages, [&](auto hash) { return search.found.contains(hash); });
    // A third is enough: passages that cross the end of a sentence in the training rows are not found.
    return 3 * static_cast<std::size_t>(shared) > passages.size();
  });
  auto const total = rows_of(train), looked_at = std::ssize(rows);
  // If only a part of the training rows is searched, only that part of the repeated text can be found.
  double const part = static_cast<double>(search.rows) / static_cast<double>(std::max<std::int64_t>(1, total));
  if (known <= std::min(few_rows, looked_at - 1) ||
      static_cast<double>(known) <= few * part * static_cast<double>(looked_at))
    return "";
  return std::to_string(known) + " of the " + std::to_string(looked_at) +
         " held-out rows that were compared are trained on, too" +
         (search.rows < total ? ", judging from " + std::to_string(search.rows) + " of the " + std::to_string(total) +
                                    " rows of data.train"
                              : "") +
         ": held-out loss says little about unseen text; make both sets with one call of `prepare --heldout`, and "
         "remove "
         "near-duplicates and repeated passages from the text before it";
} catch (InputError const&) {
  return "";  // evaluation reads the rows and reports the fault
}

}  // namespace bellwether::input
