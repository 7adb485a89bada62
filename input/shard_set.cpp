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

/// The vocabulary of a set, as far as shards record it, and which shards those are.
struct SetVocabulary {
  VocabularyRecord record;
  std::string size_from, checksum_from;

  void note(ShardFormat const& format, std::string const& file) {
    if (record.tokens == 0 && format.vocabulary != 0) {
      record.tokens = format.vocabulary;
      record.special = format.special;
      size_from = file;
    }
    if (record.checksum.empty() && !format.vocabulary_checksum.empty()) {
      record.checksum = format.vocabulary_checksum;
      checksum_from = file;
    }
  }
  /// How a shard is of another vocabulary; empty where it is not.
  std::string fault(ShardFormat const& format) const {
    auto found = VocabularyRecord::of(format);
    auto const checksum = std::exchange(found.checksum, "");
    if (auto other = other_vocabulary(found, record, size_from); !other.empty()) return other;
    found.checksum = checksum;
    return other_vocabulary(found, record, checksum_from);
  }
};

/// What in `format` does not fit the first shard, the vocabulary of the set, or the run; empty if all does.
std::vector<std::string> misfits(ShardFormat const& format, ShardFormat const& first, SetVocabulary const& of_set,
                                 DataConfig const& config, std::int64_t vocabulary) {
  std::vector<std::string> faults;
  if (format.sequence_length != first.sequence_length)
    faults.push_back("sequences of " + std::to_string(format.sequence_length) + " tokens, the first shard has " +
                     std::to_string(first.sequence_length));
  if (format.static_masks != first.static_masks)
    faults.push_back("static and dynamic masks are mixed in one set");
  else if (!format.static_masks && !config.dynamic_masking)
    faults.push_back("holds unmasked ids; allowed with data.dynamic_masking: false: shards with static masks");
  if (auto const other = of_set.fault(format); !other.empty())
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

ShardSet::ShardSet(std::vector<std::string> const& paths, DataConfig const& config, StreamGeometry const& geometry)
    : window_rows_(config.window), bounds_{.vocabulary = geometry.vocabulary, .segments = 2} {
  std::vector<std::string> faults;
  ShardFormat first;
  SetVocabulary vocabulary;
  std::string identity;
  bool have_first = false, masked = false;
  for (auto const& file : find_shards(paths)) try {
      ShardReader const reader(file);
      ShardFormat const& format = reader.format();
      if (!have_first) first = format;
      have_first = true;
      vocabulary.note(format, file);
      for (auto const& fault : misfits(format, first, vocabulary, config, geometry.vocabulary))
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
  info_.vocabulary = vocabulary.record;
  info_.fingerprint = XXH3_64bits(identity.data(), identity.size());
  dealer_ = {.rank = geometry.rank,
             .size = geometry.size,
             .micro = geometry.micro,
             .seed = geometry.seed,
             .static_masks = first.static_masks,
             .masking = {.probability = config.mask_probability,
                         .maximum = info_.masked_length,
                         .vocabulary = info_.vocabulary.tokens > 0 ? info_.vocabulary.tokens : geometry.vocabulary,
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
