// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shard_set.hpp"

#include "core/error.hpp"
#include "input/shard_files.hpp"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::input {
namespace {

constexpr std::int64_t rows_looked_at = 256;     // of a shard, for masks
constexpr std::int64_t labels_looked_at = 1024;  // of a shard, to tell it from others: a chunk
constexpr std::int64_t least_piece = 256;        // rows: a read of some 100 kB and more is worth its seek

/// What in `format` does not fit the first shard, the first that says its vocabulary, or the run; empty if all does.
std::vector<std::string> misfits(ShardFormat const& format, ShardFormat const& first, ShardFormat const& vocabulary_of,
                                 DataConfig const& config, std::int64_t vocabulary) {
  std::vector<std::string> faults;
  if (format.sequence_length != first.sequence_length)
    faults.push_back("sequences of " + std::to_string(format.sequence_length) + " tokens, the first shard has " +
                     std::to_string(first.sequence_length));
  if (format.static_masks != first.static_masks)
    faults.push_back("static and dynamic masks are mixed in one set");
  else if (!format.static_masks && !config.dynamic_masking)
    faults.push_back("holds unmasked ids; allowed with data.dynamic_masking: false: shards with static masks");
  auto const other = other_vocabulary(format.vocabulary, format.special, vocabulary_of.vocabulary,
                                      vocabulary_of.special, "the first shard");
  if (!other.empty())
    faults.push_back(other);
  else if (!format.static_masks && format.special != first.special)
    faults.push_back("special ids differ from the first shard's");
  // Masks that are drawn put special ids into rows whose own ids were checked.
  for (auto const& [name, id] : {std::pair{"[CLS]", format.special.classify},
                                 std::pair{"[SEP]", format.special.separate}, std::pair{"[MASK]", format.special.mask}})
    if (!format.static_masks && (id < 0 || id >= vocabulary))
      faults.push_back(std::string(name) + " is id " + std::to_string(id) + "; allowed: 0 to model.vocabulary - 1, " +
                       std::to_string(vocabulary - 1));
  if (format.vocabulary > vocabulary)
    faults.push_back("made with a vocabulary of " + std::to_string(format.vocabulary) +
                     "; allowed: at most model.vocabulary, " + std::to_string(vocabulary));
  return faults;
}

}  // namespace

std::string other_vocabulary(std::int64_t vocabulary, SpecialIds const& special, std::int64_t expected,
                             SpecialIds const& expected_special, std::string const& whose) {
  if (vocabulary == 0 || expected == 0) return "";
  if (vocabulary != expected)
    return "made with a vocabulary of " + std::to_string(vocabulary) + ", " + whose + " with one of " +
           std::to_string(expected) + "; allowed: shards of one vocabulary";
  auto const ids = [](SpecialIds const& s) {
    return std::to_string(s.classify) + ", " + std::to_string(s.separate) + ", " + std::to_string(s.mask);
  };
  if (special != expected_special)
    return "made with [CLS], [SEP], [MASK] = " + ids(special) + ", " + whose + " with " + ids(expected_special) +
           "; allowed: shards of one vocabulary";
  return "";
}

ShardSet::ShardSet(std::vector<std::string> const& paths, DataConfig const& config, StreamGeometry const& geometry)
    : window_rows_(config.window), bounds_{.vocabulary = geometry.vocabulary, .segments = 2} {
  std::vector<std::string> faults;
  ShardFormat first, with_vocabulary;
  with_vocabulary.vocabulary = 0;
  std::string identity;
  bool have_first = false, masked = false;
  for (auto const& file : find_shards(paths)) try {
      ShardReader const reader(file);
      ShardFormat const& format = reader.format();
      if (!have_first) first = format;
      have_first = true;
      if (with_vocabulary.vocabulary == 0) with_vocabulary = format;
      for (auto const& fault : misfits(format, first, with_vocabulary, config, geometry.vocabulary))
        faults.push_back(file + ": " + fault);
      // Whole chunks, so that none is decompressed twice.
      std::int64_t const chunk = reader.chunk_rows(), least = std::min(least_piece, config.window);
      masked = masked || !format.static_masks || reader.has_predictions(rows_looked_at);
      extents_.push_back({reader.rows(), (least + chunk - 1) / chunk * chunk});
      info_.rows += reader.rows();
      info_.masked_length = std::max(info_.masked_length, format.masked_length);
      // File names without folders: data may move between runs.
      identity += std::filesystem::path(file).filename().string() + '\n' + std::to_string(reader.rows()) +
                  (format.static_masks ? " static\n" : " dynamic\n");
      info_.shards.push_back({.path = file,
                              .rows = reader.rows(),
                              .sequence_length = format.sequence_length,
                              .bytes = static_cast<std::int64_t>(std::filesystem::file_size(file)),
                              .labels = reader.label_checksum(labels_looked_at)});
      info_.bytes += info_.shards.back().bytes;
    } catch (InputError const& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  if (have_first && geometry.positions > 0 && first.sequence_length > geometry.positions)
    faults.push_back("sequences of " + std::to_string(first.sequence_length) +
                     " tokens; allowed: at most model.positions, " + std::to_string(geometry.positions));
  if (!faults.empty()) throw InputError(faults);
  if (info_.rows == 0)
    throw InputError(info_.shards.empty() ? "no shards" : info_.shards.front().path + ": no rows in any shard");
  for (auto const& [original, copy] : find_copies(info_.shards))
    info_.warnings.push_back(info_.shards[copy].path + ": holds the same rows as " + info_.shards[original].path +
                             ", which therefore come twice an epoch");
  info_.sequence_length = first.sequence_length;
  info_.static_masks = first.static_masks;
  info_.unmasked = !masked;
  info_.vocabulary = with_vocabulary.vocabulary;
  info_.special = with_vocabulary.special;
  info_.fingerprint = XXH3_64bits(identity.data(), identity.size());
  dealer_ = {.rank = geometry.rank,
             .size = geometry.size,
             .micro = geometry.micro,
             .seed = geometry.seed,
             .static_masks = first.static_masks,
             .masking = {.probability = config.mask_probability,
                         .maximum = info_.masked_length,
                         .vocabulary = info_.vocabulary > 0 ? info_.vocabulary : geometry.vocabulary,
                         .special = first.special}};
}

ShardRows ShardSet::read(Piece const& piece) const {
  ShardRows loaded = ShardReader(info_.shards.at(static_cast<std::size_t>(piece.shard)).path)
                         .read(piece.first_row, piece.rows, bounds_);
  if (info_.static_masks) return loaded;
  // Every rank needs the predictions of all sequences for the global count, but draws the masks of its own only.
  for (std::int64_t r = 0; r < piece.rows; ++r) {
    std::int64_t const length = loaded.lengths[static_cast<std::size_t>(r)];
    auto const ids =
        std::span<std::int32_t const>(loaded.token_ids)
            .subspan(static_cast<std::size_t>(r * loaded.sequence_length), static_cast<std::size_t>(length));
    loaded.predictions.push_back(
        static_cast<std::int32_t>(prediction_count(dealer_.masking, length, candidate_count(dealer_.masking, ids))));
  }
  return loaded;
}

}  // namespace bellwether::input
