// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shard_rows.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace bellwether::input {
namespace {

/// Reports a wrong value of a row, as stored in the file.
class RowFault {
 public:
  RowFault(Hdf5File const& file, std::int64_t first) : file_(file), first_(first) {}
  void row(std::int64_t row) { row_ = row; }
  [[noreturn]] void raise(char const* data_set, std::int64_t column, std::string const& allowed) const {
    std::string const where = column < 0 ? "" : ", column " + std::to_string(column);
    Shape place{first_ + row_};
    if (column >= 0) place.push_back(column);
    // Read the value again: if it was too large for the type it was read into, it was clipped.
    std::int64_t value = 0;
    file_.read_slab<std::int64_t>(data_set, place, Shape(place.size(), 1), std::span(&value, 1));
    auto shown = std::to_string(value);
    if (value == std::numeric_limits<std::int64_t>::max()) {  // unsigned values are clipped here
      std::uint64_t whole = 0;
      file_.read_slab<std::uint64_t>(data_set, place, Shape(place.size(), 1), std::span(&whole, 1));
      shown = std::to_string(whole);
    }
    throw InputError(file_.path() + ": data set '" + data_set + "', row " + std::to_string(first_ + row_) + where +
                     ": " + shown + "; allowed: " + allowed);
  }

 private:
  Hdf5File const& file_;
  std::int64_t first_, row_ = 0;
};

std::string below(std::int64_t bound) { return "0 to " + std::to_string(bound - 1); }

/// The id that pads rows: that of the first padding found.
class Padding {
 public:
  /// Checks the ids of a row after its `length` tokens.
  void check(std::int32_t const* ids, std::int64_t length, std::int64_t width, RowFault const& fault) {
    for (std::int64_t s = length; s < width; ++s) {
      if (!id_) id_ = ids[s];
      if (ids[s] != *id_)
        fault.raise("input_ids", s,
                    std::to_string(*id_) + ", the padding: input_mask says that the row's tokens end at column " +
                        std::to_string(length - 1));
    }
  }
  std::int32_t id() const { return id_.value_or(0); }

 private:
  std::optional<std::int32_t> id_;
};

/// Detects a row whose mask covers padding, which would then be attended to. A text may hold a padding token, but no
/// row ends in three.
bool ends_in_padding(std::int32_t const* ids, std::int64_t length, std::int32_t padding) {
  constexpr std::int64_t several = 3;
  return length > several && std::all_of(ids + length - several, ids + length, [=](auto id) { return id == padding; });
}

void check_ends(ShardRows const& rows, RowFault& fault, ShardFormat const& format, Padding const& padding) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    fault.row(r);
    auto const* const ids = rows.token_ids.data() + r * rows.sequence_length;
    std::int64_t const length = rows.lengths[static_cast<std::size_t>(r)];
    if (ends_in_padding(ids, length, padding.id()))
      fault.raise("input_mask", length - 1, "0: input_ids holds padding there, " + std::to_string(padding.id()));
    if (!format.ours) continue;
    if (ids[0] != format.special.classify)
      fault.raise("input_ids", 0, std::to_string(format.special.classify) + ", the shard's [CLS]");
    if (ids[length - 1] != format.special.separate)
      fault.raise("input_ids", length - 1, std::to_string(format.special.separate) + ", the shard's [SEP]");
  }
}

constexpr auto some_ids = "ids of which some are above 0: padding is never predicted";

}  // namespace

void check_tokens(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardFormat const& format,
                  ShardBounds const& bounds) {
  RowFault fault(file, first);
  Padding padding;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    fault.row(r);
    auto const* const token = rows.token_ids.data() + r * rows.sequence_length;
    auto const* const mask = rows.mask.data() + r * rows.sequence_length;
    auto const* const segment = rows.segment_ids.data() + r * rows.sequence_length;
    std::int32_t length = 0;
    for (std::int64_t s = 0; s < rows.sequence_length; ++s) {
      bool const real = mask[s] == 1;
      if (!real && mask[s] != 0) fault.raise("input_mask", s, "0, 1");
      if (real && length != s) fault.raise("input_mask", s, "0: ones come first, then zeros");
      if (token[s] < 0 || token[s] >= bounds.vocabulary)
        fault.raise("input_ids", s, below(bounds.vocabulary) + bounds.vocabulary_of);
      if (segment[s] < 0 || segment[s] >= bounds.segments) fault.raise("segment_ids", s, below(bounds.segments));
      length += real ? 1 : 0;
    }
    if (length == 0) fault.raise("input_mask", 0, "1: a row holds at least one token");
    padding.check(token, length, rows.sequence_length, fault);
    int const label = rows.next_labels[static_cast<std::size_t>(r)];
    if (label != 0 && label != 1) fault.raise("next_sentence_labels", -1, "0, 1");
    rows.lengths.push_back(length);
  }
  check_ends(rows, fault, format, padding);
}

void check_predictions(ShardRows& rows, Hdf5File const& file, std::int64_t first, ShardBounds const& bounds) {
  constexpr std::int64_t several = 4;
  RowFault fault(file, first);
  std::int64_t in_all = 0, first_predicting = 0;
  bool some_id = false;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    fault.row(r);
    auto const* const position = rows.masked_positions.data() + r * rows.masked_length;
    auto const* const id = rows.masked_ids.data() + r * rows.masked_length;
    auto const* const token = rows.token_ids.data() + r * rows.sequence_length;
    std::int32_t const length = rows.lengths[static_cast<std::size_t>(r)];
    std::int32_t count = 0, last = 0;
    for (; count < rows.masked_length && position[count] != 0; ++count) {
      if (position[count] < 0 || position[count] >= length)
        fault.raise("masked_lm_positions", count, "1 to " + std::to_string(length - 1) + " (the tokens of this row)");
      if (position[count] <= last)
        fault.raise("masked_lm_positions", count, "more than " + std::to_string(last) + ": positions ascend");
      if (id[count] < 0 || id[count] >= bounds.vocabulary)
        fault.raise("masked_lm_ids", count, below(bounds.vocabulary) + bounds.vocabulary_of);
      last = position[count];
    }
    // Other programs fill unused entries with 0, with a negative number or with the id of padding.
    std::int32_t const padding = length < rows.sequence_length ? token[rows.sequence_length - 1] : 0;
    for (std::int64_t rest = count; rest < rows.masked_length; ++rest)
      if (position[rest] != 0)
        fault.raise("masked_lm_positions", rest,
                    "0: the predictions of a row end at its first position 0, in column " + std::to_string(count));
    for (std::int64_t rest = count; rest < rows.masked_length; ++rest)
      if (id[rest] > 0 && id[rest] != padding)
        fault.raise("masked_lm_ids", rest, "0: position 0 is [CLS], which is never predicted");
    bool const only_zeros = std::all_of(id, id + count, [](auto predicted) { return predicted == 0; });
    if (count >= several && only_zeros) fault.raise("masked_lm_ids", 0, some_ids);
    if (in_all == 0) first_predicting = r;
    in_all += count;
    some_id = some_id || !only_zeros;
    rows.predictions.push_back(count);
  }
  fault.row(first_predicting);
  if (in_all >= several && !some_id) fault.raise("masked_lm_ids", 0, some_ids);
}

}  // namespace bellwether::input
