// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm_tile.hpp"
#include "core/system/illegal_instruction.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>

using namespace bellwether;

namespace {

int calls = 0;

}  // namespace

TEST_CASE("An instruction that the CPU lacks ends the work, not the program") {
  calls = 0;
  auto const succeeds = [] { ++calls; };
  auto const fails = [] {
    ++calls;
    std::raise(SIGILL);
    ++calls;
  };
  CHECK(has_instructions_of(succeeds));
  CHECK_FALSE(has_instructions_of(fails));
  CHECK_FALSE(has_instructions_of(fails));  // the signal is not left blocked
  CHECK(has_instructions_of(succeeds));
  CHECK(calls == 4);
}

TEST_CASE("The handler of SIGILL stays that of the program") {
  auto const own = [](int) {};
  auto const before = std::signal(SIGILL, own);
  has_instructions_of([] { std::raise(SIGILL); });
  CHECK(std::signal(SIGILL, before) == static_cast<void (*)(int)>(own));
}

TEST_CASE("The kernels that OpenBLAS has chosen run on this CPU") { CHECK(fault_of_blas() == ""); }
