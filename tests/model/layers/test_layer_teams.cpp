// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Compares rows shared by teams or lanes, as on devices, on every enabled space, with rows handled by one thread, as on
// hosts.
#include "model/layers/activation_body.hpp"
#include "model/layers/column_strips.hpp"
#include "model/layers/cross_entropy_body.hpp"
#include "model/layers/embedding_body.hpp"
#include "model/layers/rows_body.hpp"
#include "tests/model/layers/layer_forms.hpp"
#include "tests/model/layers/row_origins.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::model;
using namespace bellwether::model::test_forms;
using test::Origins;
using test::random_numbers;
using test::to_host;
using test::to_space;
using test::zeros;

namespace {

template <class Form, class Real, class Stored, class Gelu>
Numbers gelu() {
  using Space = typename Form::Space;
  constexpr Index F = 70;
  auto const pre = random_numbers<Space, Stored>(rows * F, 1, 3.0), dy = random_numbers<Space, Stored>(rows * F, 3),
             y = zeros<Space, Stored>(rows * F), dpre = zeros<Space, Stored>(rows * F);
  auto const bias = random_numbers<Space, Real>(F, 2), partial = random_numbers<Space, Real>(row_blocks(rows) * F, 4),
             given = random_numbers<Space, Real>(rows * F, 5);
  Form::run(rows, BiasGeluRow<Gelu, Real, Stored>{F, bias.data(), pre.data(), y.data()});
  // Out of place, as in the heads, and in place, as in the blocks.
  Form::run(row_blocks(rows), BiasGeluBlockBackward<Gelu, Real, Stored, Real>{rows, F, pre.data(), given.data(),
                                                                              dpre.data(), partial.data()});
  auto const first = together(partial);
  Form::run(row_blocks(rows), BiasGeluBlockBackward<Gelu, Real, Stored, Stored>{rows, F, pre.data(), dy.data(),
                                                                                dy.data(), partial.data()});
  auto all = together(pre, y, dpre, dy, partial);
  all.insert(all.end(), first.begin(), first.end());
  return all;
}

/// Compares backward of GELU and column sums, by strips of `own` and by one thread. Columns end inside a team's strip.
template <class Space, class Stored, class Given, class Gelu>
void compare_strips() {
  constexpr int own = std::min(widest_pack<Stored>, widest_pack<Given>);
  constexpr Index F = 136 * own;
  auto const of = [&]<class Where>(Where const&, auto const& run) {
    auto const stored = random_numbers<Where, Stored>(rows * F, 1, 3.0), out = zeros<Where, Stored>(rows * F);
    auto const given = random_numbers<Where, Given>(rows * F, 3);
    auto const partial = random_numbers<Where, float>(row_blocks(rows) * F, 4);
    run(stored.data(), given.data(), out.data(), partial.data());
    return together(out, partial);
  };
  using Host = typename Threads::Space;
  auto const expected = of(Host(), [](Stored const* x, Given const* d, Stored* out, float* partial) {
    Threads::run(row_blocks(rows), BiasGeluBlockBackward<Gelu, float, Stored, Given>{rows, F, x, d, out, partial});
  });
  auto const strips = of(Space(), [](Stored const* x, Given const* d, Stored* out, float* partial) {
    sum_strips<own>("bellwether::test::strips", Space(), rows, F, partial,
                    StripOfGelu<Gelu, Stored, Given, own>{F, x, d, out});
  });
  compare(strips, expected, std::is_same_v<Stored, bf16> ? 0x1p-7 : 3e-6);

  constexpr int wide = widest_pack<Stored>;
  Index const columns = 16 * wide, gap = 3 * wide;  // the gap is inside F, which is the stride
  auto const sums = of(Space(), [&](Stored const* x, Given const*, Stored*, float* partial) {
    sum_strips<wide>("bellwether::test::strips", Space(), rows, columns, partial,
                     StripOfMatrix<Stored, wide>{F, x, columns / 2, gap});
  });
  auto const plain = of(Host(), [&](Stored const* x, Given const*, Stored*, float* partial) {
    Threads::run(row_blocks(rows), SumBlock<float, Stored>{rows, columns / 2, F, x, partial, 2, columns / 2 + gap});
  });
  compare(sums, plain, 3e-6);
}

template <class Form, class Real, class Stored>
Numbers hyperbolic_tangent() {
  using Space = typename Form::Space;
  constexpr Index C = 67;
  auto const y = random_numbers<Space, Stored>(rows * C, 1, 3.0);
  auto const bias = random_numbers<Space, Real>(C, 2);
  auto const dy = random_numbers<Space, Stored>(rows * C, 3);
  Form::run(rows, BiasTanhRow<Real, Stored>{C, bias.data(), y.data()});
  Form::run(rows, TanhRowBackward<Stored>{C, y.data(), dy.data()});
  return together(y, dy);
}

template <class Form, class Real, class Stored>
Numbers cross_entropy(Index classes) {
  using Space = typename Form::Space;
  Index const stride = classes + 3;
  std::vector<std::int32_t> of_row;
  for (Index r = 0; r < rows; ++r) of_row.push_back(static_cast<std::int32_t>(7 * r % classes));
  auto const labels = to_space<Space>(of_row);
  auto const logits = random_numbers<Space, Real>(rows * stride, 1, 20.0),
             bias = random_numbers<Space, Real>(classes, 2);
  auto const dlogits = zeros<Space, Stored>(rows * stride);
  auto const loss = zeros<Space>(rows), correct = zeros<Space>(rows);
  Form::run(rows, CrossEntropyRow<Real, Stored>{classes, stride, bias.data(), labels.data(), Real(0.25), logits.data(),
                                                dlogits.data(), loss.data(), correct.data()});
  return together(dlogits, loss, correct);
}

template <class Form>
Numbers embedding() {
  using Space = typename Form::Space;
  constexpr Index C = 70, sequences = 3, longest = 20, segment_rows = 2;
  // Three sequences of 20, 12 and 3 tokens that use entries 4 and 9 of the vocabulary alternately.
  std::vector<std::int32_t> const starts{0, 20, 32, rows};
  std::vector<std::int32_t> ids, positions, segments, even, order;
  for (std::int32_t t = 0; t < rows; ++t) {
    ids.push_back(t % 2 == 0 ? 4 : 9);
    positions.push_back(t < 20 ? t : t < 32 ? t - 20 : t - 32);
    segments.push_back(t % 3 == 0 ? 1 : 0);
  }
  for (std::int32_t const parity : {0, 1})
    for (std::int32_t t = parity; t < rows; t += 2) order.push_back(t);
  auto const on = [](std::vector<std::int32_t> const& values) { return to_space<Space>(values); };
  auto const id = on(ids), position = on(positions), segment = on(segments), start = on(starts), entry = on({4, 9}),
             first_use = on({0, (rows + 1) / 2, rows}), use = on(order);
  auto const word = random_numbers<Space>(10 * C, 1), place = random_numbers<Space>(longest * C, 2),
             kind = random_numbers<Space>(segment_rows * C, 3), sum = zeros<Space>(rows * C),
             dword = random_numbers<Space>(10 * C, 4), dplace = random_numbers<Space>(longest * C, 5),
             partial = random_numbers<Space>(row_blocks(rows) * segment_rows * C, 6);
  Form::run(rows, EmbedRow<double, double>{C, id.data(), position.data(), segment.data(), word.data(), place.data(),
                                           kind.data(), sum.data()});
  TokenIndex const tokens{2, entry.data(), first_use.data(), use.data()};
  Form::run(2, WordBackward<double>{C, tokens, sum.data(), dword.data()});
  Form::run(longest, PositionBackward<double>{C, sequences, start.data(), sum.data(), dplace.data()});
  Form::run(row_blocks(rows),
            SegmentBlockBackward<double>{rows, C, segment_rows, segment.data(), sum.data(), partial.data()});
  return together(sum, dword, dplace, partial);
}

template <class Form, class Real, class Stored>
Numbers plain_rows() {
  using Space = typename Form::Space;
  constexpr Index C = 70, count = 3;
  auto const index = to_space<Space>(std::vector<std::int32_t>{30, 2, 17});
  auto const x = random_numbers<Space, Stored>(rows * C, 1), some = zeros<Space, Stored>(count * C);
  auto const bias = random_numbers<Space, Real>(C, 2), few = random_numbers<Space, Real>(count * C, 4),
             all = random_numbers<Space, Real>(rows * C, 5),
             partial = random_numbers<Space, Real>(row_blocks(rows) * (C - 5), 3);
  Form::run(rows, AddBias<Real, Stored>{C, bias.data(), x.data()});
  Form::run(count, GatherRow<Stored>{C, index.data(), x.data(), some.data()});
  Form::run(count, AddRow<Real>{C, index.data(), few.data(), all.data()});
  Form::run(row_blocks(rows), SumBlock<Real, Stored>{rows, C - 5, C, x.data(), partial.data()});
  return together(x, some, all, partial);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("activations by teams agree with single threads", "", test::Spaces) {
  compare_forms<TestType>([]<class Form, class Real, class Stored>() { return gelu<Form, Real, Stored, GeluErf>(); });
  compare_forms<TestType>([]<class Form, class Real, class Stored>() { return gelu<Form, Real, Stored, GeluTanh>(); });
  compare_forms<TestType>(
      []<class Form, class Real, class Stored>() { return hyperbolic_tangent<Form, Real, Stored>(); });
}

TEMPLATE_LIST_TEST_CASE("column sums by strips agree with single threads", "", test::Spaces) {
  compare_strips<TestType, bf16, bf16, GeluErf>();
  compare_strips<TestType, bf16, float, GeluTanh>();
  compare_strips<TestType, float, float, GeluErf>();
}

TEMPLATE_LIST_TEST_CASE("GELU by packs agrees with single elements", "", test::Spaces) {
  using Space = TestType;
  constexpr int own = widest_pack<bf16>;
  constexpr Index F = 9 * own;
  using Host = typename Threads::Space;
  auto const x = random_numbers<Space, bf16>(rows * F, 1, 3.0), y = zeros<Space, bf16>(rows * F);
  auto const host_x = random_numbers<Host, bf16>(rows * F, 1, 3.0), host_y = zeros<Host, bf16>(rows * F);
  Kokkos::parallel_for("bellwether::test::packs",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(Space(), 0, rows * F / own),
                       GeluPack<GeluErf, bf16, own>{x.data(), y.data()});
  Threads::run(rows, GeluRow<GeluErf, float, bf16>{F, host_x.data(), host_y.data()});
  compare(together(y), together(host_y), 0x1p-7);
}

TEMPLATE_LIST_TEST_CASE("cross entropy by teams agrees with single threads", "", test::Spaces) {
  auto const classes = GENERATE(Index{2}, Index{131});
  compare_forms<TestType>(
      [&]<class Form, class Real, class Stored>() { return cross_entropy<Form, Real, Stored>(classes); });
}

TEMPLATE_LIST_TEST_CASE("embeddings by teams agree with single threads", "", test::Spaces) {
  compare(embedding<Teams<TestType>>(), embedding<Threads>(), 1e-13);
}

TEMPLATE_LIST_TEST_CASE("row operations by teams agree with single threads", "", test::Spaces) {
  compare_forms<TestType>([]<class Form, class Real, class Stored>() { return plain_rows<Form, Real, Stored>(); });
}

TEMPLATE_LIST_TEST_CASE("sums of blocks by teams agree with single threads", "", test::Spaces) {
  using Space = TestType;
  // More blocks than groups of workers, and columns that end inside a strip.
  constexpr Index blocks = 21, count = 45;
  auto const partial = test::random_values(blocks * 3 * count, 1), start = test::random_values(count, 2);
  auto const on_device = to_space<Space>(partial);
  auto const a = to_space<Space>(start), b = to_space<Space>(start), c = to_space<Space>(start);
  // Two sums in one launch; the first has one block and fewer columns than a strip.
  constexpr Index few = 5;
  auto const d = to_space<Space>(test::random_values(few, 3)), alone = to_space<Space>(test::random_values(few, 4));
  AddAllBlockSums<double> all;
  all.append({1, few, alone.data(), {few, {d.data()}}}, ColumnTeam<Space>::across);
  all.append({blocks, 3 * count, on_device.data(), {count, {a.data(), b.data(), c.data()}}}, ColumnTeam<Space>::across);
  add_block_sums_by_teams(Space(), all);
  Numbers expected;
  for (Index column = 0; column < 3 * count; ++column) {
    double sum = start[static_cast<std::size_t>(column % count)];
    for (Index block = 0; block < blocks; ++block) sum += partial[static_cast<std::size_t>(block * 3 * count + column)];
    expected.push_back(sum);
  }
  for (Index column = 0; column < few; ++column)
    expected.push_back(test::random_values(few, 3)[static_cast<std::size_t>(column)] +
                       test::random_values(few, 4)[static_cast<std::size_t>(column)]);
  compare(together(a, b, c, d), expected, 1e-13);
}
