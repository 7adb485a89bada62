// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/watchdog.hpp"

#include "core/system/signal_free_thread.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

namespace bellwether::comm {
namespace {

constexpr int question_tag = 1, answer_tag = 2;
constexpr std::chrono::milliseconds idle(200), attentive(20);  // polling intervals

/// Position of a rank, as sent in an answer.
struct Place {
  std::int64_t step = 0;
  std::int64_t collectives = 0;  ///< collectives of all ranks begun so far
  bool waits = false;            ///< in a collective, for other ranks
  char operation[112] = {};
};

/// Knowledge about another rank.
struct Peer {
  Place answer;
  MPI_Request question = MPI_REQUEST_NULL, reply = MPI_REQUEST_NULL;
  bool asked = false, answered = false;
};

/// An answer in transit; MPI reads it until the request is complete.
struct Outgoing {
  Place place;
  MPI_Request request = MPI_REQUEST_NULL;
};

bool complete(MPI_Request& request) {
  int done = 0;
  return MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
}

}  // namespace

struct Watchdog::Impl {
  explicit Impl(std::vector<std::string> names) : hosts(std::move(names)), peers(hosts.size()) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (hosts.size() < 2 || provided < MPI_THREAD_MULTIPLE) return;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return;
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(all, &rank);
    thread = signal_free_thread("answer other ranks", [this] { watch(); });
  }
  ~Impl() {
    if (!thread.joinable()) return;
    {
      std::lock_guard const lock(mutex);
      leaving = true;
    }
    wake.notify_all();
    thread.join();
    // Free the communicator only if no message is in transit. Otherwise the job is about to end, and freeing would
    // wait for other ranks.
    bool owed = !outgoing.empty();
    for (auto const& peer : peers) owed |= peer.question != MPI_REQUEST_NULL || peer.reply != MPI_REQUEST_NULL;
    if (!owed && std::uncaught_exceptions() == 0) MPI_Comm_free(&all);
  }

  void watch() {
    std::unique_lock lock(mutex);
    while (!leaving) {
      if (wants_answers) ask_all();
      answer_all();
      bool expects = false;
      for (auto& peer : peers) {
        if (peer.question != MPI_REQUEST_NULL) complete(peer.question);
        if (peer.reply != MPI_REQUEST_NULL && complete(peer.reply)) peer.answered = true;
        expects |= peer.reply != MPI_REQUEST_NULL;
      }
      outgoing.remove_if([](Outgoing& one) { return complete(one.request); });
      wake.wait_for(lock, expects ? attentive : idle);
    }
  }

  /// Asks every rank that does not already owe an answer: a late answer to an earlier question serves as well.
  void ask_all() {
    wants_answers = false;
    for (int to = 0; to < static_cast<int>(peers.size()); ++to) {
      auto& peer = peers[static_cast<std::size_t>(to)];
      if (to == rank || peer.reply != MPI_REQUEST_NULL || peer.question != MPI_REQUEST_NULL) continue;
      peer.asked = true;
      peer.answered = false;
      MPI_Irecv(&peer.answer, sizeof(Place), MPI_BYTE, to, answer_tag, all, &peer.reply);
      MPI_Isend(nullptr, 0, MPI_BYTE, to, question_tag, all, &peer.question);
    }
  }

  void answer_all() {
    for (int asked = 1; asked != 0;) {
      MPI_Status status;
      if (MPI_Iprobe(MPI_ANY_SOURCE, question_tag, all, &asked, &status) != MPI_SUCCESS || asked == 0) return;
      MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, question_tag, all, MPI_STATUS_IGNORE);
      auto& answer = outgoing.emplace_back();
      answer.place = place();
      MPI_Isend(&answer.place, sizeof(Place), MPI_BYTE, status.MPI_SOURCE, answer_tag, all, &answer.request);
    }
  }

  Place place() const {
    Place mine{.step = step, .collectives = collectives, .waits = waits, .operation = {}};
    auto const text = std::string(name.load()) + " " + label.load();
    text.copy(mine.operation, sizeof mine.operation - 1);
    return mine;
  }

  std::vector<std::string> hosts;
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  std::atomic<std::int64_t> step{0}, collectives{0};
  std::atomic<bool> waits{false};
  std::atomic<char const*> name{"start-up,"}, label{"before the first collective"};

  mutable std::mutex mutex;  // guards the members below
  std::condition_variable wake;
  bool leaving = false, wants_answers = false;
  std::vector<Peer> peers;  // (P)
  std::list<Outgoing> outgoing;
  std::thread thread;
};

Watchdog::Watchdog(std::vector<std::string> hosts) : impl_(std::make_unique<Impl>(std::move(hosts))) {}
Watchdog::~Watchdog() = default;

void Watchdog::note_step(std::int64_t step) { impl_->step = step; }

void Watchdog::begin(char const* name, Label label, int size) {
  impl_->name = name;
  impl_->label = label;
  // Counts collectives of all ranks only: in smaller groups, ranks may call different numbers of them.
  if (size == static_cast<int>(impl_->peers.size())) ++impl_->collectives;
}

void Watchdog::note_waiting(bool now) { impl_->waits = now; }

void Watchdog::ask() {
  {
    std::lock_guard const lock(impl_->mutex);
    impl_->wants_answers = true;
  }
  impl_->wake.notify_all();
}

std::string Watchdog::report() const {
  constexpr std::size_t most_named = 8;
  std::lock_guard const lock(impl_->mutex);
  auto const mine = impl_->place();
  // Ranks that wait are held up by others; name them only if there are no others.
  std::vector<std::string> found, waiting;
  for (std::size_t rank = 0; rank < impl_->peers.size(); ++rank) {
    auto const& peer = impl_->peers[rank];
    if (!peer.asked) continue;
    auto const who = "rank " + std::to_string(rank) + " on " + impl_->hosts[rank];
    bool const behind = peer.answer.collectives < mine.collectives;
    if (!peer.answered)
      found.push_back(who + " does not answer");
    else if (behind || std::strcmp(peer.answer.operation, mine.operation) != 0)
      (peer.answer.waits ? waiting : found)
          .push_back(who + (behind ? " is behind" : " is elsewhere") + ", in step " + std::to_string(peer.answer.step) +
                     " after " + peer.answer.operation);
  }
  if (found.empty()) found.swap(waiting);
  std::string text = "in step " + std::to_string(mine.step);
  for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i) text += "; " + found[i];
  if (found.size() > most_named) text += "; " + std::to_string(found.size() - most_named) + " more ranks likewise";
  if (found.empty() && impl_->thread.joinable()) text += "; all other ranks answer and have started this collective";
  return text;
}

}  // namespace bellwether::comm
