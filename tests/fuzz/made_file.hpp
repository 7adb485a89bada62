// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/hdf5/hdf5_file.hpp"
#include "tests/fuzz/target.hpp"

/// Generates well-formed HDF5 files with random content. They test how a reader uses the library, not the library
/// itself, which is not robust against damaged files.
namespace bellwether::fuzz {

inline input::ElementType made_type(Bytes& bytes) {
  using enum input::ElementType;
  constexpr input::ElementType types[] = {i8, u8, i16, u16, i32, u32, i64, u64, f32, f64};
  return types[bytes.byte() % std::size(types)];
}

/// Usually a small extent; sometimes one that does not fit into any memory.
inline std::int64_t made_extent(Bytes& bytes) {
  auto const byte = bytes.byte();
  if (byte < 200) return byte % 9;
  return static_cast<std::int64_t>(bytes.number() >> (1 + byte % 32));
}

/// Generates a data set of random type and shape, or of `shape` if the first byte says so. Small ones get random values
/// in their first elements; large ones are declared, not stored.
inline void make_data_set(input::Hdf5File& file, std::string const& name, input::Shape shape, Bytes& bytes) {
  auto const form = bytes.byte();
  if (form == 255) return;
  auto type = input::ElementType::i32;
  if (form > 200) {
    type = made_type(bytes);
    shape.resize(bytes.byte() % 4);
  }
  if (form > 150)
    for (auto& extent : shape) extent = made_extent(bytes);
  double elements = 1;
  for (auto const extent : shape) elements *= static_cast<double>(extent);
  bool const stored = elements <= 4096;
  input::Storage storage;
  if (!stored) storage.chunk.assign(shape.size(), 1);
  try {
    file.create_data_set(name, type, shape, storage);
    if (!stored || elements == 0) return;
    std::vector<std::int64_t> values(static_cast<std::size_t>(elements));
    for (auto& value : values) {
      auto const byte = bytes.byte();
      value = byte < 250 ? byte % 16 : static_cast<std::int64_t>(bytes.number());
    }
    file.write_slab<std::int64_t>(name, input::Shape(shape.size(), 0), shape, values);
  } catch (RuntimeError const&) {  // shapes that HDF5 rejects
  }
}

}  // namespace bellwether::fuzz
