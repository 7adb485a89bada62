// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace bellwether::input {

/// The type of an element of a data set or an attribute. Reading converts integers of any width and byte order, and
/// enumerations by their numbers: h5py stores booleans as an enumeration FALSE = 0, TRUE = 1.
enum class ElementType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, text, table, other };

bool is_integer(ElementType type);
std::string to_string(ElementType type);

using Shape = std::vector<std::int64_t>;

/// The storage layout of a data set. Gzip, shuffle and growth require chunks.
struct Storage {
  Shape chunk;           ///< empty: contiguous
  int gzip = 0;          ///< level 1..9; 0: none
  bool shuffle = false;  ///< groups bytes of equal significance, which improves gzip
  bool grows = false;    ///< rows can be appended
};

struct DataSetInfo {
  ElementType type = ElementType::other;
  Shape shape;
  Shape chunk;                    ///< empty: contiguous or virtual
  std::int64_t stored_bytes = 0;  ///< on disk, after compression
  bool is_virtual = false, is_external = false;
  bool is_null = false;  ///< the data space has no elements (H5S_NULL)
  bool gzip = false, shuffle = false;

  /// Returns true if a data set of this stored size can hold that many elements. A file may declare far more than it
  /// stores or than fits in memory. Virtual data sets always return true.
  bool may_hold(std::int64_t elements) const;
};

/// A column of a compound table.
struct Column {
  std::string name;
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;
  std::int64_t rows() const;
};

/// A range of rows of another file's data set, one part of a virtual data set. HDF5 reads zeros if the file is missing.
struct VirtualSource {
  std::string file;  ///< relative to the folder of the virtual data set's file
  std::string data_set;
  std::int64_t rows = 0;
};

/// Selects whether the values of a virtual data set are read from the other files. With `show` those files must be in
/// the same folder or below it, hold the values themselves, and hold at least the rows that are mapped.
enum class VirtualData { refuse, show };

template <class T>
concept Hdf5Element = std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::uint16_t> || std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;

template <Hdf5Element T>
constexpr ElementType element_type() {
  if constexpr (std::same_as<T, float>) return ElementType::f32;
  if constexpr (std::same_as<T, double>) return ElementType::f64;
  if constexpr (std::same_as<T, std::int8_t>) return ElementType::i8;
  if constexpr (std::same_as<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::same_as<T, std::int16_t>) return ElementType::i16;
  if constexpr (std::same_as<T, std::uint16_t>) return ElementType::u16;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::same_as<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::same_as<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::same_as<T, std::uint64_t>) return ElementType::u64;
}

/// Starts the HDF5 library without its exit handler, which would crash on a file whose write failed; closed files are
/// complete already. Call it before MPI starts, because parallel HDF5 otherwise shuts down with MPI. Opening the first
/// file calls it, too.
/// \throws InputError if an environment variable selects an HDF5 feature that this program does not use, RuntimeError
/// if HDF5 cannot start.
void start_hdf5();

/// One open HDF5 file. HDF5 is not thread-safe everywhere: the program uses this class only on the I/O thread.
/// Names are paths from the root ("layers/trust_ratio"); creating a name creates missing groups. Files are written in
/// the oldest format version that can represent them, never `libver latest`, so that old libraries can read them. File
/// locks are used if the file system has them.
/// Only regular files are opened for reading. Links to other places, external storage and, unless requested, virtual
/// data sets are rejected.
///
/// \throws InputError for files opened for reading, RuntimeError for files being written and if too many files are
/// open. Both name the file and the data set.
class Hdf5File {
 public:
  static Hdf5File open(std::string const& path, VirtualData virtual_data = VirtualData::refuse);  ///< for reading
  static Hdf5File create(std::string const& path);  ///< new and empty; replaces an old file of that name
  static Hdf5File modify(std::string const& path);  ///< opens a complete file of this program for changes
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  std::string const& path() const;
  void flush();
  void close();  ///< writes buffered data; unlike the destructor it reports failure

  bool contains(std::string const& name) const;
  bool is_group(std::string const& name) const;
  /// Returns what a name in the file refers to, without following links. other: for example a named type.
  enum class Kind { group, data_set, link, other };
  Kind kind(std::string const& name) const;
  std::vector<std::string> list(std::string const& group = "/") const;  ///< names in the group, sorted
  void create_group(std::string const& name);
  DataSetInfo info(std::string const& name) const;
  /// Describes the element type of a data set for people, including types that ElementType lacks: "enumeration of
  /// FALSE = 1, TRUE = 0".
  std::string type_description(std::string const& name) const;
  /// Describes the elements of a data set, for messages after "holds": "float32", "arrays of 3 int32", "references".
  std::string elements_description(std::string const& name) const;
  /// Returns where an object is stored in the file. Names of the same object have the same address.
  std::uint64_t address(std::string const& object) const;

  /// Creates a data set. Elements that were not written read as zero.
  void create_data_set(std::string const& name, ElementType type, Shape const& shape, Storage const& storage = {});
  /// Sets the extent of the first dimension of a data set that grows.
  void resize_rows(std::string const& name, std::int64_t rows);

  /// Creates a data set with its values, row-major.
  template <Hdf5Element T>
  void write(std::string const& name, Shape const& shape, std::span<T const> values, Storage const& storage = {}) {
    create_data_set(name, element_type<T>(), shape, storage);
    transfer(name, element_type<T>(), Shape(shape.size(), 0), shape, values.data(), values.size());
  }
  /// Writes the box [first, first + count) of an existing data set.
  template <Hdf5Element T>
  void write_slab(std::string const& name, Shape const& first, Shape const& count, std::span<T const> values) {
    transfer(name, element_type<T>(), first, count, values.data(), values.size());
  }
  template <Hdf5Element T>
  void append_rows(std::string const& name, std::int64_t rows, std::span<T const> values) {
    Shape count = info(name).shape, first(count.size(), 0);
    first.at(0) = count.at(0);
    resize_rows(name, count[0] + rows);
    count[0] = rows;
    transfer(name, element_type<T>(), first, count, values.data(), values.size());
  }

  template <Hdf5Element T>
  std::vector<T> read(std::string const& name) const {
    Shape const shape = stored_shape(name);
    std::vector<T> values(elements(shape));
    read_slab<T>(name, Shape(shape.size(), 0), shape, values);
    return values;
  }
  template <Hdf5Element T>
  void read_slab(std::string const& name, Shape const& first, Shape const& count, std::span<T> values) const {
    fetch(name, element_type<T>(), first, count, values.data(), values.size());
  }
  /// Reads rows [first, first + count) of the first dimension and all of the other dimensions.
  template <Hdf5Element T>
  void read_rows(std::string const& name, std::int64_t first, std::int64_t count, std::span<T> values) const {
    Shape counts = info(name).shape, firsts(counts.size(), 0);
    firsts.at(0) = first;
    counts[0] = count;
    fetch(name, element_type<T>(), firsts, counts, values.data(), values.size());
  }

  /// One-dimensional arrays of UTF-8 strings. Strings are written with the fixed length of the longest; variable-length
  /// strings can be read.
  void write_texts(std::string const& name, std::vector<std::string> const& values);
  std::vector<std::string> read_texts(std::string const& name) const;

  /// One-dimensional compound tables: pandas.DataFrame(h5py.File(f)[name][:]). Columns have equal lengths. `extent`:
  /// number of rows of the table; rows after those of the columns are zero.
  void write_table(std::string const& name, std::vector<Column> const& columns, std::int64_t extent = 0);
  std::vector<Column> read_table(std::string const& name) const;
  /// Reads rows [first, first + count) of a table.
  std::vector<Column> read_table(std::string const& name, std::int64_t first, std::int64_t count) const;

  /// Creates a data set that shows the rows of `sources`, one after another. Type and row shape are those of the first
  /// source, whose file must exist.
  void write_virtual(std::string const& name, std::vector<VirtualSource> const& sources);
  /// Returns the parts of a virtual data set in the order of its rows; empty if the data set holds its own values.
  std::vector<VirtualSource> virtual_sources(std::string const& name) const;

  using Attribute = std::variant<std::int64_t, double, std::string>;
  /// Sets an attribute of `object`, a group or a data set ("/" is the root), and replaces an older value.
  void set_attribute(std::string const& object, std::string const& name, Attribute const& value);
  /// Returns the value of an attribute; nothing if there is none of this name.
  /// \throws InputError for an attribute that is not one number or text, with its type.
  std::optional<Attribute> attribute(std::string const& object, std::string const& name) const;
  /// Describes what an attribute holds, without its value: "3 values of type int32", "no value".
  std::string attribute_type(std::string const& object, std::string const& name) const;
  /// Describes the value of an attribute of any type and shape for people; of many values only the first ones. Values
  /// that cannot be printed are described in parentheses. Variable-length texts, as other programs write them, are not
  /// read: in a damaged file they may crash HDF5.
  std::string attribute_description(std::string const& object, std::string const& name) const;
  std::vector<std::string> attribute_names(std::string const& object) const;

 private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  static std::size_t elements(Shape const& shape);
  static constexpr std::int64_t few_elements = std::int64_t{1} << 20;  // may be allocated even if not stored
  Shape stored_shape(std::string const& name) const;                   ///< checks the data set before all of it is read
  void transfer(std::string const& name, ElementType type, Shape const& first, Shape const& count, void const* values,
                std::size_t size);
  void fetch(std::string const& name, ElementType type, Shape const& first, Shape const& count, void* values,
             std::size_t size) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::input
