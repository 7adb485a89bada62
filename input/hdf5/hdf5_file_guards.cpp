// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/hdf5_file_handles.hpp"

#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <limits>

/// Checks a file before its values are read: HDF5 follows links and virtual data sets wherever they lead, and trusts
/// the sizes that a file declares.
namespace bellwether::input {

using hdf5::Id;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

std::int64_t bounded_product(std::int64_t one, std::int64_t other) {
  return other > 0 && one > most / other ? most : one * other;
}

bool is_chunked(Id const& properties) { return H5Pget_layout(properties.get()) == H5D_CHUNKED; }

/// Returns the bytes of a chunk before any filter.
std::int64_t chunk_bytes(Id const& properties, std::int64_t element) {
  hsize_t extents[H5S_MAX_RANK] = {};
  int const rank = H5Pget_chunk(properties.get(), H5S_MAX_RANK, extents);
  std::int64_t bytes = element;
  for (int d = 0; d < rank; ++d)
    bytes = bounded_product(bytes, static_cast<std::int64_t>(std::min<hsize_t>(extents[d], most)));
  return bytes;
}

/// Returns true if the path is relative, without "..", and without % escapes, which HDF5 replaces by numbers.
bool is_plain(VirtualSource const& source) {
  std::filesystem::path const file(source.file);
  return !source.file.empty() && file.is_relative() && std::ranges::find(file, "..") == file.end() &&
         (source.file + source.data_set).find('%') == std::string::npos;
}

/// Returns true if every column of a table lies inside its row. HDF5 does not check this when it opens a damaged file,
/// and reading such a column would access other memory. Types other than tables have no columns.
bool has_columns_inside_rows(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND) return true;
  for (unsigned c = 0; c < static_cast<unsigned>(H5Tget_nmembers(type)); ++c) {
    Id const column(H5Tget_member_type(type, c), H5Tclose);
    if (H5Tget_member_offset(type, c) + H5Tget_size(column.get()) > H5Tget_size(type)) return false;
  }
  return true;
}

}  // namespace

bool Hdf5File::Impl::holds(std::string const& name) const {
  for (std::size_t at = name.find('/', 1);; at = name.find('/', at + 1)) {
    std::string const part = name.substr(0, at);
    if (part != "/") {
      if (H5Lexists(file.get(), part.c_str(), H5P_DEFAULT) <= 0) return false;
      H5L_info_t link{};
      check(H5Lget_info(file.get(), part.c_str(), &link, H5P_DEFAULT) >= 0, name, "cannot be read");
      check(link.type == H5L_TYPE_HARD, name, "is a link to another place; allowed: data in the file itself");
    }
    if (at == std::string::npos) return true;
  }
}

void Hdf5File::Impl::require_values(Id const& set, std::string const& name) const {
  if (writing) return;
  Id const type(H5Dget_type(set.get()), H5Tclose), properties(H5Dget_create_plist(set.get()), H5Pclose);
  check(has_columns_inside_rows(type.get()), name, "damaged: a column lies beyond its row");
  check(properties.valid(), name, "cannot be read");
  check(H5Pget_external_count(properties.get()) == 0, name,
        "keeps its values in other files; allowed: values in the file itself");
  auto const layout = H5Pget_layout(properties.get());
  if (layout == H5D_VIRTUAL) return require_sources(set, name);
  check(is_chunked(properties) || layout == H5D_CONTIGUOUS || layout == H5D_COMPACT, name,
        "is stored in a way that this program does not know");
  // The sizes of compressed chunks prove nothing, and counting the chunks requires visiting all of them.
  if (is_chunked(properties) && H5Pget_nfilters(properties.get()) != 0) return;
  Id const space(H5Dget_space(set.get()), H5Sclose);
  // Elements of variable length have different sizes in memory and in the file.
  if (H5Tdetect_class(type.get(), H5T_VLEN) > 0 || H5Tis_variable_str(type.get()) > 0) return;
  auto const element = static_cast<std::int64_t>(H5Tget_size(type.get()));
  auto const stored = static_cast<std::int64_t>(std::min<hsize_t>(H5Dget_storage_size(set.get()), most));
  if (stored == 0) return;  // never written
  if (is_chunked(properties)) {
    std::int64_t const bytes = chunk_bytes(properties, element);
    check(bytes > 0 && stored % bytes == 0, name, "damaged: the size of its chunks does not match its elements");
    return;
  }
  auto const points = static_cast<std::int64_t>(H5Sget_simple_extent_npoints(space.get()));
  check(stored == bounded_product(element, points), name,
        "damaged: it takes " + std::to_string(stored) + " bytes for " + std::to_string(points) + " elements of " +
            std::to_string(element));
  hsize_t file_bytes = 0;
  if (layout != H5D_CONTIGUOUS || H5Fget_filesize(file.get(), &file_bytes) < 0) return;
  haddr_t const at = H5Dget_offset(set.get());
  check(at != HADDR_UNDEF && at <= file_bytes && static_cast<hsize_t>(stored) <= file_bytes - at, name,
        "damaged: it lies beyond the end of the file");
}

void Hdf5File::Impl::require_sources(Id const& set, std::string const& name) const {
  check(virtual_data == VirtualData::show, name, "shows values of other files; allowed: values in the file itself");
  Id const space(H5Dget_space(set.get()), H5Sclose);
  hsize_t extents[H5S_MAX_RANK] = {};
  check(H5Sget_simple_extent_ndims(space.get()) >= 1, name, "shows other files and has no rows");
  H5Sget_simple_extent_dims(space.get(), extents, nullptr);
  auto const folder = std::filesystem::path(path).parent_path();
  std::int64_t rows = 0;
  for (auto const& source : sources(set, name)) {
    auto const segment = folder / source.file;
    std::error_code status;
    check(is_plain(source), name, "shows '" + source.file + "'; allowed: files next to it");
    check(std::filesystem::is_regular_file(segment, status), name,
          "shows " + segment.string() + ", which is not a file");
    Hdf5File const other = open(segment.string());
    auto const info = other.info(source.data_set);
    other.impl_->require_values(other.impl_->open_data_set(source.data_set), source.data_set);
    check(!info.shape.empty() && source.rows >= 0 && source.rows <= info.shape[0], name,
          "shows " + std::to_string(source.rows) + " rows of " + segment.string() + ", which has fewer");
    rows += source.rows;
  }
  check(extents[0] <= static_cast<hsize_t>(rows), name,
        "has " + std::to_string(extents[0]) + " rows, " + std::to_string(rows) + " in the files that it shows");
}

std::vector<VirtualSource> Hdf5File::Impl::sources(Id const& set, std::string const& name) const {
  Id const properties(H5Dget_create_plist(set.get()), H5Pclose);
  std::vector<VirtualSource> found;
  std::size_t count = 0;
  if (H5Pget_layout(properties.get()) != H5D_VIRTUAL) return found;
  check(H5Pget_virtual_count(properties.get(), &count) >= 0, name, "cannot be read");
  auto const text = [&](auto const& get, std::size_t i) {
    std::string value(static_cast<std::size_t>(std::max<ssize_t>(0, get(properties.get(), i, nullptr, 0))), '\0');
    get(properties.get(), i, value.data(), value.size() + 1);
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    Id const rows(H5Pget_virtual_srcspace(properties.get(), i), H5Sclose);
    std::vector<hsize_t> first(static_cast<std::size_t>(std::max(1, H5Sget_simple_extent_ndims(rows.get()))));
    auto last = first;
    check(H5Sget_select_bounds(rows.get(), first.data(), last.data()) >= 0, name, "cannot be read");
    found.push_back({text(H5Pget_virtual_filename, i), text(H5Pget_virtual_dsetname, i),
                     static_cast<std::int64_t>(last[0] - first[0] + 1)});
  }
  return found;
}

std::vector<VirtualSource> Hdf5File::virtual_sources(std::string const& name) const {
  return impl_->sources(impl_->open_data_set(name), name);
}

Shape Hdf5File::stored_shape(std::string const& name) const {
  impl_->require_values(impl_->open_data_set(name), name);
  auto info = this->info(name);
  std::int64_t elements = 1;
  for (auto const extent : info.shape) elements = bounded_product(elements, extent);
  if (std::ranges::count(info.shape, 0) > 0) elements = 0;
  impl_->check(elements <= few_elements || info.may_hold(elements), name,
               "declares more elements than are stored, " + std::to_string(elements));
  return std::move(info.shape);
}

std::uint64_t Hdf5File::address(std::string const& object) const {
  Id const at = impl_->open_object(object);
  std::uint64_t address = 0;
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  impl_->check(H5Oget_info3(at.get(), &info, H5O_INFO_BASIC) >= 0, object, "cannot be read");
  std::copy_n(info.token.__data, sizeof address, reinterpret_cast<std::uint8_t*>(&address));
#else
  H5O_info_t info{};
  impl_->check(H5Oget_info(at.get(), &info) >= 0, object, "cannot be read");
  address = info.addr;
#endif
  return address;
}

}  // namespace bellwether::input
