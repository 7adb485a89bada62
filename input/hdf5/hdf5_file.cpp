// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/hdf5/hdf5_file.hpp"

#include "core/system/environment.hpp"
#include "core/system/error.hpp"
#include "core/system/system_limits.hpp"
#include "input/files/lock_file.hpp"
#include "input/files/no_room.hpp"
#include "input/files/regular_file.hpp"
#include "input/hdf5/hdf5_file_handles.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <hdf5.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace bellwether::input {
namespace hdf5 {

/// Returns the innermost non-empty description on HDF5's error stack. For a failed system call it returns only the
/// system's reason, which HDF5 wraps into lines of addresses and times.
std::string last_error() {
  std::string text;
  auto const visit = [](unsigned, H5E_error2_t const* error, void* out) -> herr_t {
    auto& found = *static_cast<std::string*>(out);
    if (found.empty() && error->desc != nullptr) found = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &text);
  H5Eclear2(H5E_DEFAULT);
  constexpr std::string_view reason = "error message = '";
  auto const first = text.find(reason);
  if (first == std::string::npos) return text;
  text.erase(0, first + reason.size());
  return text.substr(0, text.find('\''));
}

hid_t native(ElementType type) {
  switch (type) {
    case ElementType::i8:
      return H5T_NATIVE_INT8;
    case ElementType::u8:
      return H5T_NATIVE_UINT8;
    case ElementType::i16:
      return H5T_NATIVE_INT16;
    case ElementType::u16:
      return H5T_NATIVE_UINT16;
    case ElementType::i32:
      return H5T_NATIVE_INT32;
    case ElementType::u32:
      return H5T_NATIVE_UINT32;
    case ElementType::i64:
      return H5T_NATIVE_INT64;
    case ElementType::u64:
      return H5T_NATIVE_UINT64;
    case ElementType::f32:
      return H5T_NATIVE_FLOAT;
    case ElementType::f64:
      return H5T_NATIVE_DOUBLE;
    default:
      throw InternalError("no native HDF5 type for " + to_string(type));
  }
}

namespace {

/// Returns the narrowest supported integer type that holds all values; HDF5 also has 3-byte integers, for example.
ElementType integer_of(hid_t type) {
  for (auto candidate : {ElementType::i8, ElementType::u8, ElementType::i16, ElementType::u16, ElementType::i32,
                         ElementType::u32, ElementType::i64, ElementType::u64})
    if (H5Tget_size(native(candidate)) >= H5Tget_size(type) && H5Tget_sign(native(candidate)) == H5Tget_sign(type))
      return candidate;
  return ElementType::other;
}

/// Detects an enumeration of FALSE and TRUE, like h5py's booleans, with numbers other than 0 and 1.
bool is_strange_boolean(hid_t type, hid_t base) {
  auto const number = [&](char const* name) -> std::int64_t {
    constexpr std::int64_t none = -1;
    std::array<std::int64_t, 2> value{};  // room for the widest integer
    if (H5Tget_size(base) > sizeof value || H5Tenum_valueof(type, name, value.data()) < 0) return none;
    return H5Tconvert(base, H5T_NATIVE_INT64, 1, value.data(), nullptr, H5P_DEFAULT) >= 0 ? value[0] : none;
  };
  return H5Tget_member_index(type, "FALSE") >= 0 && H5Tget_member_index(type, "TRUE") >= 0 &&
         (number("FALSE") != 0 || number("TRUE") != 1);
}

}  // namespace

ElementType element_of(hid_t type) {
  std::size_t const size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_of(type);
    case H5T_ENUM: {
      Id const base(H5Tget_super(type), H5Tclose);
      bool const numbers = H5Tget_class(base.get()) == H5T_INTEGER && !is_strange_boolean(type, base.get());
      return numbers ? integer_of(base.get()) : ElementType::other;
    }
    case H5T_BITFIELD:  // PyTables stores booleans like this
      return size == 1 ? ElementType::u8 : ElementType::other;
    case H5T_FLOAT:
      return size == 4 ? ElementType::f32 : size == 8 ? ElementType::f64 : ElementType::other;
    case H5T_STRING:
      return ElementType::text;
    case H5T_COMPOUND:
      return ElementType::table;
    default:
      return ElementType::other;
  }
}

std::vector<hsize_t> sizes(Shape const& shape) { return {shape.begin(), shape.end()}; }

Id simple_space(Shape const& shape, bool grows) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  auto const now = sizes(shape);
  auto most = now;
  if (grows) most[0] = H5S_UNLIMITED;
  return {H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()), H5Sclose};
}

}  // namespace hdf5

using hdf5::element_of;
using hdf5::Id;
using hdf5::native;
using hdf5::simple_space;
using hdf5::sizes;

bool is_integer(ElementType type) { return type <= ElementType::u64; }

std::string to_string(ElementType type) {
  static constexpr char const* names[] = {"int8",   "uint8",   "int16",   "uint16", "int32",    "uint32", "int64",
                                          "uint64", "float32", "float64", "text",   "compound", "other"};
  return names[static_cast<int>(type)];
}

std::int64_t Column::rows() const {
  return std::visit([](auto const& column) { return static_cast<std::int64_t>(column.size()); }, values);
}

bool Hdf5File::Impl::write_out() const {
  void* descriptor = nullptr;
  hsize_t size = 0;
  return H5Fflush(file.get(), H5F_SCOPE_LOCAL) >= 0 && H5Fget_filesize(file.get(), &size) >= 0 &&
         H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor) >= 0 &&
         ftruncate(*static_cast<int*>(descriptor), static_cast<off_t>(size)) == 0;
}

void Hdf5File::Impl::abandon() const {
  void* descriptor = nullptr;
  if (!file.valid() || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor) < 0) return;
  int const nowhere = memfd_create("bellwether-abandoned-file", MFD_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, *static_cast<int*>(descriptor));
  ::close(nowhere);
}

Hdf5File::Hdf5File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

namespace {

/// With other values, newer libraries do not start, or read and write in ways that this program does not expect.
constexpr VariableRule library_rules[] = {
    {"HDF5_DRIVER", "sec2", [](std::string_view value) { return value.empty() || value == "sec2"; }},
    {"HDF5_VOL_CONNECTOR", "native", [](std::string_view value) { return value.empty() || value == "native"; }},
    {"HDF5_USE_FILE_LOCKING", "TRUE, FALSE, BEST_EFFORT, 1 or 0",
     [](std::string_view value) {
       return value.empty() || value == "TRUE" || value == "FALSE" || value == "BEST_EFFORT" || value == "1" ||
              value == "0";
     }},
};

}  // namespace

void start_hdf5() {
  if (auto faults = faults_of_variables(library_rules, [](char const* name) { return std::getenv(name); });
      !faults.empty())
    throw InputError(std::move(faults));
  static bool const started = H5dont_atexit() >= 0 && H5open() >= 0;
  if (!started) throw RuntimeError("the HDF5 library cannot start");
}

namespace {

Id access_properties(bool locks) {
  start_hdf5();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are thrown as exceptions, not printed to standard error
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.get(), locks, true);
#endif
  return access;
}

}  // namespace

Hdf5File Hdf5File::open(std::string const& path, VirtualData virtual_data) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->virtual_data = virtual_data;
  std::error_code status;
  if (!std::filesystem::exists(path, status)) throw InputError(path + ": no such file");
  if (auto const fault = fault_of_file(path); !fault.empty()) throw InputError(path + ": " + fault);
  // HDF5 ignores missing locks only for ENOSYS, the reason of parallel file systems. NFS, for example, gives other
  // reasons.
  Id const access = access_properties(has_locks(path));
  impl->file = Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (impl->file.valid()) return Hdf5File(std::move(impl));
  auto const reason = hdf5::last_error();
  if (tells_too_many_files(reason)) throw NoRoom(path + ": cannot be opened: " + reason);
  throw InputError(path + ": " + why_unopened(path, reason));
}

Hdf5File Hdf5File::create(std::string const& path) {
  make_way_for_file(path);
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->writing = true;
  Id const access = access_properties(false);  // the file has a temporary name, so nobody else opens it
  // Without HDF5's small buffer, a failed write is reported where it happens, instead of being lost in a later close.
  H5Pset_sieve_buf_size(access.get(), 0);
  impl->file = Id(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()), H5Fclose);
  impl->check(impl->file.valid(), "", "cannot be created");
  return Hdf5File(std::move(impl));
}

Hdf5File Hdf5File::modify(std::string const& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->writing = true;
  Id const access = access_properties(has_locks(path));
  H5Pset_sieve_buf_size(access.get(), 0);
  impl->file = Id(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  impl->check(impl->file.valid(), "", "cannot be opened for writing");
  return Hdf5File(std::move(impl));
}

std::string const& Hdf5File::path() const { return impl_->path; }
void Hdf5File::flush() { impl_->check(H5Fflush(impl_->file.get(), H5F_SCOPE_LOCAL) >= 0, "", "cannot be written"); }
void Hdf5File::close() {
  if (!impl_->file.valid()) return;
  if (impl_->failed) throw RuntimeError(impl_->path + ": cannot be completed: an earlier write failed");
  if (impl_->writing) impl_->check(impl_->write_out(), "", "cannot be written");
  impl_->check(H5Fclose(impl_->file.release()) >= 0, "", "cannot be closed");
}

bool Hdf5File::contains(std::string const& name) const { return impl_->holds(name); }

bool Hdf5File::is_group(std::string const& name) const {
  return H5Iget_type(impl_->open_object(name).get()) == H5I_GROUP;
}

std::vector<std::string> Hdf5File::list(std::string const& group) const {
  Id const object = impl_->open_object(group);
  std::vector<std::string> names;
  auto const visit = [](hid_t, char const* name, H5L_info_t const*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  impl_->check(H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_INC, &at, visit, &names) >= 0, group, "not a group");
  return names;
}

void Hdf5File::create_group(std::string const& name) {
  Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  Id const group(H5Gcreate2(impl_->file.get(), name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  impl_->check(group.valid(), name, "cannot be created");
}

bool DataSetInfo::may_hold(std::int64_t elements) const {
  constexpr std::int64_t elements_a_stored_byte = 1032;  // best case of gzip with one-byte elements
  return is_virtual || elements / elements_a_stored_byte <= stored_bytes;
}

DataSetInfo Hdf5File::info(std::string const& name) const {
  Id const set = impl_->open_data_set(name);
  Id const type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
  Id const properties(H5Dget_create_plist(set.get()), H5Pclose);
  DataSetInfo info;
  info.type = element_of(type.get());
  std::vector<hsize_t> extent(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  info.shape.assign(extent.begin(), extent.end());
  info.is_null = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
  auto const layout = H5Pget_layout(properties.get());
  info.is_virtual = layout == H5D_VIRTUAL;
  info.is_external = H5Pget_external_count(properties.get()) > 0;
  if (layout == H5D_CHUNKED) {
    H5Pget_chunk(properties.get(), static_cast<int>(extent.size()), extent.data());
    info.chunk.assign(extent.begin(), extent.end());
  }
  for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
    std::size_t values = 0;
    auto const filter =
        H5Pget_filter2(properties.get(), static_cast<unsigned>(i), nullptr, &values, nullptr, 0, nullptr, nullptr);
    info.gzip = info.gzip || filter == H5Z_FILTER_DEFLATE;
    info.shuffle = info.shuffle || filter == H5Z_FILTER_SHUFFLE;
  }
  info.stored_bytes = static_cast<std::int64_t>(H5Dget_storage_size(set.get()));
  return info;
}

namespace {

/// Returns name and number of the first filter of a data set that this library lacks; empty if it has all of them.
std::string missing_filter(Id const& set) {
  Id const properties(H5Dget_create_plist(set.get()), H5Pclose);
  for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
    std::size_t values = 0;
    char name[64] = {};
    auto const filter = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), nullptr, &values, nullptr,
                                       sizeof name - 1, name, nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      return "'" + std::string(name) + "' (number " + std::to_string(filter) + ")";
  }
  return "";
}

}  // namespace

std::size_t Hdf5File::elements(Shape const& shape) {
  std::size_t product = 1;
  for (auto extent : shape) product *= static_cast<std::size_t>(extent);
  return product;
}

void Hdf5File::create_data_set(std::string const& name, ElementType type, Shape const& shape, Storage const& storage) {
  Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!storage.chunk.empty()) {
    auto const chunk = sizes(storage.chunk);
    impl_->check(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0, name, "bad chunk");
    if (storage.shuffle) H5Pset_shuffle(properties.get());
    if (storage.gzip > 0)
      impl_->check(H5Pset_deflate(properties.get(), static_cast<unsigned>(storage.gzip)) >= 0, name,
                   "this HDF5 library has no gzip");
  }
  impl_->make(name, native(type), simple_space(shape, storage.grows).get(), properties.get());
}

void Hdf5File::resize_rows(std::string const& name, std::int64_t rows) {
  Shape shape = info(name).shape;
  shape.at(0) = rows;
  impl_->check(H5Dset_extent(impl_->open_data_set(name).get(), sizes(shape).data()) >= 0, name, "cannot grow");
}

void Hdf5File::transfer(std::string const& name, ElementType type, Shape const& first, Shape const& count,
                        void const* values, std::size_t size) {
  Id const set = impl_->open_data_set(name);
  auto const [where, memory] = impl_->box(set, name, first, count, size);
  impl_->check(H5Dwrite(set.get(), native(type), memory.get(), where.get(), H5P_DEFAULT, values) >= 0, name,
               "cannot be written");
}

void Hdf5File::fetch(std::string const& name, ElementType type, Shape const& first, Shape const& count, void* values,
                     std::size_t size) const {
  Id const set = impl_->open_data_set(name);
  Id const stored(H5Dget_type(set.get()), H5Tclose);
  ElementType const found = element_of(stored.get());
  // HDF5 would convert between integers and floats silently; a file of the wrong kind is better refused.
  bool const floats = found == ElementType::f32 || found == ElementType::f64;
  impl_->check(is_integer(type) ? is_integer(found) : floats, name,
               "holds " + hdf5::elements_text(stored.get()) + ", wanted " + to_string(type));
  impl_->require_values(set, name);
  auto const [where, memory] = impl_->box(set, name, first, count, size);
  // HDF5 does not convert bit fields to numbers.
  bool const bits = H5Tget_class(stored.get()) == H5T_BITFIELD;
  bool const read =
      H5Dread(set.get(), bits ? H5T_NATIVE_B8 : native(type), memory.get(), where.get(), H5P_DEFAULT, values) >= 0;
  if (read && (!bits || H5Tconvert(H5T_NATIVE_UINT8, native(type), size, values, nullptr, H5P_DEFAULT) >= 0)) return;
  std::string const reason = hdf5::last_error();  // before other calls replace it
  if (auto const filter = missing_filter(set); !filter.empty()) {
    hdf5::last_error();  // tells where plugins were looked for
    impl_->fail(name, "is compressed by the filter " + filter +
                          ", which this HDF5 library lacks; rewrite the file with gzip, by `h5repack -f GZIP=4 OLD "
                          "NEW` or h5py, on a system that has the filter");
  }
  impl_->fail(name, "cannot be read", reason);
}

}  // namespace bellwether::input
