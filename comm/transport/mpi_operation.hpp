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

/// One collective under way over MPI: its requests, its argument arrays, and its staging memory, all kept from one
/// collective to the next.
class MpiOperation final : public Request::State {
 public:
  char const* label() const override { return label_; }
  /// Staged: every buffer goes through host memory, and finish() copies results back in order on `exec`.
  void begin(Exec const& exec, char const* operation, Label label, bool staged);
  bool busy() const { return busy_; }

  /// The buffer to hand to MPI in place of `buffer`; staged, host memory that a copy on `exec` is filling.
  enum class Access { read, write, read_write };
  Bytes transport_buffer(Bytes const& buffer, Access access);

  MPI_Request& new_request();
  std::size_t requests() const { return requests_.size(); }
  MPI_Request& request(std::size_t at) { return requests_[at]; }  ///< until the next new_request()
  /// True when every request is complete and no message is held.
  bool test();
  /// test() for destructors: an error of MPI is a collective that has not ended.
  bool ended() noexcept;
  /// Copies staged results back and makes the operation free for another collective.
  void finish();
  /// "all-to-all bellwether::comm::mean_scatter, 1234 bytes from this rank"
  std::string description() const;

  std::vector<int> receive_counts, receive_offsets;  ///< (P) bytes, read by MPI until completion
  std::vector<double> gathered;                      ///< (P * values) of a host sum
  std::int64_t bytes = 0;                            ///< handed over by this rank, for messages
  std::int64_t held = 0;                             ///< messages that a ReceiveQueue has yet to post

 private:
  // Copies from and to a device do not keep the host waiting, and are not made twice.
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
