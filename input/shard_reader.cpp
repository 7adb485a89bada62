// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"
#include "input/shards.hpp"
#include "input/vocabulary_checksum.hpp"

#include <xxhash.h>

#include <algorithm>

namespace bellwether::input {
namespace {

constexpr std::int64_t widest = std::int64_t{1} << 20;  // columns: what a row takes is bounded before any is read
// A file may declare rows that it does not hold, and chunks that no memory holds.
constexpr std::int64_t largest_chunk = std::int64_t{1} << 27;  // elements

/// Says which value of which row is wrong, in the words of the file.
class RowFault {
 public:
  RowFault(Hdf5File const& file, std::int64_t first) : file_(file), first_(first) {}
  void row(std::int64_t row) { row_ = row; }
  [[noreturn]] void raise(char const* data_set, std::int64_t column, std::string const& allowed) const {
    std::string const where = column < 0 ? "" : ", column " + std::to_string(column);
    Shape place{first_ + row_};
    if (column >= 0) place.push_back(column);
    // Read again: what was too large for the type it was read into has been clipped.
    std::int64_t value = 0;
    file_.read_slab<std::int64_t>(data_set, place, Shape(place.size(), 1), std::span(&value, 1));
    throw InputError(file_.path() + ": data set '" + data_set + "', row " + std::to_string(first_ + row_) + where +
                     ": " + std::to_string(value) + "; allowed: " + allowed);
  }

 private:
  Hdf5File const& file_;
  std::int64_t first_, row_ = 0;
};

std::string below(std::int64_t bound) { return "0 to " + std::to_string(bound - 1); }

/// A row is tokens, then padding. Fills `lengths`.
void check_tokens(ShardRows& rows, RowFault& fault, ShardBounds const& bounds) {
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
    int const label = rows.next_labels[static_cast<std::size_t>(r)];
    if (label != 0 && label != 1) fault.raise("next_sentence_labels", -1, "0, 1");
    rows.lengths.push_back(length);
  }
}

/// The list of predictions ends at the first position 0: position 0 is [CLS], which is never masked. Fills
/// `predictions`.
void check_predictions(ShardRows& rows, RowFault& fault, ShardBounds const& bounds) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    fault.row(r);
    auto const* const position = rows.masked_positions.data() + r * rows.masked_length;
    auto const* const id = rows.masked_ids.data() + r * rows.masked_length;
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
    rows.predictions.push_back(count);
  }
}

/// Rows of a matrix. HDF5 clips what does not fit into T, which then fails the range check.
template <class T>
std::vector<T> matrix_rows(Hdf5File const& file, char const* name, std::int64_t first, std::int64_t rows,
                           std::int64_t width) {
  std::vector<T> values(static_cast<std::size_t>(rows * width));
  file.read_rows<T>(name, first, rows, values);
  return values;
}

}  // namespace

ShardReader::ShardReader(std::string const& path) : file_(Hdf5File::open(path)) {
  auto const fail = [&](std::string const& name, std::string const& what) {
    throw InputError(path + ": data set '" + name + "': " + what);
  };
  auto const shape_of = [&](std::string const& name, std::size_t dimensions) {
    if (!file_.contains(name))
      fail(name,
           "not found; a shard holds input_ids, input_mask, segment_ids, "
           "masked_lm_positions, masked_lm_ids and next_sentence_labels");
    DataSetInfo const info = file_.info(name);
    if (info.is_virtual) fail(name, "shows values of other files; allowed: values in the file itself");
    if (info.is_external) fail(name, "keeps its values in other files; allowed: values in the file itself");
    if (!is_integer(info.type)) fail(name, "holds " + to_string(info.type) + "; allowed: integers");
    if (info.shape.size() != dimensions)
      fail(name, "has " + std::to_string(info.shape.size()) + " dimensions; allowed: " + std::to_string(dimensions));
    if (info.shape.back() > widest && dimensions == 2)
      fail(name, "has " + std::to_string(info.shape.back()) + " columns; allowed: up to " + std::to_string(widest));
    if (info.shape[0] != rows_ && name != "input_ids")
      fail(name, "has " + std::to_string(info.shape[0]) + " rows, input_ids has " + std::to_string(rows_));
    return info;
  };
  auto const integer = [&](char const* name) -> std::optional<std::int64_t> {
    auto const value = file_.attribute("/", name);
    if (!value) return std::nullopt;
    if (auto const* number = std::get_if<std::int64_t>(&*value)) return *number;
    throw InputError(path + ": attribute '" + name + "': allowed: an integer");
  };
  auto const rows_in = [](Shape const& shape) { return shape.empty() ? 0 : shape[0]; };
  rows_ = file_.contains("input_ids") ? rows_in(file_.info("input_ids").shape) : 0;
  DataSetInfo const ids = shape_of("input_ids", 2);
  if (!ids.may_hold(rows_))
    fail("input_ids", "has " + std::to_string(rows_) + " rows in " + std::to_string(ids.stored_bytes) +
                          " bytes; allowed: rows that were written");
  if (!ids.chunk.empty() && ids.chunk[0] > largest_chunk / std::max<std::int64_t>(1, ids.shape[1]))
    fail("input_ids", "is stored in chunks of " + std::to_string(ids.chunk[0]) + " rows; allowed: up to " +
                          std::to_string(largest_chunk / std::max<std::int64_t>(1, ids.shape[1])));
  format_.sequence_length = ids.shape[1];
  chunk_rows_ = ids.chunk.empty() ? 1 : ids.chunk[0];
  for (char const* name : {"input_mask", "segment_ids"})
    if (std::int64_t const width = shape_of(name, 2).shape[1]; width != format_.sequence_length)
      fail(name, "has " + std::to_string(width) + " columns, input_ids has " + std::to_string(format_.sequence_length));
  shape_of("next_sentence_labels", 1);

  format_.static_masks = true;
  format_.vocabulary = 0;
  if (auto const name = file_.attribute("/", "format"); name && *name == Hdf5File::Attribute("bellwether shard")) {
    auto const version = file_.attribute("/", "format_version");
    auto const* const text = version ? std::get_if<std::string>(&*version) : nullptr;
    if (text == nullptr || !text->starts_with("1."))
      throw InputError(path + ": shard format version " + (text ? *text : "missing") + "; allowed: 1.x");
    format_.static_masks = file_.attribute("/", "masking") != Hdf5File::Attribute("dynamic");
    format_.vocabulary = integer("vocabulary_size").value_or(0);
    format_.special = {integer("cls_id").value_or(101), integer("sep_id").value_or(102),
                       integer("mask_id").value_or(103)};
    if (auto const checksum = file_.attribute("/", vocabulary_checksum_name)) {
      auto const* const text = std::get_if<std::string>(&*checksum);
      if (text == nullptr || !is_vocabulary_checksum(*text))
        throw InputError(path + ": attribute '" + vocabulary_checksum_name +
                         "': allowed: sixteen hexadecimal digits, 0 to 9 and a to f");
      format_.vocabulary_checksum = *text;
    }
    if (format_.vocabulary < 0)
      throw InputError(path + ": attribute 'vocabulary_size' is " + std::to_string(format_.vocabulary) +
                       "; allowed: 1 and more, or none");
  }
  format_.masked_length = shape_of("masked_lm_positions", 2).shape[1];
  if (std::int64_t const width = shape_of("masked_lm_ids", 2).shape[1]; width != format_.masked_length)
    fail("masked_lm_ids",
         "has " + std::to_string(width) + " columns, masked_lm_positions has " + std::to_string(format_.masked_length));
}

ShardRows ShardReader::read(std::int64_t first, std::int64_t count, ShardBounds const& bounds) const {
  ShardRows rows;
  rows.rows = count;
  rows.sequence_length = format_.sequence_length;
  rows.masked_length = format_.masked_length;
  rows.token_ids = matrix_rows<std::int32_t>(file_, "input_ids", first, count, rows.sequence_length);
  rows.mask = matrix_rows<std::int8_t>(file_, "input_mask", first, count, rows.sequence_length);
  rows.segment_ids = matrix_rows<std::int8_t>(file_, "segment_ids", first, count, rows.sequence_length);
  rows.next_labels = matrix_rows<std::int8_t>(file_, "next_sentence_labels", first, count, 1);
  RowFault fault(file_, first);
  check_tokens(rows, fault, bounds);
  if (format_.static_masks) {
    rows.masked_positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", first, count, rows.masked_length);
    rows.masked_ids = matrix_rows<std::int32_t>(file_, "masked_lm_ids", first, count, rows.masked_length);
    check_predictions(rows, fault, bounds);
  }
  return rows;
}

bool ShardReader::has_predictions(std::int64_t count) const {
  auto const rows = std::min(count, rows_);
  auto const positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", 0, rows, format_.masked_length);
  return std::ranges::any_of(positions, [](auto const position) { return position != 0; });
}

std::vector<std::int32_t> ShardReader::token_ids(std::int64_t first, std::int64_t count) const {
  return matrix_rows<std::int32_t>(file_, "input_ids", first, count, format_.sequence_length);
}

std::uint64_t ShardReader::label_checksum(std::int64_t count) const {
  auto const labels = matrix_rows<std::int8_t>(file_, "next_sentence_labels", 0, std::min(count, rows_), 1);
  return XXH3_64bits(labels.data(), labels.size());
}

}  // namespace bellwether::input
