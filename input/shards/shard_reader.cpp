// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/hdf5/unopened_file.hpp"
#include "input/shards/shard_format.hpp"
#include "input/shards/shard_rows.hpp"
#include "input/shards/shards.hpp"

#include <xxhash.h>

#include <algorithm>

namespace bellwether::input {
namespace {

constexpr std::int64_t widest = std::int64_t{1} << 20;  // columns: bounds the memory of a row before it is read
// A file may declare rows that it does not store, and chunks larger than memory.
constexpr std::int64_t largest_chunk = std::int64_t{1} << 27;  // elements

/// Reads rows of a matrix. HDF5 clips values that do not fit into T; the range check then reports them.
template <class T>
std::vector<T> matrix_rows(Hdf5File const& file, char const* name, std::int64_t first, std::int64_t rows,
                           std::int64_t width) {
  std::vector<T> values(static_cast<std::size_t>(rows * width));
  file.read_rows<T>(name, first, rows, values);
  return values;
}

/// Opens a shard. A file that is not HDF5 may be the text itself.
Hdf5File opened(std::string const& path) try { return Hdf5File::open(path); } catch (InputError const& error) {
  std::string const text = error.what();
  if (!text.ends_with(not_hdf5)) throw;
  throw InputError(text + "; `bellwether prepare` makes shards from text");
}

/// Returns how many rows of a matrix hold only zeros.
template <class T>
std::int64_t rows_of_zeros(std::vector<T> const& values, std::int64_t width) {
  std::int64_t count = 0;
  for (auto row = values.begin(); row != values.end(); row += width)
    count += std::all_of(row, row + width, [](T value) { return value == 0; }) ? 1 : 0;
  return count;
}

}  // namespace

ShardReader::ShardReader(std::string const& path) : file_(opened(path)) {
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
    if (!is_integer(info.type))
      fail(name, "holds " + file_.elements_description(name) +
                     "; allowed: integers, and booleans with FALSE = 0 and TRUE = 1");
    if (info.shape.size() != dimensions)
      fail(name, "has " + std::to_string(info.shape.size()) + " dimensions; allowed: " + std::to_string(dimensions));
    if (info.shape.back() > widest && dimensions == 2)
      fail(name, "has " + std::to_string(info.shape.back()) + " columns; allowed: up to " + std::to_string(widest));
    if (info.shape[0] != rows_ && name != "input_ids")
      fail(name, "has " + std::to_string(info.shape[0]) + " rows, input_ids has " + std::to_string(rows_));
    if (info.stored_bytes == 0 && std::ranges::count(info.shape, 0) == 0) unwritten_.push_back(name);
    return info;
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

  format_.masked_length = shape_of("masked_lm_positions", 2).shape[1];
  if (std::int64_t const width = shape_of("masked_lm_ids", 2).shape[1]; width != format_.masked_length)
    fail("masked_lm_ids",
         "has " + std::to_string(width) + " columns, masked_lm_positions has " + std::to_string(format_.masked_length));
  format_ = read_shard_format(file_, format_);
  auto const is_unwritten = [&](std::string const& name) { return std::ranges::count(unwritten_, name) > 0; };
  for (char const* name : {"input_ids", "input_mask"})
    if (is_unwritten(name)) fail(name, "was never written; allowed: rows that were written");
  if (format_.static_masks && is_unwritten("masked_lm_ids") && !is_unwritten("masked_lm_positions"))
    fail("masked_lm_ids", "was never written, but masked_lm_positions was; allowed: rows that were written");
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
  check_tokens(rows, file_, first, format_, bounds);
  if (format_.static_masks) {
    rows.masked_positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", first, count, rows.masked_length);
    rows.masked_ids = matrix_rows<std::int32_t>(file_, "masked_lm_ids", first, count, rows.masked_length);
    check_predictions(rows, file_, first, bounds);
  }
  return rows;
}

bool ShardReader::has_predictions(std::int64_t count) const {
  auto const rows = std::min(count, rows_);
  auto const positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", 0, rows, format_.masked_length);
  bool const found = std::ranges::any_of(positions, [](auto const position) { return position != 0; });
  if (found && !format_.static_masks)
    throw InputError(path() + ": declares dynamic masks, but holds masked_lm_positions; allowed: only zeros there");
  return found;
}

std::vector<std::int32_t> ShardReader::token_ids(std::int64_t first, std::int64_t count) const {
  return matrix_rows<std::int32_t>(file_, "input_ids", first, count, format_.sequence_length);
}

std::vector<std::int32_t> ShardReader::plain_ids(std::int64_t first, std::int64_t count) const {
  auto ids = token_ids(first, count);
  auto const mask = matrix_rows<std::int8_t>(file_, "input_mask", first, count, format_.sequence_length);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (mask[i] == 0) ids[i] = -1;
  if (!format_.static_masks) return ids;
  auto const positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", first, count, format_.masked_length);
  auto const predicted = matrix_rows<std::int32_t>(file_, "masked_lm_ids", first, count, format_.masked_length);
  for (std::int64_t p = 0; p < std::ssize(positions); ++p) {
    auto const position = positions[static_cast<std::size_t>(p)];
    if (position > 0 && position < format_.sequence_length)
      ids[static_cast<std::size_t>(p / format_.masked_length * format_.sequence_length + position)] =
          predicted[static_cast<std::size_t>(p)];
  }
  return ids;
}

FirstRows ShardReader::first_rows(std::int64_t count) const {
  auto const rows = std::min(count, rows_);
  auto const masked = token_ids(0, rows), plain = plain_ids(0, rows);
  FirstRows found;
  found.tokens = std::ranges::count_if(plain, [](auto const id) { return id >= 0; });
  found.unknown = std::ranges::count(plain, format_.special.classify - 1);
  found.rows = rows;
  found.random_next = random_next(rows);
  auto const segments = matrix_rows<std::int8_t>(file_, "segment_ids", 0, rows, format_.sequence_length);
  found.pairs = rows - rows_of_zeros(segments, format_.sequence_length);
  if (!format_.static_masks) return found;
  auto const positions = matrix_rows<std::int32_t>(file_, "masked_lm_positions", 0, rows, format_.masked_length);
  found.unmasked = rows_of_zeros(positions, format_.masked_length);
  for (std::int64_t p = 0; p < std::ssize(positions); ++p) {
    auto const position = positions[static_cast<std::size_t>(p)];
    if (position <= 0 || position >= format_.sequence_length) continue;
    auto const at = static_cast<std::size_t>(p / format_.masked_length * format_.sequence_length + position);
    ++found.predictions;
    found.shown += masked[at] == plain[at] ? 1 : 0;
  }
  return found;
}

std::int64_t ShardReader::random_next(std::int64_t count) const {
  auto const labels = matrix_rows<std::int8_t>(file_, "next_sentence_labels", 0, std::min(count, rows_), 1);
  return std::ranges::count(labels, std::int8_t{1});
}

std::uint64_t ShardReader::label_checksum(std::int64_t count) const {
  auto const labels = matrix_rows<std::int8_t>(file_, "next_sentence_labels", 0, std::min(count, rows_), 1);
  return XXH3_64bits(labels.data(), labels.size());
}

}  // namespace bellwether::input
