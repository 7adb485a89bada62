// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shard_set.hpp"

#include "core/system/error.hpp"
#include "input/deck/shard_files.hpp"
#include "input/shards/shard_doubts.hpp"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::input {
namespace {

constexpr std::int64_t rows_looked_at = 256;     // of a shard, for masks
constexpr std::int64_t shards_looked_at = 256;   // of a set, for ids
constexpr std::int64_t few_predictions = 16;     // too few for a share to be meaningful
constexpr std::int64_t few_rows = 16;            // the same
constexpr std::int64_t labels_looked_at = 1024;  // of a shard, to distinguish it from others: one chunk
constexpr std::int64_t least_piece = 256;        // rows: a read of at least 100 kB is worth its seek

/// The vocabulary of a set, as far as shards record it, and the shards that record it.
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
  /// Returns how the vocabulary of a shard differs; empty if it does not.
  std::string fault(ShardFormat const& format) const {
    auto found = VocabularyRecord::of(format);
    auto const checksum = std::exchange(found.checksum, "");
    if (auto other = other_vocabulary(found, record, size_from); !other.empty()) return other;
    found.checksum = checksum;
    return other_vocabulary(found, record, checksum_from);
  }
};

/// Returns where `format` does not fit the first shard, the vocabulary of the set, or the run; empty if it fits.
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
  // Dynamic masking inserts special ids into rows after their own ids were checked.
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

std::int64_t bytes_of(std::string const& file) {
  std::error_code status;
  auto const bytes = std::filesystem::file_size(file, status);
  if (status) throw InputError(file + ": cannot be read: " + status.message());
  return static_cast<std::int64_t>(bytes);
}

std::uint64_t content_of(std::vector<OpenedShard> const& shards) {
  std::vector<std::uint64_t> facts;
  for (auto const& shard : shards) {
    facts.push_back(static_cast<std::uint64_t>(shard.rows));
    facts.push_back(shard.labels);
  }
  return XXH3_64bits(facts.data(), facts.size() * sizeof facts[0]);
}

/// Opens the shards of a set one after another and collects faults and doubts.
class Opening {
 public:
  Opening(DataConfig const& config, StreamGeometry const& geometry) : config_(config), geometry_(geometry) {}

  void open(std::string const& file) try {
    ShardReader const reader(file);
    ShardFormat const& format = reader.format();
    if (formats.empty()) first = format;
    vocabulary.note(format, file);
    for (auto const& fault : misfits(format, first, vocabulary, config_, geometry_.vocabulary))
      faults.push_back(file + ": " + fault);
    // Whole chunks, so that none is decompressed twice.
    std::int64_t const chunk = reader.chunk_rows(), least = std::min(least_piece, config_.window);
    extents.push_back({reader.rows(), (least + chunk - 1) / chunk * chunk});
    formats.push_back(format);
    // Use file names without folders: data may move between runs.
    identity += std::filesystem::path(file).filename().string() + '\n' + std::to_string(reader.rows()) +
                (format.static_masks ? " static\n" : " dynamic\n");
    shards.push_back({.path = file,
                      .rows = reader.rows(),
                      .sequence_length = format.sequence_length,
                      .bytes = bytes_of(file),
                      .labels = reader.label_checksum(labels_looked_at)});
    doubt(reader);
    note_facts(reader);
  } catch (InputError const& error) {
    faults.insert(faults.end(), error.faults().begin(), error.faults().end());
  }

  /// Returns one sentence each. A set without any masked position is reported by ShardSetInfo::unmasked instead.
  std::vector<std::string> warnings() const {
    std::vector<std::string> texts;
    for (auto const& [original, copy] : find_copies(shards))
      texts.push_back(shards[copy].path + ": holds the same rows as " + shards[original].path +
                      ", which are therefore read twice per epoch");
    for (auto const* found : {&unmasked_, &doubts_})
      if (masked || found == &doubts_)
        for (auto& sentence : found->sentences()) texts.push_back(std::move(sentence));
    return texts;
  }

  std::vector<std::string> faults;
  std::vector<OpenedShard> shards;
  std::vector<ShardExtent> extents;
  std::vector<ShardFormat> formats;
  ShardFormat first;
  SetVocabulary vocabulary;
  SetFacts facts;
  std::string identity;
  bool masked = false;  ///< some shard has predictions

 private:
  void doubt(ShardReader const& reader) {
    auto const& file = reader.path();
    bool const dynamic = !reader.format().static_masks, predicts = reader.has_predictions(rows_looked_at);
    masked = masked || dynamic || predicts;
    if (!dynamic && !predicts && reader.rows() > 0)
      unmasked_.add(file, "has no masked positions in its first rows: only next sentences to predict");
    if (reader.rows() == 0) doubts_.add(file, "has no rows");
    for (auto const& name : reader.unwritten())
      if (!name.starts_with("masked_lm_")) doubts_.add(file, "has only zeros in " + name + ", which was never written");
  }

  void note_facts(ShardReader const& reader) {
    auto const& file = reader.path();
    if (auto const fault = reader.corpus_facts_fault(); !fault.empty())
      doubts_.add(file, "attribute " + fault + "; the facts of the texts in this shard are ignored");
    auto const known = reader.corpus_facts();
    if (known) facts.add(*known, file, reader.rows());
    // Reading ids takes longer than everything else: skip it for thousands of shards, and if it adds no information.
    bool const look = std::ssize(shards) <= shards_looked_at && (!known || reader.format().static_masks);
    auto const found = look ? reader.first_rows(rows_looked_at) : FirstRows{};
    if (!known)
      facts.add_counted({.tokens = found.tokens,
                         .unknown = found.unknown,
                         .rows = std::min(labels_looked_at, reader.rows()),
                         .random_next = reader.random_next(labels_looked_at)});
    if (found.predictions >= few_predictions && 2 * found.shown > found.predictions)
      doubts_.add(file,
                  "holds the answers in input_ids: most masked positions of its first rows still have the id to "
                  "predict. A tenth is usual. Make the shard again with masked ids");
    if (found.rows >= few_rows) doubt_rows(reader, found);
  }

  /// A shard without any masked position, or without segment ids, is reported elsewhere.
  void doubt_rows(ShardReader const& reader, FirstRows const& found) {
    auto const of_first = [&](std::int64_t some) {
      return std::to_string(some) + " of its first " + std::to_string(found.rows) + " rows ";
    };
    if (10 * found.unmasked > found.rows && found.unmasked < found.rows)
      doubts_.add(reader.path(),
                  "has no masked position in " + of_first(found.unmasked) +
                      "(every row has one usually): they have only next sentences to predict; make the shard again",
                  "unmasked rows");
    if (found.pairs == 0 && found.random_next > 0 && std::ranges::count(reader.unwritten(), "segment_ids") == 0)
      doubts_.add(reader.path(),
                  "has segment 0 alone, but " + of_first(found.random_next) +
                      "have a random next sentence: the model cannot tell where it begins; write segment 1 for its "
                      "tokens",
                  "one segment");
  }

  DataConfig const& config_;
  StreamGeometry const& geometry_;
  ShardDoubts unmasked_, doubts_;
};

}  // namespace

ShardSet::ShardSet(std::vector<std::string> const& paths, DataConfig const& config, StreamGeometry const& geometry)
    : window_rows_(config.window), bounds_{.vocabulary = geometry.vocabulary, .segments = 2} {
  Opening opening(config, geometry);
  for (auto const& file : find_shards(paths)) opening.open(file);
  auto& faults = opening.faults;
  auto const& first = opening.first;
  if (geometry.positions > 0 && first.sequence_length > geometry.positions && !opening.formats.empty())
    faults.push_back("sequences of " + std::to_string(first.sequence_length) +
                     " tokens; allowed: at most model.positions, " + std::to_string(geometry.positions));
  if (!faults.empty()) throw InputError(faults);
  info_.sequence_length = first.sequence_length;
  info_.static_masks = first.static_masks;
  info_.unmasked = !opening.masked;
  info_.vocabulary = opening.vocabulary.record;
  info_.fingerprint = XXH3_64bits(opening.identity.data(), opening.identity.size());
  info_.warnings = opening.warnings();
  for (auto& text : opening.facts.row_warnings()) info_.warnings.push_back(std::move(text));
  info_.corpus_warnings = opening.facts.warnings();
  info_.frequency_loss = opening.facts.frequency_loss();
  info_.context_free_loss = opening.facts.context_free_loss();
  std::vector<std::string> listed(paths);
  for (auto const* entries : {&config.train, &config.heldout})
    listed.insert(listed.end(), entries->begin(), entries->end());
  for (auto const& path : paths)
    for (auto& doubt : folder_doubts(path, listed)) info_.warnings.push_back(std::move(doubt));
  for (auto const& shard : opening.shards) {
    info_.rows += shard.rows;
    info_.bytes += shard.bytes;
  }
  info_.content = content_of(opening.shards);
  for (auto const& format : opening.formats) info_.masked_length = std::max(info_.masked_length, format.masked_length);
  if (info_.rows == 0)
    throw InputError(opening.shards.empty() ? "no shards" : opening.shards.front().path + ": no rows in any shard");
  extents_ = std::move(opening.extents);
  formats_ = std::move(opening.formats);
  info_.shards = std::move(opening.shards);
  if (info_.vocabulary.tokens > 0) {
    bounds_.vocabulary = std::min(bounds_.vocabulary, info_.vocabulary.tokens);
    bounds_.vocabulary_of = " (the vocabulary that the shards record)";
  }
  balancer_ = {.rank = geometry.rank,
               .size = geometry.size,
               .micro = geometry.micro,
               .seed = geometry.seed,
               .static_masks = info_.static_masks,
               .masking = {.probability = config.mask_probability,
                           .maximum = info_.masked_length,
                           .vocabulary = info_.vocabulary.tokens > 0 ? info_.vocabulary.tokens : geometry.vocabulary,
                           .special = first.special}};
}

ShardRows ShardSet::read(Piece const& piece) const {
  auto const at = static_cast<std::size_t>(piece.shard);
  OpenedShard const& opened = info_.shards.at(at);
  ShardReader const reader(opened.path);
  // The order of rows and the number of masks depend on the shard's state when it was opened.
  if (reader.rows() != opened.rows || reader.format() != formats_[at] || bytes_of(opened.path) != opened.bytes)
    throw InputError(opened.path + ": was replaced or changed since this job opened it; allowed: the unchanged shard");
  ShardRows loaded = reader.read(piece.first_row, piece.rows, bounds_);
  if (info_.static_masks) return loaded;
  // Every rank needs the number of predictions of all sequences for the global count, but draws masks only for its own.
  for (std::int64_t r = 0; r < piece.rows; ++r) {
    std::int64_t const length = loaded.lengths[static_cast<std::size_t>(r)];
    auto const ids =
        std::span<std::int32_t const>(loaded.token_ids)
            .subspan(static_cast<std::size_t>(r * loaded.sequence_length), static_cast<std::size_t>(length));
    loaded.predictions.push_back(static_cast<std::int32_t>(
        prediction_count(balancer_.masking, length, candidate_count(balancer_.masking, ids))));
  }
  return loaded;
}

}  // namespace bellwether::input
