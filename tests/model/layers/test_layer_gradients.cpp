// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm.hpp"
#include "core/system/error.hpp"
#include "model/layers/activation.hpp"
#include "model/layers/attention.hpp"
#include "model/layers/cross_entropy.hpp"
#include "model/layers/embedding.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layers/linear.hpp"
#include "model/layers/rows.hpp"
#include "tests/model/layers/row_origins.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <map>

// Compares every layer's backward with finite differences of its forward, in double. The differentiated value is a
// random linear functional w . y of the layer's output, so w is the gradient given to backward. A loss is
// differentiated directly. Rows fill more than one block (row_block), and channels more than one chunk of dropout.

using namespace bellwether;
using namespace bellwether::model;
using test::check_gradient;
using test::copy_of;
using test::dot;
using test::dropout_of;
using test::Origins;
using test::random_numbers;
using test::to_space;
using test::zeros;

namespace {

constexpr Index some_rows = row_block + 3;

template <class Space>
void drop_rows(Space const& exec, Index rows, Index C, Dropout const& dropout, RowOrigin const& origin, double* x) {
  Kokkos::parallel_for(
      "bellwether::test::dropout", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, rows),
      KOKKOS_LAMBDA(Index r) {
        each_dropped<double>(ThreadRow{}, dropout, origin, r, C,
                             [=](Index k, double factor) { x[r * C + k] *= factor; });
      });
}

/// Gradients of y = x W^T as the model computes them: dx (rows, in), dW (out, in), from dy (rows, out).
template <class Space>
void linear_backward(Space const& exec, Index rows, Index in, Index out, Vec<double, Space> const& x,
                     Vec<double, Space> const& W, Vec<double, Space> const& dy, Vec<double, Space> const& dx,
                     Vec<double, Space> const& dW) {
  gemm(exec, {Op::transpose, Op::none, out, in, rows}, ConstMatrix{dy.data(), out}, ConstMatrix{x.data(), in},
       Matrix{dW.data(), in}, {.beta = 1});
  gemm(exec, {Op::none, Op::none, rows, in, out}, ConstMatrix{dy.data(), out}, ConstMatrix{W.data(), in},
       Matrix{dx.data(), in});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("linear layer: input, weight and bias", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index rows = some_rows, in = 10, out = 7, part = 3;
  auto const x = random_numbers<Space>(rows * in, 1), W = random_numbers<Space>(out * in, 2),
             b = random_numbers<Space>(out, 3), w = random_numbers<Space>(rows * out, 4);
  auto const y = zeros<Space>(rows * out);
  auto const value = [&] {
    linear_forward(exec, LinearForward<double, double>{.rows = rows,
                                                       .in = in,
                                                       .out = out,
                                                       .x = x.data(),
                                                       .W = W.data(),
                                                       .bias = {b.data(), b.data()},
                                                       .y = y.data()});
    return dot(w, y);
  };
  auto const dx = zeros<Space>(rows * in), dW = zeros<Space>(out * in), db = zeros<Space>(out),
             partial = zeros<Space>(row_blocks(rows) * out);
  linear_backward(exec, rows, in, out, x, W, w, dx, dW);
  // One launch adds two sums: the first and last columns together, and the columns between them. The model does so for
  // the bias of queries and values. Then linear_gradients() adds all columns with the weights.
  constexpr Index apart = out - part;
  auto const room = zeros<Space>(PendingSums<double>::room(row_blocks(rows), out));
  PendingSums<double> sums({room.data(), room.size()});
  add_column_sums<double>(exec, StoredRows<double>{rows, out, w.data()}, apart, sums,
                          {part, {db.data(), db.data() + apart}});
  add_column_sums<double>(exec, StoredRows<double>{rows, out, w.data() + part}, apart - part, sums, db.data() + part);
  CHECK_THROWS_AS(sums.put(row_blocks(rows), {8 * out, {db.data()}}), InternalError);  // no room
  sums.add(exec);
  check_gradient("input", x, dx, value);
  check_gradient("weight", W, dW, value);
  check_gradient("bias", b, db, value);
  Kokkos::deep_copy(exec, db, 0);
  linear_gradients(exec,
                   LinearGradients<double, double>{.rows = rows,
                                                   .in = in,
                                                   .out = out,
                                                   .stride = out,
                                                   .dy = w.data(),
                                                   .x = x.data(),
                                                   .dW = zeros<Space>(out * in).data(),
                                                   .dbias = db.data()},
                   partial.data());
  check_gradient("bias with the weights", b, db, value);
}

TEMPLATE_LIST_TEST_CASE("gathered rows: input", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index rows = 9, count = 4, C = 5;
  auto const index = to_space<Space>(std::vector<std::int32_t>{0, 3, 4, 8});
  auto const x = random_numbers<Space>(rows * C, 1), w = random_numbers<Space>(count * C, 2);
  auto const y = zeros<Space>(count * C), dx = zeros<Space>(rows * C);
  add_rows(exec, count, C, index.data(), w.data(), dx.data());
  check_gradient("input", x, dx, [&] {
    gather_rows(exec, count, C, index.data(), x.data(), y.data());
    return dot(w, y);
  });
}

TEMPLATE_LIST_TEST_CASE("dropout with a fixed mask: input", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index rows = 7, C = dropout_chunk + 6;
  Origins<Space> const origins(rows);
  auto const dropout = dropout_of(0.3);
  auto const x = random_numbers<Space>(rows * C, 1), w = random_numbers<Space>(rows * C, 2);
  auto const dx = copy_of(w);
  drop_rows(exec, rows, C, dropout, origins.get(), dx.data());
  auto const dropped = std::ranges::count(test::to_host(dx), 0.0);
  CHECK(dropped > rows * C / 5);
  CHECK(dropped < rows * C * 2 / 5);
  check_gradient("input", x, dx, [&] {
    auto const y = copy_of(x);
    drop_rows(exec, rows, C, dropout, origins.get(), y.data());
    return dot(w, y);
  });
}

TEMPLATE_LIST_TEST_CASE("layer norm: input, bias, residual, gamma and beta", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index rows = some_rows, C = dropout_chunk + 2;
  // After a sub-layer; after the embeddings; in the masked-LM head, where the gradient overwrites dy.
  enum class Place { sub_layer, embeddings, head };
  auto const place = GENERATE(Place::sub_layer, Place::embeddings, Place::head);
  bool const inner = place == Place::sub_layer;
  auto const in_dropout = dropout_of(inner ? 0.2 : 0.0, 1),
             out_dropout = dropout_of(place == Place::embeddings ? 0.1 : 0.0, 2);
  Origins<Space> const origins(rows);
  auto const a = random_numbers<Space>(rows * C, 1), bias = random_numbers<Space>(C, 2),
             residual = random_numbers<Space>(rows * C, 3), gamma = random_numbers<Space>(C, 4),
             beta = random_numbers<Space>(C, 5), w = random_numbers<Space>(rows * C, 6);
  auto const sum = zeros<Space>(rows * C), y = zeros<Space>(rows * C), mean = zeros<Space>(rows),
             inverse_deviation = zeros<Space>(rows);
  auto const value = [&] {
    Kokkos::deep_copy(sum, a);
    layer_norm_forward(exec, LayerNormForward<double>{.rows = rows,
                                                      .C = C,
                                                      .sum = sum.data(),
                                                      .bias = inner ? bias.data() : nullptr,
                                                      .residual = inner ? residual.data() : nullptr,
                                                      .in_dropout = in_dropout,
                                                      .out_dropout = out_dropout,
                                                      .origin = origins.get(),
                                                      .gamma = gamma.data(),
                                                      .beta = beta.data(),
                                                      .epsilon = 0.01,
                                                      .y = y.data(),
                                                      .mean = mean.data(),
                                                      .inverse_deviation = inverse_deviation.data()});
    return dot(w, y);
  };
  value();
  auto const da = zeros<Space>(rows * C), dgamma = zeros<Space>(C), dbeta = zeros<Space>(C), dbias = zeros<Space>(C),
             partial = zeros<Space>(row_blocks(rows) * 3 * C), dy = copy_of(w);
  auto const dsum = inner ? zeros<Space>(rows * C) : dy;
  layer_norm_backward(exec,
                      LayerNormBackward<double>{.rows = rows,
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
                                                .dgamma = dgamma.data(),
                                                .dbeta = dbeta.data(),
                                                .dbias = inner ? dbias.data() : nullptr},
                      partial.data());
  check_gradient("input", a, inner ? da : dsum, value);
  check_gradient("gamma", gamma, dgamma, value);
  check_gradient("beta", beta, dbeta, value);
  if (!inner) return;
  check_gradient("bias", bias, dbias, value);
  check_gradient("residual", residual, dsum, value);
}

TEMPLATE_LIST_TEST_CASE("GELU by erf and by tanh: input and bias", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const kind = GENERATE(Activation::gelu_erf, Activation::gelu_tanh);
  constexpr Index rows = some_rows, F = 9;
  auto const x = random_numbers<Space>(rows * F, 1, 3.0), b = random_numbers<Space>(F, 2),
             w = random_numbers<Space>(rows * F, 3);
  auto const pre = zeros<Space>(rows * F), y = zeros<Space>(rows * F);
  auto const value = [&] {
    Kokkos::deep_copy(pre, x);
    bias_gelu_forward(
        exec, kind,
        BiasGeluForward<double, double>{.rows = rows, .F = F, .bias = b.data(), .pre = pre.data(), .y = y.data()});
    return dot(w, y);
  };
  value();
  auto const dx = copy_of(w), db = zeros<Space>(F), partial = zeros<Space>(row_blocks(rows) * F);
  bias_gelu_backward(
      exec, kind,
      BiasGeluBackward<double, double, double>{
          .rows = rows, .F = F, .pre = pre.data(), .dy = dx.data(), .dpre = dx.data(), .dbias = db.data()},
      partial.data());
  check_gradient("input", x, dx, value);
  check_gradient("bias", b, db, value);
}

TEMPLATE_LIST_TEST_CASE("feed-forward: input, weights and bias", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const kind = GENERATE(Activation::gelu_erf, Activation::gelu_tanh);
  constexpr Index rows = some_rows, C = 5, F = 16;
  auto const x = random_numbers<Space>(rows * C, 1, 2.0), W = random_numbers<Space>(F * C, 2),
             b = random_numbers<Space>(F, 3), V = random_numbers<Space>(C * F, 4),
             w = random_numbers<Space>(rows * C, 5);
  auto const pre = zeros<Space>(rows * F), y = zeros<Space>(rows * F), z = zeros<Space>(rows * C);
  auto const value = [&] {
    linear_gelu_forward(exec, kind,
                        LinearGeluForward<double, double>{.rows = rows,
                                                          .in = C,
                                                          .out = F,
                                                          .x = x.data(),
                                                          .W = W.data(),
                                                          .bias = {b.data(), b.data()},
                                                          .pre = pre.data(),
                                                          .y = y.data()});
    gemm(exec, {Op::none, Op::transpose, rows, C, F}, ConstMatrix{y.data(), F}, ConstMatrix{V.data(), F},
         Matrix{z.data(), C});
    return dot(w, z);
  };
  value();
  auto const dpre = zeros<Space>(rows * F), db = random_numbers<Space>(F, 6), before = copy_of(db),
             partial = zeros<Space>(row_blocks(rows) * F), dx = zeros<Space>(rows * C), dW = zeros<Space>(F * C),
             dV = zeros<Space>(C * F);
  gemm(exec, {Op::transpose, Op::none, C, F, rows}, ConstMatrix{w.data(), C}, ConstMatrix{y.data(), F},
       Matrix{dV.data(), F}, {.beta = 1});
  gelu_linear_backward(exec, kind,
                       GeluLinearBackward<double, double>{.rows = rows,
                                                          .in = F,
                                                          .out = C,
                                                          .dz = w.data(),
                                                          .V = V.data(),
                                                          .pre = pre.data(),
                                                          .dpre = dpre.data(),
                                                          .dbias = db.data()},
                       partial.data());
  linear_backward(exec, rows, C, F, x, W, dpre, dx, dW);
  // linear_gradients() adds to the gradient, so subtract what was there before.
  Kokkos::parallel_for(
      "bellwether::test::added", Kokkos::RangePolicy<Space>(exec, 0, F), KOKKOS_LAMBDA(int k) { db(k) -= before(k); });
  exec.fence("bellwether::test::added");
  check_gradient("input", x, dx, value);
  check_gradient("weight in", W, dW, value);
  check_gradient("bias", b, db, value);
  check_gradient("weight out", V, dV, value);
}

TEMPLATE_LIST_TEST_CASE("pooler: hidden states, weight and bias", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index T = 11, B = 3, C = 6;
  auto const first_rows = to_space<Space>(std::vector<std::int32_t>{0, 5, 6});
  auto const hidden = random_numbers<Space>(T * C, 1), W = random_numbers<Space>(C * C, 2),
             b = random_numbers<Space>(C, 3), w = random_numbers<Space>(B * C, 4);
  auto const first = zeros<Space>(B * C), y = zeros<Space>(B * C);
  auto const value = [&] {
    gather_rows(exec, B, C, first_rows.data(), hidden.data(), first.data());
    gemm(exec, {Op::none, Op::transpose, B, C, C}, ConstMatrix{first.data(), C}, ConstMatrix{W.data(), C},
         Matrix{y.data(), C});
    bias_tanh_forward(exec, B, C, b.data(), y.data());
    return dot(w, y);
  };
  value();
  auto const dy = copy_of(w), dfirst = zeros<Space>(B * C), dhidden = zeros<Space>(T * C), dW = zeros<Space>(C * C),
             db = zeros<Space>(C), partial = zeros<Space>(row_blocks(B) * C);
  tanh_backward(exec, B, C, y.data(), dy.data());
  add_column_sums(exec, StoredRows<double>{B, C, dy.data()}, C, partial.data(), db.data());
  linear_backward(exec, B, C, C, first, W, dy, dfirst, dW);
  add_rows(exec, B, C, first_rows.data(), dfirst.data(), dhidden.data());
  check_gradient("hidden states", hidden, dhidden, value);
  check_gradient("weight", W, dW, value);
  check_gradient("bias", b, db, value);
}

TEMPLATE_LIST_TEST_CASE("attention with and without dropout: queries, keys and values", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index T = 15, C = 12, longest = 9;
  auto const offsets = to_space<Space>(std::vector<std::int32_t>{0, 5, 6, T});
  auto const samples = to_space<Space>(std::vector<std::int64_t>{3, std::int64_t{1} << 33, 4});
  auto const qkv = random_numbers<Space>(T * 3 * C, 1, 2.0), w = random_numbers<Space>(T * C, 2);
  auto const context = zeros<Space>(T * C), dqkv = zeros<Space>(T * 3 * C),
             scratch = zeros<Space>(attention_scratch<double, double>(exec, 3, C, 3, longest));
  Attention<double> const attention{.sequences = 3,
                                    .C = C,
                                    .heads = 3,
                                    .longest = longest,
                                    .sequence_offsets = offsets.data(),
                                    .qkv = qkv.data(),
                                    .dropout = dropout_of(GENERATE(0.0, 0.3)),
                                    .samples = samples.data(),
                                    .position_stride = dropout_chunk,
                                    .scratch = scratch.data()};
  attention_backward(exec, attention, w.data(), dqkv.data());
  check_gradient("queries, keys, values", qkv, dqkv, [&] {
    attention_forward(exec, attention, context.data());
    return dot(w, context);
  });
}

TEMPLATE_LIST_TEST_CASE("cross entropy of masked tokens and of next sentences: logits and bias", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const [rows, classes] = GENERATE(std::pair<Index, Index>{some_rows, 37}, std::pair<Index, Index>{5, 2});
  double const scale = 0.31;
  std::vector<std::int32_t> drawn;
  for (Index r = 0; r < rows; ++r) drawn.push_back(static_cast<std::int32_t>(r * r % classes));
  auto const labels = to_space<Space>(drawn);
  auto const logits = random_numbers<Space>(rows * classes, 1, 3.0), b = random_numbers<Space>(classes, 2);
  auto const dlogits = copy_of(logits), loss = zeros<Space>(rows), correct = zeros<Space>(rows),
             total = zeros<Space>(1);
  auto const value = [&, number = rows, kinds = classes] {
    Kokkos::deep_copy(dlogits, logits);
    Kokkos::deep_copy(total, 0.0);
    cross_entropy(exec, CrossEntropy<double, double>{.rows = number,
                                                     .classes = kinds,
                                                     .stride = kinds,
                                                     .bias = b.data(),
                                                     .labels = labels.data(),
                                                     .scale = scale,
                                                     .logits = dlogits.data(),
                                                     .dlogits = dlogits.data(),
                                                     .loss = loss.data(),
                                                     .correct = correct.data()});
    add_in_order(exec, number, loss.data(), total.data());
    return scale * test::to_host(total)[0];
  };
  value();
  auto const gradient = copy_of(dlogits), db = zeros<Space>(classes),
             partial = zeros<Space>(row_blocks(rows) * classes);
  add_column_sums(exec, StoredRows<double>{rows, classes, gradient.data()}, classes, partial.data(), db.data());
  check_gradient("logits", logits, gradient, value);
  check_gradient("bias", b, db, value);
}

TEMPLATE_LIST_TEST_CASE("embeddings: word, position and segment tables", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  constexpr Index V = 11, positions = 24, segments = 3, C = 6, longest = 22;
  std::vector<std::int32_t> const lengths{17, 1, longest};
  std::vector<std::int32_t> host_ids, host_positions, host_segments, host_offsets{0};
  for (auto const length : lengths) {
    for (std::int32_t i = 0; i < length; ++i) {
      host_ids.push_back(static_cast<std::int32_t>((7 * host_ids.size() + static_cast<std::size_t>(i * i)) % (V - 1)));
      host_positions.push_back(i);
      host_segments.push_back(i > length / 2);
    }
    host_offsets.push_back(static_cast<std::int32_t>(host_ids.size()));
  }
  auto const T = static_cast<Index>(host_ids.size());
  REQUIRE(T > row_block);
  std::map<std::int32_t, std::vector<std::int32_t>> rows_of;
  for (Index t = 0; t < T; ++t) rows_of[host_ids[static_cast<std::size_t>(t)]].push_back(static_cast<std::int32_t>(t));
  std::vector<std::int32_t> used, starts{0}, order;
  for (auto const& [id, rows] : rows_of) {
    used.push_back(id);
    order.insert(order.end(), rows.begin(), rows.end());
    starts.push_back(static_cast<std::int32_t>(order.size()));
  }
  auto const ids = to_space<Space>(host_ids), at = to_space<Space>(host_positions), of = to_space<Space>(host_segments),
             offsets = to_space<Space>(host_offsets), entry_ids = to_space<Space>(used),
             entry_starts = to_space<Space>(starts), entry_order = to_space<Space>(order);
  TokenIndex const tokens{std::ssize(used), entry_ids.data(), entry_starts.data(), entry_order.data()};

  auto const word = random_numbers<Space>(V * C, 1), position = random_numbers<Space>(positions * C, 2),
             segment = random_numbers<Space>(segments * C, 3), w = random_numbers<Space>(T * C, 4);
  auto const sum = zeros<Space>(T * C), dword = zeros<Space>(V * C), dposition = zeros<Space>(positions * C),
             dsegment = zeros<Space>(segments * C), partial = zeros<Space>(row_blocks(T) * segments * C);
  embedding_backward(exec,
                     EmbeddingBackward<double>{.T = T,
                                               .C = C,
                                               .tokens = tokens,
                                               .sequences = std::ssize(lengths),
                                               .longest = longest,
                                               .sequence_offsets = offsets.data(),
                                               .segments = of.data(),
                                               .segment_rows = segments,
                                               .dsum = w.data(),
                                               .dword = dword.data(),
                                               .dposition = dposition.data(),
                                               .dsegment = dsegment.data()},
                     partial.data());
  auto const value = [&] {
    embedding_forward(exec, EmbeddingForward<double, double>{.T = T,
                                                             .C = C,
                                                             .ids = ids.data(),
                                                             .positions = at.data(),
                                                             .segments = of.data(),
                                                             .word = word.data(),
                                                             .position = position.data(),
                                                             .segment = segment.data(),
                                                             .sum = sum.data()});
    return dot(w, sum);
  };
  check_gradient("word", word, dword, value);
  check_gradient("position", position, dposition, value);
  check_gradient("segment", segment, dsegment, value);
}
