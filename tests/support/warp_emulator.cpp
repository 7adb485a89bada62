// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/warp_emulator.hpp"

#include "core/random/random.hpp"

#include <ucontext.h>

#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bellwether::test {
namespace {

constexpr int lanes = 32;
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

using Words = std::array<std::uint32_t, 10>;  // input or result of one lane in an operation
enum class Operation { none, barrier, read, read_transposed, multiply, across, of_lane };

struct Fetch {
  std::uint32_t to;
  Piece piece;
};

/// Threads that meet: a warp or a team.
struct Group {
  std::vector<int> members;
  Operation operation = Operation::none;
  int arrived = 0;
  std::vector<Words> brought, taken;
};

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool runs = true, ended = false;
  std::vector<Fetch> fetches;
};

/// The running team.
struct Machine {
  ucontext_t scheduler;
  std::vector<Thread> threads;
  std::vector<Group> warps;
  Group team;
  std::vector<std::byte> shared;
  std::size_t given = 0;  // the part given to the kernel
  int current = 0;
  std::function<void()> body;
  std::exception_ptr failure;
};

Machine* machine = nullptr;

void start() {
  try {
    machine->body();
  } catch (...) {
    if (machine->failure == nullptr) machine->failure = std::current_exception();
  }
  auto& self = machine->threads[static_cast<std::size_t>(machine->current)];
  self.ended = true;
  self.runs = false;
  swapcontext(&self.context, &machine->scheduler);
}

void wait() {
  auto& self = machine->threads[static_cast<std::size_t>(machine->current)];
  self.runs = false;
  swapcontext(&self.context, &machine->scheduler);
  if (machine->failure != nullptr) throw std::runtime_error("another thread has failed");
}

std::byte* at(std::uint32_t address, std::size_t bytes) {
  if (address + bytes > machine->shared.size() || address % bytes != 0)
    throw std::runtime_error("shared memory: an access of " + std::to_string(bytes) + " bytes at " +
                             std::to_string(address));
  return machine->shared.data() + address;
}

float number_of(std::uint32_t word) {
  float number = 0;
  std::memcpy(&number, &word, sizeof number);
  return number;
}
std::uint32_t word_of(float number) {
  std::uint32_t word = 0;
  std::memcpy(&word, &number, sizeof word);
  return word;
}
float half_of(std::uint32_t pair, int which) {
  return which == 0 ? device_math::low_of(pair) : device_math::high_of(pair);
}

void read_matrices(Group& group, bool transposed) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t elements[8][8];
    for (std::size_t row = 0; row < 8; ++row)
      std::memcpy(elements[row], at(group.brought[static_cast<std::size_t>(8 * matrix) + row][0], 16), 16);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::size_t const row = lane / 4, column = 2 * (lane % 4);
      std::uint32_t const first = transposed ? elements[column][row] : elements[row][column];
      std::uint32_t const second = transposed ? elements[column + 1][row] : elements[row][column + 1];
      group.taken[lane][static_cast<std::size_t>(matrix)] = first | second << 16;
    }
  }
}

/// Multiplies the matrices of a warp. Each lane brings words a[0..3], b[0..1], sum[0..3].
void multiply_matrices(Group& group) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < lanes; ++lane) {
    auto const& words = group.brought[static_cast<std::size_t>(lane)];
    for (int part = 0; part < 4; ++part)
      for (int which = 0; which < 2; ++which)
        a[lane / 4 + part % 2 * 8][2 * (lane % 4) + part / 2 * 8 + which] =
            half_of(words[static_cast<std::size_t>(part)], which);
    for (int part = 0; part < 2; ++part)
      for (int which = 0; which < 2; ++which)
        b[2 * (lane % 4) + part * 8 + which][lane / 4] = half_of(words[static_cast<std::size_t>(4 + part)], which);
  }
  for (int lane = 0; lane < lanes; ++lane)
    for (int e = 0; e < 4; ++e) {
      float sum = number_of(group.brought[static_cast<std::size_t>(lane)][static_cast<std::size_t>(6 + e)]);
      for (int k = 0; k < 16; ++k) sum += a[lane / 4 + e / 2 * 8][k] * b[k][2 * (lane % 4) + e % 2];
      group.taken[static_cast<std::size_t>(lane)][static_cast<std::size_t>(e)] = word_of(sum);
    }
}

void perform(Group& group) {
  switch (group.operation) {
    case Operation::none:
    case Operation::barrier:
      return;
    case Operation::read:
      return read_matrices(group, false);
    case Operation::read_transposed:
      return read_matrices(group, true);
    case Operation::multiply:
      return multiply_matrices(group);
    case Operation::across:
      for (std::size_t lane = 0; lane < lanes; ++lane)
        group.taken[lane][0] = group.brought[lane ^ group.brought[lane][1]][0];
      return;
    case Operation::of_lane:
      for (std::size_t lane = 0; lane < lanes; ++lane)
        group.taken[lane][0] = group.brought[group.brought[lane][1] % lanes][0];
  }
}

/// Waits for all threads of the group. The last one to arrive performs the operation.
Words meet(Group& group, int member, Operation operation, Words const& brought) {
  if (group.arrived == 0) group.operation = operation;
  if (group.operation != operation) throw std::runtime_error("lanes of a warp meet in different operations");
  group.brought[static_cast<std::size_t>(member)] = brought;
  if (++group.arrived == static_cast<int>(group.members.size())) {
    perform(group);
    group.arrived = 0;
    for (int const thread : group.members) machine->threads[static_cast<std::size_t>(thread)].runs = true;
  } else {
    wait();
  }
  return group.taken[static_cast<std::size_t>(member)];
}
Words meet_warp(Operation operation, Words const& brought) {
  return meet(machine->warps[static_cast<std::size_t>(machine->current / lanes)], machine->current % lanes, operation,
              brought);
}

Group group_of(int first, int count) {
  Group group;
  for (int thread = first; thread < first + count; ++thread) group.members.push_back(thread);
  group.brought.resize(static_cast<std::size_t>(count));
  group.taken.resize(static_cast<std::size_t>(count));
  return group;
}

void run_team(Machine& of, int threads, RandomStream& order) {
  of.threads = std::vector<Thread>(static_cast<std::size_t>(threads));
  of.warps.clear();
  for (int first = 0; first < threads; first += lanes) of.warps.push_back(group_of(first, lanes));
  of.team = group_of(0, threads);
  for (auto& thread : of.threads) {
    thread.stack = std::make_unique<char[]>(stack_bytes);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = stack_bytes;
    thread.context.uc_link = &of.scheduler;
    makecontext(&thread.context, start, 0);
  }
  std::vector<int> ready;
  for (;;) {
    ready.clear();
    bool ended = true;
    for (int thread = 0; thread < threads; ++thread) {
      auto const& state = of.threads[static_cast<std::size_t>(thread)];
      ended = ended && state.ended;
      if (state.runs) ready.push_back(thread);
    }
    if (ended) break;
    if (ready.empty()) {
      // Wake the waiting threads, which throw and so free what they hold.
      if (of.failure == nullptr)
        of.failure = std::make_exception_ptr(std::runtime_error("threads wait for threads that have ended"));
      for (auto& state : of.threads) state.runs = !state.ended;
      continue;
    }
    // Runs one thread as far as it gets. Concurrent work of other threads happens entirely before or after it.
    of.current = ready[order.below(static_cast<std::uint32_t>(ready.size()))];
    swapcontext(&of.scheduler, &of.threads[static_cast<std::size_t>(of.current)].context);
  }
}

}  // namespace

void EmulatedTeam::team_barrier() const { meet(machine->team, machine->current, Operation::barrier, {}); }

void* EmulatedTeam::get_shmem_aligned(std::size_t bytes, std::ptrdiff_t alignment) const {
  auto const begin = reinterpret_cast<std::uintptr_t>(machine->shared.data());
  std::size_t const skip = static_cast<std::size_t>(alignment) - begin % static_cast<std::size_t>(alignment);
  if (skip + bytes > machine->given) throw std::runtime_error("a team has too little shared memory");
  return machine->shared.data() + skip;
}

int EmulatedWarp::lane() { return machine->current % lanes; }
std::uint32_t EmulatedWarp::address_of(void const* shared) {
  return static_cast<std::uint32_t>(static_cast<std::byte const*>(shared) - machine->shared.data());
}
void EmulatedWarp::read(std::uint32_t (&to)[4], std::uint32_t row) {
  std::memcpy(to, meet_warp(Operation::read, {row}).data(), sizeof to);
}
void EmulatedWarp::read_transposed(std::uint32_t (&to)[4], std::uint32_t row) {
  std::memcpy(to, meet_warp(Operation::read_transposed, {row}).data(), sizeof to);
}
void EmulatedWarp::multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  Words words{a[0], a[1], a[2], a[3], b0, b1};
  std::memcpy(words.data() + 6, sum, sizeof sum);
  std::memcpy(sum, meet_warp(Operation::multiply, words).data(), sizeof sum);
}
void EmulatedWarp::write(std::uint32_t to, std::uint32_t word) { std::memcpy(at(to, sizeof word), &word, sizeof word); }
Piece EmulatedWarp::read_piece(std::uint32_t from) {
  Piece piece;
  std::memcpy(piece.words, at(from, sizeof piece), sizeof piece);
  return piece;
}
void EmulatedWarp::fetch(std::uint32_t to, bf16 const* from, bool there) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Piece) != 0)
    throw std::runtime_error("an asynchronous copy must begin at a whole piece");
  Piece piece{};
  if (there) std::memcpy(piece.words, from, sizeof piece);
  machine->threads[static_cast<std::size_t>(machine->current)].fetches.push_back({to, piece});
}
void EmulatedWarp::await_fetched() {
  auto& fetches = machine->threads[static_cast<std::size_t>(machine->current)].fetches;
  for (auto const& fetch : fetches)
    std::memcpy(at(fetch.to, sizeof fetch.piece), fetch.piece.words, sizeof fetch.piece);
  fetches.clear();
}
float EmulatedWarp::across(float value, int apart) {
  return number_of(meet_warp(Operation::across, {word_of(value), static_cast<std::uint32_t>(apart)})[0]);
}
float EmulatedWarp::of_lane(float value, int lane) {
  return number_of(meet_warp(Operation::of_lane, {word_of(value), static_cast<std::uint32_t>(lane)})[0]);
}

void run_teams(int teams, int threads, std::size_t shared_bytes, std::uint64_t seed,
               std::function<void(EmulatedTeam const&)> const& body) {
  RandomStream order(seed, Purpose::order, 0);
  for (int team = 0; team < teams; ++team) {
    Machine of;
    of.given = shared_bytes;
    of.shared.assign(shared_bytes, std::byte{0xff});
    of.body = [&] { body(EmulatedTeam(team, machine->current)); };
    machine = &of;
    run_team(of, threads, order);
    machine = nullptr;
    if (of.failure != nullptr) std::rethrow_exception(of.failure);
  }
}

}  // namespace bellwether::test
