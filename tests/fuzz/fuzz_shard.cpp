// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Input: bytes from which one or two shards are generated. They are read alone, and as training and held-out data of a
/// run. All values returned must be within the requested bounds, and memory within its limit.
#include "core/system/error.hpp"
#include "input/shards/batch_stream.hpp"
#include "input/shards/shards.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/fuzz/made_file.hpp"
#include "tests/fuzz/made_links.hpp"

using namespace bellwether;

namespace {

void make(std::string const& path, fuzz::Bytes& bytes) {
  auto file = input::Hdf5File::create(path);
  std::int64_t const rows = 1 + bytes.byte() % 4, width = 1 + bytes.byte() % 8, masked = bytes.byte() % 4;
  auto const attributes = bytes.byte();
  if (attributes & 1) {
    file.set_attribute("/", "format", std::string("bellwether shard"));
    file.set_attribute("/", "format_version", std::string(bytes.text(3)));
    file.set_attribute("/", "masking", std::string(attributes & 2 ? "dynamic" : "static"));
  }
  for (auto const* name : {"vocabulary_size", "cls_id", "sep_id", "mask_id"})
    if (auto const kind = bytes.byte(); kind < 64)
      file.set_attribute("/", name, static_cast<std::int64_t>(bytes.number()));
    else if (kind < 72)
      file.set_attribute("/", name, std::string(bytes.text(kind % 8)));
    else if (kind < 76)
      file.set_attribute("/", name, 0.5 * kind);
  for (auto const* name : {"input_ids", "input_mask", "segment_ids"})
    fuzz::make_data_set(file, name, {rows, width}, bytes);
  for (auto const* name : {"masked_lm_positions", "masked_lm_ids"})
    fuzz::make_data_set(file, name, {rows, masked}, bytes);
  fuzz::make_data_set(file, "next_sentence_labels", {rows}, bytes);
  file.close();
  fuzz::lead_elsewhere(path, {"input_ids", "input_mask", "masked_lm_ids", "next_sentence_labels"}, bytes);
}

void judge(input::ShardRows const& rows, input::ShardBounds const& bounds, bool static_masks) {
  auto const S = rows.sequence_length;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    auto const row = static_cast<std::size_t>(r);
    fuzz::must(rows.lengths.at(row) >= 1 && rows.lengths[row] <= S, "the length of a row is in range");
    for (std::int64_t s = 0; s < S; ++s) {
      auto const at = static_cast<std::size_t>(r * S + s);
      fuzz::must(rows.token_ids.at(at) >= 0 && rows.token_ids[at] < bounds.vocabulary, "tokens are in the vocabulary");
      fuzz::must(rows.segment_ids.at(at) >= 0 && rows.segment_ids[at] < bounds.segments,
                 "segments are in the model's range");
    }
    std::int32_t const predictions = static_masks ? rows.predictions.at(row) : 0;
    for (std::int32_t k = 0; k < predictions; ++k) {
      auto const at = static_cast<std::size_t>(r * rows.masked_length + k);
      fuzz::must(rows.masked_positions.at(at) > 0 && rows.masked_positions[at] < rows.lengths[row],
                 "masks are in the row");
      fuzz::must(rows.masked_ids.at(at) >= 0 && rows.masked_ids[at] < bounds.vocabulary,
                 "predicted ids are in the vocabulary");
    }
  }
}

void judge(model::StepBatch const& batch, input::ShardBounds const& bounds) {
  auto const within = [](std::vector<std::int32_t> const& values, std::int64_t end) {
    return std::ranges::all_of(values, [=](std::int32_t value) { return value >= 0 && value < end; });
  };
  for (auto const& pass : batch.micro_batches) {
    fuzz::must(within(pass.token_ids, bounds.vocabulary), "tokens of a pass are the vocabulary's");
    fuzz::must(within(pass.segment_ids, bounds.segments), "segments of a pass are the model's");
    fuzz::must(within(pass.masked_rows, pass.tokens()), "masks of a pass are on its tokens");
    fuzz::must(within(pass.masked_labels, bounds.vocabulary), "answers of a pass are the vocabulary's");
    fuzz::must(std::ranges::is_sorted(pass.sequence_offsets) && pass.sequence_offsets.back() == pass.tokens(),
               "sequences of a micro-batch are contiguous");
  }
}

/// Reads all the data that a rank of a small run would read.
void train_on(input::IoThread& io, std::vector<std::string> const& shards, input::ShardBounds const& bounds,
              bool dynamic) {
  input::DataConfig config;
  config.dynamic_masking = dynamic;
  config.window = 4;
  input::StreamGeometry geometry;
  geometry.rank = 1;
  geometry.size = 2;
  geometry.global = 5;
  geometry.micro = 2;
  geometry.positions = 8;
  geometry.vocabulary = bounds.vocabulary;
  for (auto const& batch : input::heldout_batches(io, shards, config, geometry, 7).batches) judge(batch, bounds);
  input::BatchStream stream(io, shards, config, geometry);
  for (int step = 0; step < 3; ++step) judge(stream.next(), bounds);
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static input::IoThread io;
  fuzz::Bytes bytes(data, size);
  auto const path = fuzz::scratch() / "made.h5";
  make(path, bytes);
  input::ShardBounds const bounds{.vocabulary = 12, .segments = 2};
  std::vector<std::string> shards{path};
  if (bytes.byte() % 2) {
    shards.push_back(fuzz::scratch() / "second.h5");
    make(shards.back(), bytes);
  }
  bool const dynamic = bytes.byte() % 4 != 3;
  try {
    train_on(io, shards, bounds, dynamic);
  } catch (InputError const&) {
  }
  io.drain();  // of read-ahead: only one thread at a time may use HDF5
  try {
    input::ShardReader const reader(path);
    auto const rows = std::min<std::int64_t>(reader.rows(), 8);
    for (std::int64_t first = 0; first < rows; first += 3)
      judge(reader.read(first, std::min<std::int64_t>(3, rows - first), bounds), bounds, reader.format().static_masks);
    reader.has_predictions(rows);
  } catch (InputError const&) {
  }
  return 0;
}
