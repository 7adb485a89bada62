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

/// What an element of a data set or an attribute is. Integers of any width and byte order are converted on reading, and
/// so are the numbers of enumerations: booleans of h5py are one of FALSE = 0 and TRUE = 1.
enum class ElementType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, text, table, other };

bool is_integer(ElementType type);
std::string to_string(ElementType type);

using Shape = std::vector<std::int64_t>;

/// How a data set lies in its file. Gzip, shuffle and growth need chunks.
struct Storage {
  Shape chunk;           ///< empty: contiguous
  int gzip = 0;          ///< level 1..9; 0: none
  bool shuffle = false;  ///< bytes of equal significance together, which gzip likes
  bool grows = false;    ///< rows may be appended
};

struct DataSetInfo {
  ElementType type = ElementType::other;
  Shape shape;
  Shape chunk;                    ///< empty: contiguous or virtual
  std::int64_t stored_bytes = 0;  ///< on disk, after compression
  bool is_virtual = false, is_external = false;
  bool is_null = false;  ///< it has no place for any element
  bool gzip = false, shuffle = false;

  /// Whether that many elements can have been written. A file may declare far more than it holds, or than memory does;
  /// of virtual data sets nothing is known here.
  bool may_hold(std::int64_t elements) const;
};

/// A column of a compound table.
struct Column {
  std::string name;
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;
  std::int64_t rows() const;
};

/// Rows of another file's data set, one piece of a virtual data set. Where the file is missing, readers see zeros.
struct VirtualSource {
  std::string file;  ///< relative to the folder of the virtual data set's file
  std::string data_set;
  std::int64_t rows = 0;
};

/// Whether values of other files are read where a virtual data set shows them. Even then those files lie beside it or
/// below, hold the values themselves, and hold as many rows as are shown.
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

/// Starts the library without what it does at the program's end, where it would crash over a file whose writing failed:
/// files that were closed are whole already. Before MPI starts, because the parallel library ends itself with MPI
/// otherwise; the first file calls it too.
/// \throws InputError where an environment variable asks HDF5 for what this program does not use, RuntimeError where
/// HDF5 cannot start.
void start_hdf5();

/// One open HDF5 file. HDF5 is not thread-safe everywhere: in the program, only the I/O thread uses this class.
/// Names are paths from the root ("layers/trust_ratio"); missing groups of a new name are made. Files are written in
/// the oldest format that holds them, never `libver latest`, so that old libraries read them. Locks are best effort.
/// What is opened for reading is a regular file, and what is read of it lies in it: links that lead elsewhere, storage
/// in other files and, unless asked for, virtual data sets are refused. \throws InputError in files opened for reading,
/// RuntimeError in files being written; both name file and data set.
class Hdf5File {
 public:
  static Hdf5File open(std::string const& path, VirtualData virtual_data = VirtualData::refuse);  ///< for reading
  static Hdf5File create(std::string const& path);  ///< new and empty; an old file of that name is lost
  static Hdf5File modify(std::string const& path);  ///< a complete file of ours, to add to
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  std::string const& path() const;
  void flush();
  void close();  ///< writes what is buffered; unlike the destructor it reports failure

  bool contains(std::string const& name) const;
  bool is_group(std::string const& name) const;
  /// What a name in the file leads to; links to other places are not followed. other: a named type, say.
  enum class Kind { group, data_set, link, other };
  Kind kind(std::string const& name) const;
  std::vector<std::string> list(std::string const& group = "/") const;  ///< names in it, sorted
  void create_group(std::string const& name);
  DataSetInfo info(std::string const& name) const;
  /// What an element of a data set is, for people, also where ElementType has no name for it: "enumeration of no, yes".
  std::string type_description(std::string const& name) const;
  /// Where an object lies in the file: one that several names lead to has one address.
  std::uint64_t address(std::string const& object) const;

  /// A new data set; elements not written read as zero.
  void create_data_set(std::string const& name, ElementType type, Shape const& shape, Storage const& storage = {});
  /// Rows of a data set that grows: new extent of the first dimension.
  void resize_rows(std::string const& name, std::int64_t rows);

  /// A new data set with its values, row-major.
  template <Hdf5Element T>
  void write(std::string const& name, Shape const& shape, std::span<T const> values, Storage const& storage = {}) {
    create_data_set(name, element_type<T>(), shape, storage);
    transfer(name, element_type<T>(), Shape(shape.size(), 0), shape, values.data(), values.size());
  }
  /// The box [first, first + count) of an existing data set.
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
  /// Rows [first, first + count) of the first dimension, all of the others.
  template <Hdf5Element T>
  void read_rows(std::string const& name, std::int64_t first, std::int64_t count, std::span<T> values) const {
    Shape counts = info(name).shape, firsts(counts.size(), 0);
    firsts.at(0) = first;
    counts[0] = count;
    fetch(name, element_type<T>(), firsts, counts, values.data(), values.size());
  }

  /// One-dimensional arrays of UTF-8 strings, as long as the longest; those of variable length are read too.
  void write_texts(std::string const& name, std::vector<std::string> const& values);
  std::vector<std::string> read_texts(std::string const& name) const;

  /// One-dimensional compound tables: pandas.DataFrame(h5py.File(f)[name][:]). Columns have equal lengths. A table of
  /// more rows than its columns, `extent`, has zeros in the rest.
  void write_table(std::string const& name, std::vector<Column> const& columns, std::int64_t extent = 0);
  std::vector<Column> read_table(std::string const& name) const;
  /// Rows [first, first + count) of one.
  std::vector<Column> read_table(std::string const& name, std::int64_t first, std::int64_t count) const;

  /// A data set that shows the rows of `sources`, one after another. Type and row shape are those of the first source
  /// with a file, which must exist.
  void write_virtual(std::string const& name, std::vector<VirtualSource> const& sources);
  /// What a data set shows of other files, in the order of its rows; nothing where it holds its own.
  std::vector<VirtualSource> virtual_sources(std::string const& name) const;

  using Attribute = std::variant<std::int64_t, double, std::string>;
  /// `object` is a group or a data set, "/" the root. An older value is replaced.
  void set_attribute(std::string const& object, std::string const& name, Attribute const& value);
  std::optional<Attribute> attribute(std::string const& object, std::string const& name) const;
  /// The value of an attribute of any type and shape, for people, the first values where there are many; a few words
  /// in parentheses where it is nothing to print. Texts of variable length, as other programs write them, are not
  /// read: those of a damaged file may crash HDF5.
  std::string attribute_description(std::string const& object, std::string const& name) const;
  std::vector<std::string> attribute_names(std::string const& object) const;

 private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  static std::size_t elements(Shape const& shape);
  static constexpr std::int64_t few_elements = std::int64_t{1} << 20;  // that memory may be taken for, stored or not
  Shape stored_shape(std::string const& name) const;                   ///< for reading all of it
  void transfer(std::string const& name, ElementType type, Shape const& first, Shape const& count, void const* values,
                std::size_t size);
  void fetch(std::string const& name, ElementType type, Shape const& first, Shape const& count, void* values,
             std::size_t size) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::input
