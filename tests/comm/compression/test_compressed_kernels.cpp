// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_kernels.hpp"
#include "core/random/random.hpp"
#include "tests/support/compressed_reference.hpp"
#include "tests/support/spaces.hpp"
#include "tests/support/vectors.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace bellwether;
using bellwether::comm::CompressedLayout;
using bellwether::comm::Scale;

namespace {

using test::downloaded;
using test::uploaded;

float value_of(std::uint64_t seed, Index k) {
  RandomStream stream(seed, Purpose::sketch, static_cast<std::uint64_t>(k));
  return static_cast<float>((stream.real() - 0.5) * std::exp2(-10 * stream.real()));
}

/// A worker or server with all its kernels in one space.
template <class Space>
struct Bench {
  Bench(Index elements, std::vector<comm::WordBlock> const& cut, std::vector<comm::ScaleRange> const& of_scales,
        std::vector<bool> const& alive)
      : count(elements),
        blocks(uploaded<Space>(cut)),
        ranges(uploaded<Space>(of_scales)),
        active(uploaded<Space>(test::packed(alive))),
        z("bellwether::test::z", static_cast<std::size_t>(elements)),
        partial("bellwether::test::partial", comm::sums_of_words * cut.size()),
        scales("bellwether::test::scales", of_scales.size()),
        errors("bellwether::test::errors", of_scales.size()) {}
  comm::BlockSlice slice() const { return {blocks.data(), static_cast<Index>(blocks.size())}; }
  comm::ResidualBuffers buffers() const { return {count, z.data(), active.data(), scales.data(), partial.data()}; }
  void find_scales(Space const& exec, Scale rule) const {
    comm::scales_from_sums(exec,
                           {.count = static_cast<Index>(ranges.size()),
                            .ranges = ranges.data(),
                            .scales = scales.data(),
                            .errors = errors.data()},
                           comm::ResidualBuffers{.partial = partial.data()}, rule);
  }
  Index count;
  Vec<comm::WordBlock, Space> blocks;
  Vec<comm::ScaleRange, Space> ranges;
  Vec<std::uint32_t, Space> active;
  Vec<float, Space> z;
  Vec<double, Space> partial;
  Vec<float, Space> scales;
  Vec<double, Space> errors;
};

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k)
    same = std::bit_cast<std::uint32_t>(a[k]) == std::bit_cast<std::uint32_t>(b[k]);
  return same;
}

}  // namespace

TEST_CASE("signs and magnitudes of single elements") {
  CHECK(comm::lane_bit(0) == 0x80000000u);
  CHECK(comm::lane_bit(31) == 1u);
  CHECK(comm::positive(-0.0f));
  CHECK_FALSE(comm::positive(-1e-45f));
  CHECK(comm::with_sign(2.5f, 0x40000000u, 1) == 2.5f);
  CHECK(comm::with_sign(2.5f, 0x40000000u, 0) == -2.5f);
  CHECK(comm::masked(-3.0f, 1u, 31) == -3.0f);
  CHECK(comm::masked(std::nanf(""), 1u, 30) == 0.0f);
  CHECK(comm::residual(-1.0f, 0.75f) == -0.25f);
  CHECK(comm::residual(-0.0f, 0.75f) == -0.75f);
}

TEMPLATE_LIST_TEST_CASE("the worker kernels equal the reference in every space", "", test::Spaces) {
  using Space = TestType;
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const count = GENERATE(Index{1}, Index{32}, Index{95}, Index{4097}, Index{30011});
  auto const groups = GENERATE(1, 3, 40);
  CAPTURE(int(scale), count, groups);
  CompressedLayout const layout(count, 0, 1, groups, 1 << 30);
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(k % 11 != 5);
  test::ReferenceCompression<float> reference(static_cast<std::size_t>(count), 1, scale,
                                              static_cast<std::size_t>(groups));
  reference.set_active(active);
  Space const exec;
  Bench<Space> const worker(count, layout.worker_blocks, layout.worker_ranges, active);
  auto const slots = uploaded<Space>(layout.worker_slots);
  Vec<std::uint32_t, Space> const message("bellwether::test::message",
                                          static_cast<std::size_t>(layout.message_words()));
  Vec<std::uint32_t, Space> const own("bellwether::test::own", static_cast<std::size_t>(layout.words));
  for (std::uint64_t call = 0; call < 3; ++call) {
    std::vector<float> values;
    for (Index k = 0; k < count; ++k) values.push_back(value_of(call, k));
    auto const given = uploaded<Space>(values);
    comm::form_words(
        exec, worker.slice(), worker.buffers(), message.data(), own.data(),
        KOKKOS_LAMBDA(Index k) { return given(k); });
    worker.find_scales(exec, scale);
    comm::place_scales(exec, static_cast<Index>(slots.size()), slots.data(), worker.scales.data(), message.data());
    exec.fence("bellwether::test::formed");
    reference.mean({values});
    auto const words = test::packed(reference.worker_signs[0]);
    CHECK(downloaded(own) == words);
    auto const sent = downloaded(message);
    CHECK(std::equal(words.begin(), words.end(), sent.begin()));
    auto const& scales = reference.worker_scales[0];
    for (std::size_t slot = 0; slot < scales.size(); ++slot)
      CHECK(std::bit_cast<float>(sent[words.size() + slot]) == scales[slot]);
  }
  comm::keep_residual(exec, worker.slice(), worker.buffers());
  exec.fence("bellwether::test::kept");
  CHECK(same_bits(downloaded(worker.z), reference.worker_error[0]));
}

TEMPLATE_LIST_TEST_CASE("the server kernels equal the reference in every space", "", test::Spaces) {
  using Space = TestType;
  auto const ranks = GENERATE(1, 2, 3, 4, 5, 8, 11);
  auto const count = GENERATE(Index{40}, Index{9000});
  CAPTURE(ranks, count);
  // The whole vector is one chunk, owned by rank 0 and sent by `ranks` workers.
  CompressedLayout const layout(count, 0, 1, 2, 1 << 30);
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(k % 13 != 2);
  Space const exec;
  Bench<Space> const server(count, layout.server_blocks, layout.server_ranges, active);
  Index const stride = layout.message_words();
  Vec<std::uint32_t, Space> const signs("bellwether::test::signs", static_cast<std::size_t>(layout.words));
  std::vector<float> expected(static_cast<std::size_t>(count));
  for (std::uint64_t call = 0; call < 3; ++call) {
    std::vector<std::uint32_t> messages;
    std::vector<std::vector<float>> sent(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      for (Index w = 0; w < layout.words; ++w)
        messages.push_back(philox(static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(rank), 0, 0, 1,
                                  static_cast<std::uint32_t>(call))
                               .x[0]);
      auto const first = messages.size() - static_cast<std::size_t>(layout.words);
      for (int slot = 0; slot < 2; ++slot)
        messages.push_back(std::bit_cast<std::uint32_t>(0.3f + 0.17f * static_cast<float>(rank + slot)));
      for (Index k = 0; k < count; ++k) {
        float const magnitude = std::bit_cast<float>(
            messages[first + static_cast<std::size_t>(layout.words + k / 32 / layout.group_words)]);
        bool const plus = messages[first + static_cast<std::size_t>(k / 32)] >> (31 - k % 32) & 1;
        sent[static_cast<std::size_t>(rank)].push_back(plus ? magnitude : -magnitude);
      }
    }
    auto const received = uploaded<Space>(messages);
    auto const kept = downloaded(server.scales);
    comm::serve_words(exec, server.slice(), server.buffers(), {received.data(), stride, stride, ranks}, signs.data());
    exec.fence("bellwether::test::served");
    std::vector<bool> positive(active.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      float sum = sent[0][k];
      for (std::size_t rank = 1; rank < sent.size(); ++rank) sum += sent[rank][k];
      float const old = expected[k];
      float const before = kept[k / 32 / static_cast<std::size_t>(layout.group_words)];
      float const y = sum / static_cast<float>(ranks) + (old >= 0 ? old - before : old + before);
      expected[k] = active[k] ? y : 0;
      positive[k] = active[k] && y >= 0;
    }
    CHECK(same_bits(downloaded(server.z), expected));
    CHECK(downloaded(signs) == test::packed(positive));
    server.find_scales(exec, Scale::rms);
    exec.fence("bellwether::test::scales");
  }
}

TEMPLATE_LIST_TEST_CASE("mask bits beyond the end of the vector are cleared", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  Vec<std::uint32_t, Space> const words("bellwether::test::words", 2);
  comm::copy_active(exec, 33, static_cast<std::uint32_t const*>(nullptr), words.data());
  exec.fence("bellwether::test::copied");
  CHECK(downloaded(words) == std::vector<std::uint32_t>{0xFFFFFFFFu, 0x80000000u});
  auto const given = uploaded<Space>(std::vector<std::uint32_t>{0x0F0F0F0Fu, 0xFFFFFFFFu});
  comm::copy_active(exec, 64, static_cast<std::uint32_t const*>(given.data()), words.data());
  exec.fence("bellwether::test::copied");
  CHECK(downloaded(words) == downloaded(given));
}

TEMPLATE_LIST_TEST_CASE("messages are packed and unpacked in every space", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  // Two messages: a scale and two words, then a scale and one word.
  auto const messages = uploaded<Space>(std::vector<std::uint32_t>{bits(1.5f), 7, 9, bits(2.5f), 11});
  auto const blocks = uploaded<Space>(std::vector<comm::WordBlock>{
      {.word = 0, .place = 1, .scale_place = 0, .words = 2}, {.word = 2, .place = 4, .scale_place = 3, .words = 1}});
  Vec<std::uint32_t, Space> const signs("bellwether::test::signs", 3), message("bellwether::test::message", 5);
  Vec<float, Space> const magnitudes("bellwether::test::magnitudes", 3);
  comm::unpack_words(exec, {blocks.data(), 2}, messages.data(), signs.data(), magnitudes.data());
  exec.fence("bellwether::test::unpacked");
  CHECK(downloaded(signs) == std::vector<std::uint32_t>{7, 9, 11});
  CHECK(downloaded(magnitudes) == std::vector<float>{1.5f, 1.5f, 2.5f});
  auto const active = uploaded<Space>(std::vector<std::uint32_t>(3, 0xFFFFFFFFu));
  auto const parts = uploaded<Space>(std::vector<Index>{0, 2});
  comm::pack_slice(exec, 3, 2, parts.data(), comm::Decoded(signs.data(), active.data(), magnitudes.data(), nullptr),
                   message.data());
  auto const scales = uploaded<Space>(std::vector<float>{0.25f, 4.0f});
  auto const slots = uploaded<Space>(std::vector<comm::ScaleSlot>{{.place = 0, .scale = 1}, {.place = 3, .scale = -1}});
  comm::place_scales(exec, 2, slots.data(), scales.data(), messages.data());
  exec.fence("bellwether::test::packed");
  CHECK(downloaded(message) == std::vector<std::uint32_t>{7, 9, 11, bits(1.5f), bits(2.5f)});
  CHECK(downloaded(messages) == std::vector<std::uint32_t>{bits(4.0f), 7, 9, 0, 11});
}

TEMPLATE_LIST_TEST_CASE("residuals are added and used once in every space", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  auto const from = uploaded<Space>(std::vector<float>{1, 2, 3}), z = uploaded<Space>(std::vector<float>{4, 5, -6});
  Vec<std::int32_t, Space> const spent("bellwether::test::spent", 1);
  auto const active = uploaded<Space>(std::vector<std::uint32_t>{0xA0000000u});  // masks the middle element
  Vec<std::uint32_t, Space> const signs("bellwether::test::signs", 1);
  comm::add_values(exec, 3, from.data(), z.data());
  comm::clear_spent(exec, 3, z.data(), spent.data());  // not spent: no effect
  comm::sign_words(exec, 3, z.data(), active.data(), signs.data());
  exec.fence("bellwether::test::added");
  CHECK(downloaded(z) == std::vector<float>{5, 7, -3});
  CHECK(downloaded(signs) == std::vector<std::uint32_t>{0x80000000u});
  comm::mark_spent(exec, {.count = 3, .z = z.data()}, spent.data());
  exec.fence("bellwether::test::marked");
  CHECK(downloaded(spent) == std::vector<std::int32_t>{1});
  comm::clear_spent(exec, 3, z.data(), spent.data());
  exec.fence("bellwether::test::cleared");
  CHECK(downloaded(z) == std::vector<float>{0, 0, 0});
  CHECK(downloaded(spent) == std::vector<std::int32_t>{0});
}

TEMPLATE_LIST_TEST_CASE("lanes assemble words from their bits in every space", "", test::Spaces) {
  using Space = TestType;
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Space const exec;
  // More groups of words than a team has threads, and more than one team.
  constexpr Index blocks = 3, groups = 11, together = comm::LaneShare::words;
  std::vector<std::uint32_t> given;
  for (Index w = 0; w < blocks * groups * together; ++w)
    given.push_back(philox(static_cast<std::uint32_t>(w), 0, 0, 0, 3, 4).x[0]);
  given[0] = 0;
  given[1] = ~0u;
  given[2] = 1;
  auto const wanted = uploaded<Space>(given);
  Vec<std::uint32_t, Space> const formed("bellwether::test::formed", given.size());
  Vec<std::int32_t, Space> const asked("bellwether::test::asked", 32 * blocks * groups);
  Vec<std::int32_t, Space> const written("bellwether::test::written", given.size());
  Kokkos::parallel_for(
      "bellwether::test::words", lanes_policy(exec, blocks), KOKKOS_LAMBDA(Team const& team) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(groups)), [&](int const t) {
          Index const group = team.league_rank() * groups + t;
          comm::write_words<Space>(
              team,
              [&](int const lane, int) {
                asked(32 * group + lane) += 1;
                comm::LaneShare const share(lane);
                return share.bits_of(wanted(group * together + share.word));
              },
              [&](int const w, std::uint32_t const word) {
                formed(group * together + w) = word;
                Kokkos::atomic_inc(&written(group * together + w));
              });
        });
      });
  exec.fence("bellwether::test::formed");
  CHECK(downloaded(formed) == given);
  CHECK(downloaded(asked) == std::vector<std::int32_t>(32 * blocks * groups, 1));
  CHECK(downloaded(written) == std::vector<std::int32_t>(given.size(), 1));
}

TEMPLATE_LIST_TEST_CASE("the signs of a vector are right up to its last word in every space", "", test::Spaces) {
  using Space = TestType;
  Space const exec;
  // Less than a word, whole words, more words than a team processes, and a partial word at the end.
  auto const count = GENERATE(Index{5}, Index{64}, Index{32 * 256}, Index{32 * 700 + 17});
  CAPTURE(count);
  std::vector<float> values;
  std::vector<bool> alive, positive;
  for (Index k = 0; k < count; ++k) {
    values.push_back(k % 7 == 3 ? (k % 2 == 0 ? 0.0f : -0.0f) : k % 11 == 2 ? std::nanf("") : value_of(9, k));
    alive.push_back(k % 5 != 1);
    positive.push_back(alive.back() && values.back() >= 0);
  }
  auto const given = uploaded<Space>(values);
  auto const active = uploaded<Space>(test::packed(alive));
  Vec<std::uint32_t, Space> const signs("bellwether::test::signs", active.extent(0));
  comm::sign_words(exec, count, static_cast<float const*>(given.data()),
                   static_cast<std::uint32_t const*>(active.data()), signs.data());
  exec.fence("bellwether::test::signed");
  CHECK(downloaded(signs) == test::packed(positive));
}
