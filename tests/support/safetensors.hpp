// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bellwether::test {

/// A safetensors file, read into memory: the length of the header in eight little-endian bytes, a JSON header, data.
/// Only for little-endian hosts.
class SafeTensors {
 public:
  explicit SafeTensors(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::string const bytes((std::istreambuf_iterator<char>(file)), {});
    std::uint64_t length = 0;
    if (bytes.size() < sizeof(length)) throw std::runtime_error(path.string() + ": not a safetensors file");
    std::memcpy(&length, bytes.data(), sizeof(length));
    header_ = nlohmann::json::parse(bytes.substr(sizeof(length), length));
    data_ = bytes.substr(sizeof(length) + length);
  }
  bool contains(std::string const& name) const { return header_.contains(name); }
  std::vector<std::int64_t> shape(std::string const& name) const { return header_.at(name).at("shape"); }
  std::vector<float> floats(std::string const& name) const {
    auto const& entry = header_.at(name);
    if (entry.at("dtype") != "F32") throw std::runtime_error(name + ": type is not F32");
    std::size_t const first = entry.at("data_offsets").at(0), last = entry.at("data_offsets").at(1);
    if (first > last || last > data_.size()) throw std::runtime_error(name + ": beyond the end of the file");
    std::vector<float> values((last - first) / sizeof(float));
    std::memcpy(values.data(), data_.data() + first, values.size() * sizeof(float));
    return values;
  }

 private:
  nlohmann::json header_;
  std::string data_;
};

}  // namespace bellwether::test
