// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_file.hpp"

#include "app/checkpoint/durable_file.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/format/formatted.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::app {
namespace {

constexpr std::int64_t elements_a_task = std::int64_t{4} << 20;

}  // namespace

std::int64_t row_width(SavedEntry const& entry) {
  std::int64_t width = 1;
  for (std::size_t i = 1; i < entry.shape.size(); ++i) width *= entry.shape[i];
  return width;
}

std::int64_t rows_a_task(SavedEntry const& entry) {
  return std::max<std::int64_t>(1, elements_a_task / std::max<std::int64_t>(1, row_width(entry)));
}

CheckpointFileWriter::CheckpointFileWriter(std::string const& folder, bool shared, CheckpointHead const& head)
    : name_(shared ? "replicated.h5" : "rank" + std::to_string(head.rank) + ".h5"),
      path_((std::filesystem::path(folder) / name_).string()),
      shared_(shared),
      head_(head) {}

void CheckpointFileWriter::open() {
  file_.emplace(input::Hdf5File::create(path_));
  file_->set_attribute("/", "format", shared_ ? "bellwether checkpoint" : "bellwether checkpoint, one rank");
  file_->set_attribute("/", "format_version", "1.0");
  file_->set_attribute("/", "step", head_.step);
  file_->set_attribute("/", "ranks", std::int64_t{head_.ranks});
  file_->set_attribute("/", "layout_fingerprint", hexadecimal(head_.layout_fingerprint));
  if (!shared_) {
    file_->set_attribute("/", "rank", std::int64_t{head_.rank});
    return;
  }
  write_texts("deck", {head_.deck});
  write_values<std::int64_t>("active", {std::ssize(head_.active)}, head_.active);
}

template <class T>
void CheckpointFileWriter::write_values(std::string const& path, std::vector<std::int64_t> const& shape,
                                        std::span<T const> values) {
  file_->write<T>(path, shape, values);
  file_->set_attribute(path, checksum_name, checksum_of(std::as_bytes(values)));
}

void CheckpointFileWriter::write_texts(std::string const& path, std::vector<std::string> const& texts) {
  file_->write_texts(path, texts);
  file_->set_attribute(path, checksum_name, checksum_of(texts));
}

void CheckpointFileWriter::scalar(SavedEntry const& entry) {
  if (auto const* integer = std::get_if<std::int64_t>(&entry.value))
    write_values(entry.path, {}, std::span(integer, 1));
  else
    write_values(entry.path, {}, std::span(&std::get<double>(entry.value), 1));
}

void CheckpointFileWriter::rows(SavedEntry const& entry, std::int64_t row, std::span<float const> values) {
  if (row == 0) file_->create_data_set(entry.path, input::ElementType::f32, entry.shape);
  std::int64_t const all = entry.shape.at(0);
  auto first = std::vector<std::int64_t>(entry.shape.size(), 0), count = entry.shape;
  first[0] = row;
  count[0] = std::min(all - row, rows_a_task(entry));
  if (!values.empty()) file_->write_slab<float>(entry.path, first, count, values);
  values_.add(std::as_bytes(values));
  if (auto const at = first_unsound(values, entry.range))
    throw UnsoundValues(
        path_ + ": " + entry.path + ": " +
        unsound_text(entry.first + row * row_width(entry) + *at, values[static_cast<std::size_t>(*at)], entry.range));
  if (row + count[0] < all) return;
  file_->set_attribute(entry.path, checksum_name, std::exchange(values_, {}).digest());
  if (!entry.cut) return;
  file_->set_attribute(entry.path, "first", entry.first);
  file_->set_attribute(entry.path, "total", entry.total);
}

void CheckpointFileWriter::close(std::vector<std::string> const& index) {
  if (shared_) write_texts("index", index);
  file_->close();
  sync_path(path_);
  sum_.emplace(path_);
}

bool CheckpointFileWriter::read_back() { return sum_->advance(); }

}  // namespace bellwether::app
