// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Compares LayerNorm by teams and by lanes, on every enabled space, with rows handled by one thread.
#include "model/layers/layer_norm_body.hpp"
#include "model/layers/layer_norm_lanes.hpp"
#include "tests/model/layers/layer_forms.hpp"
#include "tests/model/layers/row_origins.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::model;
using namespace bellwether::model::test_forms;
using test::dropout_of;
using test::Origins;
using test::random_numbers;
using test::zeros;

namespace {

/// Wide rows in registers.
template <class S>
struct WideRows {
  using Space = S;
  static constexpr bool lanes = true;
};

template <class Form, class Real, class Stored>
void normalise(LayerNormForward<Real, Stored> const& p) {
  if constexpr (Form::lanes)
    REQUIRE(normalise_by_lanes(typename Form::Space(), p));
  else
    Form::run(p.rows, NormaliseRow<Real, Stored>{p});
}
template <class Form, class Real, class Stored>
void normalise_backward(LayerNormBackward<Real, Stored> const& p, Index columns, Real* partial) {
  if constexpr (Form::lanes)
    REQUIRE(normalise_backward_by_lanes(typename Form::Space(), p, partial));
  else
    Form::run(row_blocks(p.rows), NormaliseBlockBackward<Real, Stored>{p, columns, partial});
}

enum class Place { sub_layer, embeddings, head };

/// Runs forward and backward of LayerNorm at its place in the model.
template <class Form, class Real, class Stored>
Numbers layer_norm(Place place, Index C) {
  using Space = typename Form::Space;
  bool const inner = place == Place::sub_layer;
  auto const in_dropout = dropout_of(inner ? 0.2 : 0), out_dropout = dropout_of(place == Place::embeddings ? 0.1 : 0);
  Origins<Space> const origins(rows);
  auto const sum = random_numbers<Space, Stored>(rows * C, 1), residual = random_numbers<Space, Stored>(rows * C, 3),
             y = zeros<Space, Stored>(rows * C), da = zeros<Space, Stored>(rows * C);
  auto const bias = random_numbers<Space, Real>(C, 2), gamma = random_numbers<Space, Real>(C, 4),
             beta = random_numbers<Space, Real>(C, 5), dy = random_numbers<Space, Real>(rows * C, 6),
             mean = zeros<Space, Real>(rows), inverse_deviation = zeros<Space, Real>(rows);
  normalise<Form, Real, Stored>({.rows = rows,
                                 .C = C,
                                 .sum = sum.data(),
                                 .bias = inner ? bias.data() : nullptr,
                                 .residual = inner ? residual.data() : nullptr,
                                 .in_dropout = in_dropout,
                                 .out_dropout = out_dropout,
                                 .origin = origins.get(),
                                 .gamma = gamma.data(),
                                 .beta = beta.data(),
                                 .epsilon = Real(0.01),
                                 .y = y.data(),
                                 .mean = mean.data(),
                                 .inverse_deviation = inverse_deviation.data()});
  Index const columns = inner ? 3 * C : 2 * C;
  auto const dsum = inner ? zeros<Space, Real>(rows * C) : dy;
  auto const partial = random_numbers<Space, Real>(row_blocks(rows) * columns, 7);
  normalise_backward<Form, Real, Stored>({.rows = rows,
                                          .C = C,
                                          .dy = dy.data(),
                                          .sum = sum.data(),
                                          .mean = mean.data(),
                                          .inverse_deviation = inverse_deviation.data(),
                                          .gamma = gamma.data(),
                                          .in_dropout = in_dropout,
                                          .out_dropout = out_dropout,
                                          .origin = origins.get(),
                                          .dsum = dsum.data(),
                                          .da = inner ? da.data() : nullptr,
                                          .dgamma = nullptr,
                                          .dbeta = nullptr,
                                          .dbias = nullptr},
                                         columns, partial.data());
  return together(sum, y, mean, inverse_deviation, dsum, da, partial);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("layer norm by teams agrees with single threads", "", test::Spaces) {
  auto const place = GENERATE(Place::sub_layer, Place::embeddings, Place::head);
  compare_forms<TestType>([&]<class Form, class Real, class Stored>() {
    return layer_norm<Form, Real, Stored>(place, 2 * dropout_chunk + 3);
  });
}

TEMPLATE_LIST_TEST_CASE("layer norm by lanes agrees with single threads", "", test::Spaces) {
  auto const place = GENERATE(Place::sub_layer, Place::embeddings, Place::head);
  // Some lanes without a channel; exactly one step of lanes; a partly used last step; the largest supported C.
  Index const C = GENERATE(64, 256, 320, 1024);
  CAPTURE(C);
  compare(layer_norm<WideRows<TestType>, float, float>(place, C), layer_norm<Threads, float, float>(place, C), 3e-6);
  compare(layer_norm<WideRows<TestType>, float, bf16>(place, C), layer_norm<Threads, float, bf16>(place, C), 0x1p-7);
}

TEST_CASE("lanes refuse unsupported rows and dropouts") {
  CHECK(lanes_take(128));
  CHECK(lanes_take(1024));
  CHECK_FALSE(lanes_take(1088));
  CHECK_FALSE(lanes_take(96));
  // Lanes do not support dropout where the model has none: on the output with a residual, on the input without one.
  Kokkos::DefaultHostExecutionSpace const host;
  float some = 0;
  LayerNormForward<float> forward{};
  forward.C = 128;
  SECTION("forward, dropout on the output with a residual") {
    forward.bias = forward.residual = &some;
    forward.out_dropout = dropout_of(0.1);
    CHECK_FALSE(normalise_by_lanes(host, forward));
  }
  SECTION("forward, dropout on the input without a residual") {
    forward.in_dropout = dropout_of(0.1);
    CHECK_FALSE(normalise_by_lanes(host, forward));
  }
  LayerNormBackward<float> backward{};
  backward.C = 128;
  SECTION("backward, dropout on the output with a residual") {
    backward.da = &some;
    backward.out_dropout = dropout_of(0.1);
    CHECK_FALSE(normalise_backward_by_lanes(host, backward, nullptr));
  }
  SECTION("backward, dropout on the input without a residual") {
    backward.in_dropout = dropout_of(0.1);
    CHECK_FALSE(normalise_backward_by_lanes(host, backward, nullptr));
  }
}
