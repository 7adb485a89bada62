// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/mpi_check.hpp"

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace bellwether::comm {

/// A collective in progress over MPI: its requests, argument arrays and staging memory. Reused by later collectives.
class MpiOperation final : public Request::State {
 public:
  char const* label() const override { return label_; }
  /// Starts a collective. staged: every buffer goes through host memory; finish() enqueues the copies back on `exec`.
  void begin(Exec const& exec, char const* operation, Label label, bool staged);
  bool busy() const { return busy_; }

  /// Returns the buffer to pass to MPI in place of `buffer`. If staged, this is host memory, which a
  /// copy on `exec` fills.
  enum class Access { read, write, read_write };
  Bytes transport_buffer(Bytes const& buffer, Access access);

  MPI_Request& new_request();
  std::size_t requests() const { return requests_.size(); }
  /// Valid until the next new_request().
  MPI_Request& request(std::size_t at) { return requests_[at]; }
  /// Returns true if every request is complete and no receive is held.
  bool test();
  /// test() for destructors: returns false on an MPI error.
  bool ended() noexcept;
  /// Copies staged results back and releases the operation for reuse.
  void finish();
  /// Returns a description: "all-to-all bellwether::comm::mean_scatter, 1234 bytes from this rank".
  std::string description() const;

  std::vector<int> receive_counts, receive_offsets;  ///< (P) bytes, read by MPI until completion
  std::vector<double> gathered;                      ///< (P * values) of a host sum
  std::int64_t bytes = 0;                            ///< bytes this rank sends, for messages
  std::int64_t held = 0;                             ///< receives that a ReceiveQueue has not posted yet

 private:
  // Pinned memory: copies to and from a device do not block the host and need no second staging copy.
  using HostBuffer = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;
  struct Stage {
    HostBuffer memory;
    Bytes target;
    bool copied_back = false;
  };
  char const* operation_ = "";
  Label label_ = "";
  bool busy_ = false;
  std::optional<Exec> staging_exec_;
  std::vector<MPI_Request> requests_;
  std::vector<Stage> stages_;
  std::size_t stages_used_ = 0;
};

}  // namespace bellwether::comm
