// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/schedule.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace bellwether::optim;
using Catch::Approx;

namespace {

double rate(ScheduleConfig const& schedule, std::int64_t step, double peak = 1.0, std::int64_t batch = 32) {
  return learning_rate(schedule, peak, batch, step);
}

ScheduleConfig make(std::int64_t steps, std::int64_t warmup, Decay decay) {
  ScheduleConfig schedule;
  schedule.steps = steps;
  schedule.warmup_steps = warmup;
  schedule.decay = decay;
  return schedule;
}

}  // namespace

TEST_CASE("1-bit LAMB's schedule of BERT-Large, phase 1") {
  // arXiv 2104.06069, DeepSpeed's configuration for sequences of 128: peak 11e-3, offset 1e-3.
  auto schedule = make(5993, 450, Decay::exponential);
  schedule.warmup = Warmup::quadratic;
  schedule.decay_rate = 0.9;
  schedule.decay_steps = 250;
  schedule.offset = 1e-3;
  CHECK(rate(schedule, 1, 11e-3) == Approx(1.0000543e-3).epsilon(1e-7));
  CHECK(rate(schedule, 100, 11e-3) == Approx(1.5432099e-3).epsilon(1e-7));
  CHECK(rate(schedule, 450, 11e-3) == Approx(1.2e-2).epsilon(1e-12));
  CHECK(rate(schedule, 1000, 11e-3) == Approx(9.724212e-3).epsilon(1e-6));
  CHECK(rate(schedule, 5993, 11e-3) == Approx(2.063794e-3).epsilon(1e-6));
}

TEST_CASE("1-bit LAMB's schedule of BERT-Large, phase 2") {
  auto schedule = make(555, 150, Decay::exponential);
  schedule.warmup = Warmup::quadratic;
  schedule.decay_rate = 0.9;
  schedule.decay_steps = 150;
  CHECK(rate(schedule, 1, 2e-3) == Approx(8.8889e-8).epsilon(1e-5));
  CHECK(rate(schedule, 150, 2e-3) == Approx(2e-3).epsilon(1e-12));
  CHECK(rate(schedule, 555, 2e-3) == Approx(1.504821e-3).epsilon(1e-6));
}

TEST_CASE("every decay starts at the peak and ends at its final rate") {
  for (Decay const decay : {Decay::constant, Decay::linear, Decay::polynomial, Decay::cosine, Decay::exponential}) {
    auto schedule = make(100, 20, decay);
    schedule.final_fraction = 0.25;
    schedule.decay_rate = 0.25;
    schedule.decay_steps = 80;
    CHECK(rate(schedule, 1) == Approx(0.05));
    CHECK(rate(schedule, 10) == Approx(0.5));
    CHECK(rate(schedule, 20) == Approx(1.0));
    CHECK(rate(schedule, 100) == Approx(decay == Decay::constant ? 1.0 : 0.25));
    for (std::int64_t step = 21; step <= 100; ++step) CHECK(rate(schedule, step) <= rate(schedule, step - 1) + 1e-15);
  }
}

TEST_CASE("decays have the expected rate halfway") {
  CHECK(rate(make(120, 20, Decay::linear), 70) == Approx(0.5));
  CHECK(rate(make(120, 20, Decay::cosine), 70) == Approx(0.5));
  auto schedule = make(120, 20, Decay::polynomial);
  CHECK(rate(schedule, 70) == Approx(std::sqrt(0.5)));
  schedule.power = 2;
  CHECK(rate(schedule, 70) == Approx(0.25));
  schedule.final_fraction = 0.5;
  CHECK(rate(schedule, 70) == Approx(0.625));
}

TEST_CASE("warmup over the whole run, and no warmup") {
  CHECK(rate(make(10, 10, Decay::linear), 10) == 1.0);
  CHECK(rate(make(10, 0, Decay::linear), 1) == Approx(0.9));
  CHECK(rate(make(1, 0, Decay::linear), 1) == 0.0);
}

TEST_CASE("LEGW scales the rate by the root of the batch ratio and does not change the warmup's steps") {
  auto schedule = make(1000, 100, Decay::constant);
  schedule.legw_baseline_batch = 32;
  CHECK(rate(schedule, 500, 0.5, 32) == Approx(0.5));
  CHECK(rate(schedule, 500, 0.5, 64 * 32) == Approx(8 * 0.5));
  CHECK(rate(schedule, 500, 0.5, 8) == Approx(0.25));
  // 64 times the batch in the same number of steps: 64 times the epochs.
  CHECK(rate(schedule, 99, 0.5, 64 * 32) < 4.0);
  CHECK(rate(schedule, 100, 0.5, 64 * 32) == Approx(4.0));
  CHECK(rate(schedule, 50, 0.5, 64 * 32) == Approx(2.0));
}

TEST_CASE("LEGW agrees with the tables of the papers") {
  // ResNet-50 (arXiv 1901.08256): 1K, 2^2.5, 0.3125 epochs up to 32K, 2^5, 10 epochs, ImageNet's 1281167 images.
  double const images = 1281167;
  auto schedule = make(1 << 20, static_cast<std::int64_t>(std::lround(0.3125 * images / 1024)), Decay::constant);
  schedule.legw_baseline_batch = 1024;
  for (int k = 0; k <= 5; ++k) {
    std::int64_t const batch = 1024 << k;
    CHECK(rate(schedule, 1 << 19, std::exp2(2.5), batch) == Approx(std::exp2(2.5 + 0.5 * k)));
    double const epochs = static_cast<double>(schedule.warmup_steps * batch) / images;
    CHECK(epochs == Approx(0.3125 * std::exp2(k)).epsilon(2e-3));
  }
  // BERT-Large with LAMB (arXiv 1904.00962): 512, 5 / 2^3 e-3 up to 32K, 5e-3; warmup 3125 steps in all rows.
  schedule = make(15625, 3125, Decay::linear);
  schedule.legw_baseline_batch = 512;
  CHECK(rate(schedule, 3125, 6.25e-4, 32768) == Approx(5e-3));
  CHECK(rate(schedule, 3125, 6.25e-4, 4096) == Approx(1.77e-3).epsilon(2e-3));
}
