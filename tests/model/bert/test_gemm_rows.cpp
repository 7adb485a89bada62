// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/team_sum.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "tests/support/batches.hpp"

#include <catch2/catch_test_macros.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <vector>

// The linker's --wrap sends every BLAS call of the program here first. A product outside the regions is counted as
// work.
namespace {
std::atomic<std::int64_t> blas_operations{0};
}
extern "C" {
void __real_cblas_sgemm(int, int, int, int, int, int, float, float const*, int, float const*, int, float, float*, int);
void __real_cblas_dgemm(int, int, int, int, int, int, double, double const*, int, double const*, int, double, double*,
                        int);
void __wrap_cblas_sgemm(int order, int op_a, int op_b, int m, int n, int k, float alpha, float const* a, int lda,
                        float const* b, int ldb, float beta, float* c, int ldc) {
  blas_operations += std::int64_t{2} * m * n * k;
  __real_cblas_sgemm(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void __wrap_cblas_dgemm(int order, int op_a, int op_b, int m, int n, int k, double alpha, double const* a, int lda,
                        double const* b, int ldb, double beta, double* c, int ldc) {
  blas_operations += std::int64_t{2} * m * n * k;
  __real_cblas_dgemm(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}

using namespace bellwether;

namespace {

/// One product: C (m, n) = A (m, k) B (k, n).
using Shape = std::array<Index, 3>;
using Shapes = std::vector<Shape>;

Shapes seen_shapes;

/// While it exists, records the products that gemm() reports to Kokkos Tools.
class ShapeWatch {
 public:
  ShapeWatch() {
    seen_shapes.clear();
    blas_operations = 0;
    Kokkos::Tools::Experimental::set_push_region_callback([](char const* name) {
      long long m = 0, n = 0, k = 0;
      if (std::sscanf(name, "bellwether::core::gemm m=%lld n=%lld k=%lld", &m, &n, &k) == 3)
        seen_shapes.push_back({m, n, k});
    });
  }
  ~ShapeWatch() { Kokkos::Tools::Experimental::set_push_region_callback(nullptr); }
  Shapes sorted() const {
    auto shapes = seen_shapes;
    std::sort(shapes.begin(), shapes.end());
    return shapes;
  }
};

std::int64_t operations(Shapes const& shapes) {
  return std::accumulate(shapes.begin(), shapes.end(), std::int64_t{0},
                         [](std::int64_t sum, Shape const& s) { return sum + 2 * s[0] * s[1] * s[2]; });
}

/// Adds the products of one linear layer on `rows` rows: the output and, in training, gradients of weight and input.
void add_linear(Shapes& shapes, Index rows, Index in, Index out, bool training) {
  shapes.push_back({rows, out, in});
  if (!training) return;
  shapes.push_back({out, in, rows});
  shapes.push_back({rows, in, out});
}

Shapes encoder_shapes(model::ModelConfig const& c, Index T, bool training) {
  Shapes shapes;
  for (Index i = 0; i < c.layers; ++i) {
    add_linear(shapes, T, c.hidden, 3 * c.hidden, training);
    add_linear(shapes, T, c.hidden, c.hidden, training);
    add_linear(shapes, T, c.hidden, c.feed_forward, training);
    add_linear(shapes, T, c.feed_forward, c.hidden, training);
  }
  return shapes;
}

Shapes expected_shapes(model::ModelConfig const& c, model::Batch const& batch, bool training) {
  auto shapes = encoder_shapes(c, batch.tokens(), training);
  add_linear(shapes, batch.masked(), c.hidden, c.hidden, training);
  add_linear(shapes, batch.masked(), c.hidden, c.vocabulary, training);
  add_linear(shapes, batch.sequences(), c.hidden, c.hidden, training);
  add_linear(shapes, batch.sequences(), c.hidden, 2, training);
  std::sort(shapes.begin(), shapes.end());
  return shapes;
}

/// Returns the products of forward that add a bias immediately.
Shapes forward_with_bias(model::ModelConfig const& c, model::Batch const& batch) {
  Shapes shapes{{batch.masked(), c.hidden, c.hidden}};
  for (Index i = 0; i < c.layers; ++i) {
    shapes.push_back({batch.tokens(), 3 * c.hidden, c.hidden});
    shapes.push_back({batch.tokens(), c.feed_forward, c.hidden});
  }
  return shapes;
}

/// Returns dimensions that differ from all row counts.
model::ModelConfig distinct_extents() {
  return {.vocabulary = 71, .hidden = 24, .layers = 2, .heads = 3, .feed_forward = 42, .positions = 13};
}

template <class Real>
struct Problem {
  explicit Problem(std::vector<int> const& lengths)
      : batch(tests::random_batch(config, lengths, 3, 5)),
        bert(Exec(), config, {.sequences = batch.sequences(), .longest = longest, .masked = 3}, 7),
        parameters("parameters", static_cast<std::size_t>(bert.layout().table.count())),
        gradients("gradients", parameters.size()) {
    Kokkos::deep_copy(parameters, Real(0.01));
    for (std::size_t b = 0; b < lengths.size(); ++b) squared_lengths += lengths[b] * lengths[b];
  }
  void train() {
    bert.set_parameters(parameters.data());
    bert.train(gradients.data(), batch, {}, [](Index, Index) {});
  }
  Index padded() const { return batch.sequences() * longest; }

  static constexpr Index longest = 13;
  model::ModelConfig config = distinct_extents();
  model::Batch batch;
  model::Bert<Real> bert;
  Kokkos::View<Real*, Mem> parameters, gradients;
  std::int64_t squared_lengths = 0;
};

}  // namespace

TEST_CASE("matrix products have exactly T rows in the encoder and M rows in the masked-LM head") {
  Problem<float> problem({11, 3, 7, 1});
  REQUIRE(problem.batch.tokens() == 22);
  REQUIRE(problem.batch.masked() == 8);
  ShapeWatch const watch;
  SECTION("forward and backward") {
    problem.train();
    CHECK(watch.sorted() == expected_shapes(problem.config, problem.batch, true));
  }
  SECTION("forward only") {
    problem.bert.set_parameters(problem.parameters.data());
    problem.bert.evaluate(problem.batch);
    CHECK(watch.sorted() == expected_shapes(problem.config, problem.batch, false));
  }
  REQUIRE_FALSE(seen_shapes.empty());
  for (auto const& shape : seen_shapes)
    for (Index const extent : shape) CHECK((extent != problem.padded() && extent != 4 * 11));
}

TEST_CASE("all matrix products are counted, and attention uses each sequence's length") {
  // In double, because those products use BLAS on every CPU.
  Problem<double> problem({11, 3, 7, 1});
  auto const C = problem.config.hidden, L = problem.config.layers;
  ShapeWatch const watch;
  problem.train();
  // Products fused with their bias do not use BLAS: queries, keys and values, and those before each GELU.
  auto const fused = TeamShape<Exec>::host ? 0 : operations(forward_with_bias(problem.config, problem.batch));
  // A head's products are (length, length, D): two in forward and five in backward, which recomputes the scores.
  auto const done = blas_operations + fused;
  CHECK(done == operations(watch.sorted()) + 7 * 2 * C * problem.squared_lengths * L);
  // The progress line's rate of floating-point operations counts these scores once.
  CHECK(model::training_flops(problem.config, problem.batch) ==
        static_cast<double>(done - 2 * C * problem.squared_lengths * L));
}

TEST_CASE("strips of logits have M rows in total") {
  std::vector<int> lengths(120);
  for (std::size_t b = 0; b < lengths.size(); ++b) lengths[b] = 4 + static_cast<int>(b % 9);
  Problem<float> problem(lengths);
  Index const C = problem.config.hidden, V = problem.config.vocabulary, M = problem.batch.masked();
  REQUIRE(M == 360);
  ShapeWatch const watch;
  problem.train();
  Index logits = 0, input_gradients = 0, weight_gradients = 0;
  for (auto const& [m, n, k] : seen_shapes) {
    if (n == V && k == C) logits += m;
    if (n == C && k == V) input_gradients += m;
    if (m == V && n == C) weight_gradients += k;
  }
  CHECK(logits == M);
  CHECK(input_gradients == M);
  CHECK(weight_gradients == M);
  auto const encoder = encoder_shapes(problem.config, problem.batch.tokens(), true);
  for (auto const& shape : encoder) CHECK(std::ranges::count(seen_shapes, shape) == std::ranges::count(encoder, shape));
}
