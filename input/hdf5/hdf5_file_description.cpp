// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/hdf5_file_handles.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

/// Describes objects, types and attributes of any program's file for people.
namespace bellwether::input {

using hdf5::element_of;
using hdf5::Id;

namespace {

constexpr std::size_t most_values = 8;                        // of an array, that are shown
constexpr std::size_t most_bytes = std::size_t{64} << 20;     // of an attribute, that are read
constexpr std::size_t widest_number = sizeof(std::uint64_t);  // bytes of the whole numbers that are shown

std::string counted(std::size_t count, std::string const& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Returns " = 1" for a member of an enumeration of whole numbers; empty for a column of a compound.
std::string member_number(hid_t type, unsigned member) {
  if (H5Tget_class(type) != H5T_ENUM) return "";
  Id const base(H5Tget_super(type), H5Tclose);
  std::array<std::int64_t, 2> value{};  // room for the widest integer
  bool const read = H5Tget_class(base.get()) == H5T_INTEGER && H5Tget_size(base.get()) <= sizeof value &&
                    H5Tget_member_value(type, member, value.data()) >= 0 &&
                    H5Tconvert(base.get(), H5T_NATIVE_INT64, 1, value.data(), nullptr, H5P_DEFAULT) >= 0;
  if (!read) hdf5::last_error();
  return read ? " = " + std::to_string(value[0]) : "";
}

/// Lists the members of a compound, or those of an enumeration with their numbers; at most `most_values` of them.
std::string member_names(hid_t type) {
  auto const count = static_cast<std::size_t>(std::max(0, H5Tget_nmembers(type)));
  std::string text;
  for (std::size_t i = 0; i < std::min(count, most_values); ++i) {
    auto const member = static_cast<unsigned>(i);
    char* const name = H5Tget_member_name(type, member);
    text += (i == 0 ? "" : ", ") + std::string(name != nullptr ? name : "?") + member_number(type, member);
    H5free_memory(name);
  }
  return text + (count > most_values ? ", ... of " + std::to_string(count) : "");
}

std::string bits(char const* kind, hid_t type) { return kind + std::to_string(8 * H5Tget_size(type)); }

/// Returns "3" or "2 x 3", the extents of an array type.
std::string array_extents(hid_t type) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(0, H5Tget_array_ndims(type))));
  H5Tget_array_dims2(type, extents.data());
  std::string text;
  for (auto const extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

enum class Number { one, several };

/// Describes one value of a type, or several: "array of 3 int32", "arrays of 3 int32".
std::string type_text(hid_t type, Number number = Number::one) {
  std::string const s = number == Number::several ? "s" : "";
  auto const of_base = [&] { return type_text(Id(H5Tget_super(type), H5Tclose).get()); };
  auto const known = element_of(type);
  if (known == ElementType::table && !s.empty()) return "compounds of " + member_names(type);
  if (known != ElementType::other) return to_string(known) + (known == ElementType::text ? s : "");
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return bits(H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", type);
    case H5T_FLOAT:
      return bits("float", type);
    case H5T_ENUM:
      return "enumeration" + s + " of " + member_names(type);
    case H5T_OPAQUE:
      return (s.empty() ? "opaque of " : "opaque values of ") + counted(H5Tget_size(type), "byte");
    case H5T_BITFIELD:
      return "bit field" + s + " of " + counted(H5Tget_size(type), "byte");
    case H5T_REFERENCE:
      return "reference" + s;
    case H5T_VLEN:
      return "sequence" + s + " of " + of_base() + " of variable length";
    case H5T_ARRAY:
      return "array" + s + " of " + array_extents(type) + " " + of_base();
    default:
      return s.empty() ? "of a type that this program does not know"
                       : "values of a type that this program does not know";
  }
}

/// Reads all values of an attribute, converted to the type `memory`.
template <class Bytes>
bool read_all(Id const& attribute, hid_t memory, Bytes& bytes, std::size_t count) {
  bytes.resize(count * H5Tget_size(memory));
  bool const read = H5Aread(attribute.get(), memory, bytes.data()) >= 0;
  if (!read) hdf5::last_error();
  return read;
}

using Bytes = std::vector<unsigned char>;

template <class T>
T value_at(Bytes const& bytes, std::size_t i) {
  T value{};
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

std::string fixed_text(hid_t type, Bytes const& bytes, std::size_t i) {
  std::size_t const size = H5Tget_size(type);
  auto const* const first = reinterpret_cast<char const*>(bytes.data()) + i * size;
  std::string text(first, std::find(first, first + size, '\0'));
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string real_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// Returns the number of an enumeration's value, of up to eight bytes in the machine's byte order.
std::string number_of(hid_t base, unsigned char const* bytes) {
  std::size_t const size = H5Tget_size(base);
  if (size > widest_number) return "?";
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, size);  // least significant byte first: `base` is native, and the machine is little-endian
  if (H5Tget_sign(base) == H5T_SGN_NONE) return std::to_string(value);
  int const unused = static_cast<int>(8 * (widest_number - size));
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

std::string enumeration_text(hid_t type, Bytes const& bytes, std::size_t i) {
  auto const* const value = bytes.data() + i * H5Tget_size(type);
  std::vector<char> name(4096, '\0');
  if (H5Tenum_nameof(type, value, name.data(), name.size() - 1) >= 0) return name.data();
  hdf5::last_error();
  return number_of(Id(H5Tget_super(type), H5Tclose).get(), value);
}

/// Returns "[1, 2, 3, ... of 100]", or only the value of a scalar. text(i) formats one value.
template <class Text>
std::string values_text(Shape const& shape, std::size_t count, Text const& text) {
  if (shape.empty()) return text(0);
  std::string all;
  for (std::size_t i = 0; i < std::min(count, most_values); ++i) all += (i == 0 ? "" : ", ") + text(i);
  all = "[" + all + (count > most_values ? ", ... of " + std::to_string(count) + "]" : "]");
  if (shape.size() == 1) return all;
  std::string extents;
  for (auto const extent : shape) extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + extents + ") " + all;
}

/// Describes values that cannot be printed: "(compound: re, im)", "(3 references)".
std::string kind_text(hid_t type, Shape const& shape, std::size_t count) {
  std::string const of = shape.empty() ? "" : std::to_string(count) + " values, each ";
  if (H5Tget_class(type) == H5T_COMPOUND) return "(" + of + "compound of " + member_names(type) + ")";
  return "(" + of + type_text(type) + ")";
}

}  // namespace

namespace hdf5 {

std::string elements_text(hid_t type) { return type_text(type, Number::several); }

std::string value_text(hid_t type, hid_t space) {
  auto const count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  return count == 0 ? "no value" : counted(count, "value") + " of type " + type_text(type);
}

}  // namespace hdf5

Hdf5File::Kind Hdf5File::kind(std::string const& name) const {
  H5L_info_t link{};
  if (name != "/" && H5Lget_info(impl_->file.get(), name.c_str(), &link, H5P_DEFAULT) >= 0 &&
      link.type != H5L_TYPE_HARD)
    return Kind::link;
  auto const type = H5Iget_type(impl_->open_object(name).get());
  return type == H5I_GROUP ? Kind::group : type == H5I_DATASET ? Kind::data_set : Kind::other;
}

std::string Hdf5File::type_description(std::string const& name) const {
  return type_text(Id(H5Dget_type(impl_->open_data_set(name).get()), H5Tclose).get());
}

std::string Hdf5File::elements_description(std::string const& name) const {
  return hdf5::elements_text(Id(H5Dget_type(impl_->open_data_set(name).get()), H5Tclose).get());
}

std::string Hdf5File::attribute_type(std::string const& object, std::string const& name) const {
  Id const at = impl_->open_object(object);
  Id const attribute(H5Aopen(at.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
  impl_->check(attribute.valid(), object, "attribute '" + name + "' cannot be opened");
  Id const type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
  return hdf5::value_text(type.get(), space.get());
}

std::string Hdf5File::attribute_description(std::string const& object, std::string const& name) const {
  Id const at = impl_->open_object(object);
  Id const attribute(H5Aopen(at.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
  impl_->check(attribute.valid(), object, "attribute '" + name + "' cannot be opened");
  Id const type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
  impl_->check(type.valid() && space.valid(), object, "attribute '" + name + "' cannot be read");
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return "(empty)";
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  Shape const shape(extents.begin(), extents.end());
  auto const count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.get())));
  if (count == 0) return "(no values)";
  auto const kind = H5Tget_class(type.get());
  if (H5Tis_variable_str(type.get()) > 0)
    return shape.empty() ? "(text of variable length)" : "(" + counted(count, "text") + " of variable length)";
  bool const is_number = (kind == H5T_INTEGER && H5Tget_size(type.get()) <= widest_number) || kind == H5T_FLOAT;
  if (!is_number && kind != H5T_STRING && kind != H5T_ENUM) return kind_text(type.get(), shape, count);
  std::size_t const each = std::max({std::size_t{1}, H5Tget_size(type.get()), widest_number});
  if (count > most_bytes / each) return "(" + counted(count, "value") + ", too many to be shown)";

  Bytes bytes;
  auto const shown = [&](hid_t memory, auto const& text) {
    return read_all(attribute, memory, bytes, count) ? values_text(shape, count, text) : "(cannot be read)";
  };
  if (kind == H5T_STRING) return shown(type.get(), [&](std::size_t i) { return fixed_text(type.get(), bytes, i); });
  if (kind == H5T_ENUM) {
    Id const native(H5Tget_native_type(type.get(), H5T_DIR_ASCEND), H5Tclose);
    if (!native.valid()) return kind_text(type.get(), shape, count);
    return shown(native.get(), [&](std::size_t i) { return enumeration_text(native.get(), bytes, i); });
  }
  if (kind == H5T_FLOAT)
    return shown(H5T_NATIVE_DOUBLE, [&](std::size_t i) { return real_text(value_at<double>(bytes, i)); });
  if (H5Tget_sign(type.get()) == H5T_SGN_NONE)
    return shown(H5T_NATIVE_UINT64, [&](std::size_t i) { return std::to_string(value_at<std::uint64_t>(bytes, i)); });
  return shown(H5T_NATIVE_INT64, [&](std::size_t i) { return std::to_string(value_at<std::int64_t>(bytes, i)); });
}

}  // namespace bellwether::input
