// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm_panels.hpp"
#include "tests/core/products.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using namespace bellwether::test;

namespace {

template <class Words, class A, class B, class C>
void check(Problem const& p, std::mt19937& random) {
  Matrices<A, B, C> const x(p, random);
  auto c = x.c;
  product::multiply<Words>(product::Operand<A>{p.op_a, x.a.data(), x.lda},
                           product::Operand<B>{p.op_b, x.b.data(), x.ldb}, p.m, p.n, p.k, p.alpha, p.beta, c.data(),
                           x.ldc);
  CHECK(distance(p, x, c) <= 1);
}

template <class Words>
void check_rounded(Problem const& p, std::mt19937& random) {
  check<Words, bf16, bf16, float>(p, random);
  check<Words, bf16, bf16, bf16>(p, random);
  check<Words, float, bf16, bf16>(p, random);
}

}  // namespace

// Every kind of words, whichever of them this CPU's products take.
TEST_CASE("products by panels are the sums of their terms") {
  std::mt19937 random(15);
  for (auto const& p : problems(random)) {
    CAPTURE(p.m, p.n, p.k, p.alpha, p.beta, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    check<product::FloatWords, float, float, float>(p, random);
    check_rounded<product::RoundedWords>(p, random);
    check_rounded<product::CpuWords>(p, random);
  }
}
