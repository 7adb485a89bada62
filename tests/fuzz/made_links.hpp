// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/fuzz/target.hpp"

#include <hdf5.h>

#include <string>
#include <vector>

namespace bellwether::fuzz {

/// Sometimes replaces a data set by a link out of the file or a cycle.
inline void lead_elsewhere(std::string const& path, std::vector<std::string> const& names, Bytes& bytes) {
  auto const form = bytes.byte();
  if (form < 200) return;
  auto const& name = names[bytes.byte() % names.size()];
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) return;
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  hid_t const properties = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t shape[2] = {4, 8};
  if (form % 5 == 0) H5Lcreate_external("/dev/zero", "/x", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (form % 5 == 1) H5Lcreate_soft(("/" + name).c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (form % 5 == 2) H5Lcreate_hard(file, "/", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (form % 5 == 3) H5Pset_external(properties, "/dev/zero", 0, sizeof(int) * shape[0] * shape[1]);
  if (form % 5 == 4) {  // a virtual data set that maps itself
    hid_t const some = H5Screate_simple(2, shape, nullptr);
    shape[0] = hsize_t{1} << (form % 60);
    hid_t const all = H5Screate_simple(2, shape, nullptr);
    hsize_t const first[2] = {0, 0}, count[2] = {1, 8};
    for (hid_t const space : {some, all}) H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr);
    H5Pset_virtual(properties, all, ".", name.c_str(), some);
    H5Sclose(some);
    H5Sclose(all);
  }
  if (form % 5 >= 3) {
    hid_t const space = H5Screate_simple(2, shape, nullptr);
    hid_t const set = H5Dcreate2(file, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
  }
  H5Pclose(properties);
  H5Fclose(file);
}

}  // namespace bellwether::fuzz
