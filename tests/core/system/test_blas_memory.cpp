// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/blas_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <string>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Returns the address space of this process in bytes.
std::uint64_t address_space() {
  constexpr std::uint64_t page = 4096;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * page;
}

/// Limits the address space during its lifetime.
class AddressLimit {
 public:
  explicit AddressLimit(std::uint64_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit const limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(AddressLimit const&) = delete;
  AddressLimit& operator=(AddressLimit const&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("missing memory for buffers is reported at once", "[blas]") {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  if (address_space() > (std::uint64_t{1} << 40)) SKIP("the address sanitizer reserves terabytes");
  std::string fault;
  {
    // Leaves room for less than one more buffer: 100 threads need 12.5 GiB.
    AddressLimit const limit(address_space() + 100 * mebibyte);
    fault = bellwether::reserve_blas_memory(100);
  }
  CHECK_THAT(fault,
             StartsWith("not enough memory for OpenBLAS, which needs 136 MiB of address space for each of 100 ") &&
                 ContainsSubstring("`ulimit -v`"));
  CHECK(bellwether::reserve_blas_memory(2).empty());
}
