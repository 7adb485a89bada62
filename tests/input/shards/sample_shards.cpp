// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/shards/sample_shards.hpp"

using namespace bellwether::input;

Sample sample_of(std::int64_t row, ShardFormat const& format) {
  Sample sample;
  std::int64_t const length = 6 + row * 7 % (format.sequence_length - 5);
  std::int64_t const middle = 2 + row % (length - 4);
  for (std::int64_t s = 0; s < length; ++s) {
    bool const end = s == middle || s == length - 1;
    sample.token_ids.push_back(static_cast<std::int32_t>(s == 0 ? format.special.classify
                                                         : end  ? format.special.separate
                                                                : 10 + (row * 31 + s) % (format.vocabulary - 10)));
    sample.segment_ids.push_back(s > middle ? 1 : 0);
  }
  sample.random_next = row % 3 == 0;
  if (!format.static_masks) return sample;
  for (std::int32_t s = 1; s < length - 1; ++s) {
    if (s == middle || static_cast<std::int64_t>(sample.masked_positions.size()) == 1 + row % format.masked_length)
      continue;
    auto& token = sample.token_ids[static_cast<std::size_t>(s)];
    sample.masked_positions.push_back(s);
    sample.masked_ids.push_back(token);
    token = static_cast<std::int32_t>(format.special.mask);
  }
  return sample;
}

ShardFormat small_format(bool static_masks) {
  return {.sequence_length = 16,
          .masked_length = 3,
          .vocabulary = 100,
          .static_masks = static_masks,
          .special = {.classify = 1, .separate = 2, .mask = 3}};
}

void write_shard(std::string const& path, ShardFormat const& format, std::int64_t first, std::int64_t rows,
                 std::int64_t chunk_rows) {
  ShardWriter writer(path, format, chunk_rows);
  for (std::int64_t r = first; r < first + rows; ++r) writer.append(sample_of(r, format));
  writer.close();
}
