// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/hdf5_file_handles.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

/// The parts of Hdf5File beyond plain data sets: strings, tables, virtual data sets, attributes.
namespace bellwether::input {

using hdf5::element_of;
using hdf5::Id;
using hdf5::simple_space;
using hdf5::sizes;

namespace {

/// Makes the type of texts of up to `bytes` bytes. It has a fixed length: variable-length texts are stored in a heap,
/// and a damaged heap makes HDF5 access invalid memory.
Id text_type(std::size_t bytes) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(1, bytes));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// Maximum bytes of strings, or of the pointers to them, that a file may declare. A file can declare more than memory
/// holds without storing it.
constexpr std::size_t most_text_bytes = std::size_t{1} << 28;

bool holds_few_texts(hid_t type, hid_t space) {
  auto const count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  std::size_t const each = H5Tis_variable_str(type) > 0 ? sizeof(char*) : std::max<std::size_t>(1, H5Tget_size(type));
  return count <= most_text_bytes / each;
}

/// Reads strings of fixed or variable length from a data set or attribute. `read` fills a buffer of the memory type.
template <class Read>
std::vector<std::string> texts_of(hid_t type, hid_t space, Read const& read) {
  auto const count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
  std::vector<std::string> values;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> pointers(count, nullptr);
    read(type, pointers.data());
    for (char const* pointer : pointers) values.emplace_back(pointer == nullptr ? "" : pointer);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    return values;
  }
  std::size_t const size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  read(type, bytes.data());
  for (std::size_t i = 0; i < count; ++i) {
    char const* first = bytes.data() + i * size;
    values.emplace_back(first, std::find(first, first + size, '\0'));
  }
  return values;
}

}  // namespace

void Hdf5File::write_texts(std::string const& name, std::vector<std::string> const& values) {
  std::size_t longest = 1;
  for (auto const& value : values) longest = std::max(longest, value.size());
  Id const type = text_type(longest), space = simple_space({static_cast<std::int64_t>(values.size())});
  Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  Id const set = impl_->make(name, type.get(), space.get(), properties.get());
  if (values.empty()) return;
  std::vector<char> bytes(longest * values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) std::ranges::copy(values[i], &bytes[i * longest]);
  impl_->check(H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0, name,
               "cannot be written");
}

std::vector<std::string> Hdf5File::read_texts(std::string const& name) const {
  Id const set = impl_->open_data_set(name);
  Id const type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
  impl_->check(H5Tget_class(type.get()) == H5T_STRING, name, "holds no strings");
  impl_->check(holds_few_texts(type.get(), space.get()), name,
               "declares more strings than a file of this program holds");
  impl_->require_values(set, name);
  return texts_of(type.get(), space.get(), [&](hid_t memory, void* out) {
    impl_->check(H5Dread(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, name, "cannot be read");
  });
}

void Hdf5File::write_table(std::string const& name, std::vector<Column> const& columns, std::int64_t extent) {
  impl_->check(!columns.empty(), name, "a table needs columns");
  std::int64_t const rows = columns.front().rows();
  // Every column is 8 bytes wide: int64 or double.
  std::size_t const width = 8 * columns.size();
  Id const type(H5Tcreate(H5T_COMPOUND, width), H5Tclose);
  std::vector<unsigned char> bytes(width * static_cast<std::size_t>(rows));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    impl_->check(columns[c].rows() == rows, name, "columns differ in length");
    bool const integers = columns[c].values.index() == 0;
    impl_->check(
        H5Tinsert(type.get(), columns[c].name.c_str(), 8 * c, integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE) >= 0,
        name, "bad column '" + columns[c].name + "'");
    std::visit(
        [&](auto const& values) {
          for (std::size_t r = 0; r < values.size(); ++r) std::memcpy(&bytes[r * width + 8 * c], &values[r], 8);
        },
        columns[c].values);
  }
  Id const properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (extent > rows) {  // chunked, so that unwritten rows take no space
    hsize_t const chunk = std::min<hsize_t>(256, static_cast<hsize_t>(extent));
    H5Pset_chunk(properties.get(), 1, &chunk);
  }
  Id const set = impl_->make(name, type.get(), simple_space({std::max(rows, extent)}).get(), properties.get());
  auto const [where, memory] = impl_->box(set, name, {0}, {rows}, static_cast<std::size_t>(rows));
  if (rows > 0)
    impl_->check(H5Dwrite(set.get(), type.get(), memory.get(), where.get(), H5P_DEFAULT, bytes.data()) >= 0, name,
                 "cannot be written");
}

std::vector<Column> Hdf5File::read_table(std::string const& name) const {
  Shape const shape = stored_shape(name);
  impl_->check(shape.size() == 1, name, "is not a table of rows");
  return read_table(name, 0, shape[0]);
}

std::vector<Column> Hdf5File::read_table(std::string const& name, std::int64_t first, std::int64_t count) const {
  Id const set = impl_->open_data_set(name);
  Id const type(H5Dget_type(set.get()), H5Tclose);
  impl_->check(H5Tget_class(type.get()) == H5T_COMPOUND, name, "is not a table");
  impl_->require_values(set, name);
  auto const rows = static_cast<std::size_t>(count);
  auto const [where, memory] = impl_->box(set, name, {first}, {count}, rows);
  std::vector<Column> columns;
  for (int c = 0; c < H5Tget_nmembers(type.get()); ++c) {
    char* const label = H5Tget_member_name(type.get(), static_cast<unsigned>(c));
    Column column{label, {}};
    H5free_memory(label);
    auto const member = H5Tget_member_class(type.get(), static_cast<unsigned>(c));
    bool const integers = member == H5T_INTEGER || member == H5T_ENUM;
    impl_->check(integers || member == H5T_FLOAT, name, "column '" + column.name + "' holds no numbers");
    auto const read_as = [&](auto zero, hid_t native_type) {
      std::vector<decltype(zero)> values(rows);
      Id const one(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
      H5Tinsert(one.get(), column.name.c_str(), 0, native_type);
      if (rows > 0)
        impl_->check(H5Dread(set.get(), one.get(), memory.get(), where.get(), H5P_DEFAULT, values.data()) >= 0, name,
                     "cannot be read");
      column.values = std::move(values);
    };
    if (integers)
      read_as(std::int64_t{}, H5T_NATIVE_INT64);
    else
      read_as(double{}, H5T_NATIVE_DOUBLE);
    columns.push_back(std::move(column));
  }
  return columns;
}

void Hdf5File::write_virtual(std::string const& name, std::vector<VirtualSource> const& sources) {
  impl_->check(!sources.empty(), name, "a virtual data set needs sources");
  auto const folder = std::filesystem::path(impl_->path).parent_path();
  Hdf5File const model = open((folder / sources.front().file).string());
  Id const example = model.impl_->open_data_set(sources.front().data_set);
  Id const type(H5Dget_type(example.get()), H5Tclose);
  Shape shape = model.info(sources.front().data_set).shape;
  shape.at(0) = 0;
  for (auto const& source : sources) shape[0] += source.rows;
  Id const space = simple_space(shape), properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  Shape first(shape.size(), 0), count = shape;
  for (auto const& source : sources) {
    if (source.rows == 0) continue;
    count[0] = source.rows;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, sizes(first).data(), nullptr, sizes(count).data(), nullptr);
    // Select these rows instead of H5S_ALL: the source may be longer.
    Id const rows = simple_space(count);
    H5Sselect_hyperslab(rows.get(), H5S_SELECT_SET, sizes(Shape(shape.size(), 0)).data(), nullptr, sizes(count).data(),
                        nullptr);
    impl_->check(
        H5Pset_virtual(properties.get(), space.get(), source.file.c_str(), source.data_set.c_str(), rows.get()) >= 0,
        name, "cannot map " + source.file);
    first[0] += source.rows;
  }
  impl_->make(name, type.get(), space.get(), properties.get());
}

void Hdf5File::set_attribute(std::string const& object, std::string const& name, Attribute const& value) {
  Id const at = impl_->open_object(object), space = simple_space({});
  if (H5Aexists(at.get(), name.c_str()) > 0) H5Adelete(at.get(), name.c_str());
  auto const put = [&](hid_t type, void const* data) {
    Id const attribute(H5Acreate2(at.get(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    impl_->check(attribute.valid() && H5Awrite(attribute.get(), type, data) >= 0, object,
                 "attribute '" + name + "' cannot be written");
  };
  if (auto const* integer = std::get_if<std::int64_t>(&value)) put(H5T_NATIVE_INT64, integer);
  if (auto const* real = std::get_if<double>(&value)) put(H5T_NATIVE_DOUBLE, real);
  if (auto const* text = std::get_if<std::string>(&value)) {
    put(text_type(text->size()).get(), text->c_str());  // an empty text writes its terminating zero
  }
}

std::optional<Hdf5File::Attribute> Hdf5File::attribute(std::string const& object, std::string const& name) const {
  Id const at = impl_->open_object(object);
  if (H5Aexists(at.get(), name.c_str()) <= 0) return std::nullopt;
  Id const attribute(H5Aopen(at.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
  impl_->check(attribute.valid(), object, "attribute '" + name + "' cannot be opened");
  Id const type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
  ElementType const kind = element_of(type.get());
  bool const is_number = is_integer(kind) || kind == ElementType::f32 || kind == ElementType::f64;
  bool const is_bits = H5Tget_class(type.get()) == H5T_BITFIELD;  // HDF5 does not convert them to numbers
  // Messages about the root name no object: the attribute is the file's.
  impl_->check(
      H5Sget_simple_extent_npoints(space.get()) == 1 && (kind == ElementType::text || (is_number && !is_bits)),
      object == "/" ? "" : object,
      "attribute '" + name + "' holds " + hdf5::value_text(type.get(), space.get()) + "; allowed: one number or text");
  auto const get = [&](hid_t memory, void* out) {
    impl_->check(H5Aread(attribute.get(), memory, out) >= 0, object, "attribute '" + name + "' cannot be read");
  };
  impl_->check(holds_few_texts(type.get(), space.get()), object, "attribute '" + name + "' is too long");
  if (kind == ElementType::text) return texts_of(type.get(), space.get(), get).front();
  if (is_integer(kind)) {
    std::int64_t value = 0;
    get(H5T_NATIVE_INT64, &value);
    return value;
  }
  double value = 0;
  get(H5T_NATIVE_DOUBLE, &value);
  return value;
}

std::vector<std::string> Hdf5File::attribute_names(std::string const& object) const {
  Id const at = impl_->open_object(object);
  std::vector<std::string> names;
  auto const visit = [](hid_t, char const* name, H5A_info_t const*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t next = 0;
  H5Aiterate2(at.get(), H5_INDEX_NAME, H5_ITER_INC, &next, visit, &names);
  return names;
}

}  // namespace bellwether::input
