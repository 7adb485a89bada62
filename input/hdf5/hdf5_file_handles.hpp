// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"
#include "core/system/system_limits.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/hdf5/unopened_file.hpp"

#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

/// Internals of Hdf5File, only for its own sources: no other file includes hdf5.h.
namespace bellwether::input {
namespace hdf5 {

/// Owns one HDF5 id. A destructor cannot report a failure to close; Hdf5File::close() does.
class Id {
 public:
  using Close = herr_t (*)(hid_t);
  Id() = default;
  Id(hid_t id, Close close) : id_(id), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Returns the description of the innermost failure on HDF5's error stack, and clears the stack.
std::string last_error();
hid_t native(ElementType type);
ElementType element_of(hid_t type);
/// Describes the elements of a data set, for messages after "holds": "float32", "arrays of 3 int32", "references".
std::string elements_text(hid_t type);
/// Describes what an attribute holds without its value: "3 values of type int32", "no value".
std::string value_text(hid_t type, hid_t space);
std::vector<hsize_t> sizes(Shape const& shape);
Id simple_space(Shape const& shape, bool grows = false);

}  // namespace hdf5

struct Hdf5File::Impl {
  std::string path;
  bool writing = false;
  VirtualData virtual_data = VirtualData::refuse;
  mutable bool failed = false;  ///< a write failed: the file can no longer be completed
  hdf5::Id file;

  Impl() = default;
  Impl(Impl const&) = delete;
  ~Impl() {
    if (writing && file.valid() && !write_out()) abandon();
  }
  /// Writes buffered data and sets the length of the file, so that nothing in H5Fclose can fail.
  bool write_out() const;
  /// Redirects everything that HDF5 still buffers into memory that nobody reads. After a failed write HDF5 cannot close
  /// the file and keeps it open: see start_hdf5().
  void abandon() const;

  [[noreturn]] void fail(std::string const& name, std::string const& what,
                         std::string const& reason = hdf5::last_error()) const {
    if (writing) {
      abandon();
      failed = true;
    }
    std::string const text = path + (name.empty() ? "" : ": data set '" + name + "'") + ": " + what +
                             (reason.empty() ? "" : ": " + reason) +
                             (!writing && means_damage(reason) ? damage_advice : "");
    if (writing || tells_too_many_files(reason)) throw RuntimeError(text);
    throw InputError(text);
  }
  void check(bool condition, std::string const& name, std::string const& what) const {
    if (!condition) fail(name, what);
  }
  /// Returns true if a name refers to something in this file. \throws InputError if a link in the path leads elsewhere.
  bool holds(std::string const& name) const;
  /// Checks that the values of a data set are in this file or in files that are allowed, and have the declared size.
  /// \throws InputError otherwise.
  void require_values(hdf5::Id const& set, std::string const& name) const;
  void require_sources(hdf5::Id const& set, std::string const& name) const;
  std::vector<VirtualSource> sources(hdf5::Id const& set, std::string const& name) const;
  hdf5::Id open_object(std::string const& name) const {
    check(writing || holds(name), name, "not found");
    hdf5::Id object(H5Oopen(file.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    check(object.valid(), name, "not found");
    return object;
  }
  hdf5::Id open_data_set(std::string const& name) const {
    check(writing || holds(name), name, "not found");
    hdf5::Id set(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    check(set.valid(), name, "not found");
    return set;
  }
  /// Creates a data set without a creation time, so that equal contents make equal files.
  hdf5::Id make(std::string const& name, hid_t type, hid_t space, hid_t properties) const {
    check(H5Pset_obj_track_times(properties, false) >= 0, name, "cannot be created");
    hdf5::Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    hdf5::Id set(H5Dcreate2(file.get(), name.c_str(), type, space, links.get(), properties, H5P_DEFAULT), H5Dclose);
    check(set.valid(), name, "cannot be created");
    return set;
  }
  /// Returns the file selection of a box and the matching memory space, after checking the box against the extent.
  std::pair<hdf5::Id, hdf5::Id> box(hdf5::Id const& set, std::string const& name, Shape const& first,
                                    Shape const& count, std::size_t size) const {
    check(elements(count) == size, name, "buffer and selection differ in size");
    hdf5::Id where(H5Dget_space(set.get()), H5Sclose);
    int const rank = H5Sget_simple_extent_ndims(where.get());
    check(rank == static_cast<int>(first.size()) && first.size() == count.size(), name, "wrong number of dimensions");
    if (rank == 0) return {std::move(where), hdf5::simple_space({})};
    std::vector<hsize_t> extent(first.size());
    H5Sget_simple_extent_dims(where.get(), extent.data(), nullptr);
    for (std::size_t d = 0; d < first.size(); ++d)
      check(first[d] >= 0 && count[d] >= 0 && first[d] + count[d] <= static_cast<std::int64_t>(extent[d]), name,
            "selection [" + std::to_string(first[d]) + ", " + std::to_string(first[d] + count[d]) + ") of " +
                std::to_string(extent[d]) + " in dimension " + std::to_string(d));
    if (size == 0)
      H5Sselect_none(where.get());
    else
      H5Sselect_hyperslab(where.get(), H5S_SELECT_SET, hdf5::sizes(first).data(), nullptr, hdf5::sizes(count).data(),
                          nullptr);
    hdf5::Id memory = hdf5::simple_space(count);
    if (size == 0) H5Sselect_none(memory.get());
    return {std::move(where), std::move(memory)};
  }
};

}  // namespace bellwether::input
