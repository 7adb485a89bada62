// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_report.hpp"
#include "app/commands/option_checks.hpp"
#include "app/estimate/byte_bounds.hpp"
#include "app/machine/timing.hpp"
#include "core/system/error.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using namespace bellwether::app;
using Catch::Approx;
using optim::Method;

namespace {

optim::OptimizerConfig method(Method which) {
  optim::OptimizerConfig config;
  config.method = which;
  return config;
}

}  // namespace

TEST_CASE("a timing has the median, the fastest and the slowest of calls") {
  auto const odd = timing_of({3, 1, 2});
  CHECK((odd.median == 2 && odd.fastest == 1 && odd.slowest == 3));
  CHECK(timing_of({4, 1, 2, 9}).median == 3);
  CHECK_THROWS_AS(timing_of({}), InternalError);
}

TEST_CASE("element_count() parses numbers with units") {
  CHECK(element_count("1") == 1);
  CHECK(element_count("64Ki") == 65536);
  CHECK(element_count("300Mi") == 314572800);
  CHECK(element_count("1024Gi") == std::int64_t{1} << 40);
  for (auto const* wrong : {"", "0", "-1", "1.5Mi", "1M", "1mi", "Mi", "1Mi ", " 1", "0x10", "1025Gi",
                            "9223372036854775807Gi", "99999999999999999999"}) {
    INFO(wrong);
    CHECK_FALSE(element_count(wrong));
  }
}

TEST_CASE("byte bounds are the sums of the specification") {
  comm::CommConfig comm;
  CHECK(least_bytes(dense_bounds(method(Method::lamb), comm, 1)) == 44);
  CHECK(least_bytes(dense_bounds(method(Method::adamw), comm, 1)) == 32);
  auto paper = method(Method::onebit_lamb);
  paper.exchange = optim::Exchange::momentum;
  paper.steer = optim::Steer::variance;
  paper.unify = optim::Unify::layer;
  CHECK(least_bytes(compressed_bounds(paper, 1)) == 44.625);
  CHECK(specified_bytes(1) == 44.625);
  // Two sketches, g and error; then read m, v and x and write m and u; then read u and x and write x.
  CHECK(least_bytes(compressed_bounds(method(Method::onebit_lamb), 1)) == 4 + 4 + 12.25 + 20.25 + 12);
  for (int const ranks : {2, 4, 8}) {
    double const P = ranks, server = (8 + P / 8 + 0.125) / P;
    CHECK(least_bytes(compressed_bounds(paper, ranks)) == Approx(44.625 + server).epsilon(1e-12));
    CHECK(specified_bytes(ranks) == Approx(44.625 + server).epsilon(1e-12));
    auto by_element = paper;  // apply does not read the variance
    by_element.unify = optim::Unify::element;
    CHECK(least_bytes(compressed_bounds(by_element, ranks)) == Approx(40.625 + server).epsilon(1e-12));
    CHECK(least_bytes(dense_bounds(method(Method::lamb), comm, ranks)) == Approx(44 + 4 * (P + 1) / P).epsilon(1e-12));
  }
  for (auto const which : {Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd})
    for (auto const exchange : {optim::Exchange::gradient, optim::Exchange::momentum}) {
      auto config = method(which);
      config.exchange = exchange;
      for (auto const& kernel : compressed_bounds(config, 4)) {
        INFO(kernel.label);
        CHECK(kernel.moved > 0);
      }
    }
  for (auto const which : {Method::lamb, Method::adamw})
    CHECK_THROWS_AS(compressed_bounds(method(which), 4), InternalError);
}

TEST_CASE("a table names the checks that do not hold") {
  CollectiveResult result{
      .name = "dense mean, fp32", .latency = timing_of({0.5}), .sent_bytes = 8, .share_of_dense = 1};
  result.checks = {{"first", true}, {"second", false}};
  auto const text = collectives_text(1000, 2, {result});
  CHECK(text.find("    holds: first\n    DOES NOT HOLD: second\n") != std::string::npos);
  CHECK(algorithm_speed(1000, result) == 8000);
  CHECK(bus_speed(1000, 4, result) == 12000);
}
