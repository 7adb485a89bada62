// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/mpi_operation.hpp"

#include "core/system/error.hpp"

#include <string>

namespace bellwether::comm {
namespace {

using DeviceBytes = Kokkos::View<std::byte*, Mem, Kokkos::MemoryUnmanaged>;
using HostBytes = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

}  // namespace

void MpiOperation::begin(Exec const& exec, char const* operation, Label label, bool staged) {
  require(!busy_, "the operation is still in progress");
  operation_ = operation;
  label_ = label;
  busy_ = true;
  bytes = 0;
  held = 0;
  requests_.clear();
  stages_used_ = 0;
  staging_exec_.reset();
  if (staged) staging_exec_ = exec;
}

Bytes MpiOperation::transport_buffer(Bytes const& buffer, Access access) {
  if (!staging_exec_ || buffer.size == 0) return buffer;
  if (stages_used_ == stages_.size()) stages_.emplace_back();
  Stage& stage = stages_[stages_used_++];
  auto const size = static_cast<std::size_t>(buffer.size);
  if (stage.memory.extent(0) < size) {
    stage.memory = HostBuffer();
    stage.memory = HostBuffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bellwether::comm::staging"), size);
  }
  stage.target = buffer;
  stage.copied_back = access != Access::read;
  if (access != Access::write)
    Kokkos::deep_copy(*staging_exec_, HostBytes(stage.memory.data(), size), DeviceBytes(buffer.data, size));
  return {stage.memory.data(), buffer.size};
}

MPI_Request& MpiOperation::new_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

bool MpiOperation::test() {
  int complete = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, MPI_STATUSES_IGNORE), label_);
  return complete != 0 && held == 0;
}

bool MpiOperation::ended() noexcept {
  int complete = 0;
  int const code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, MPI_STATUSES_IGNORE);
  return code == MPI_SUCCESS && complete != 0 && held == 0;
}

void MpiOperation::finish() {
  for (std::size_t k = 0; k < stages_used_; ++k) {
    auto const size = static_cast<std::size_t>(stages_[k].target.size);
    if (stages_[k].copied_back)
      Kokkos::deep_copy(*staging_exec_, DeviceBytes(stages_[k].target.data, size),
                        HostBytes(stages_[k].memory.data(), size));
  }
  // Otherwise the next collective could overwrite the host memory before `exec` has read it.
  if (stages_used_ > 0) staging_exec_->fence("bellwether::comm::staged_results");
  staging_exec_.reset();
  busy_ = false;
}

std::string MpiOperation::description() const {
  return std::string(operation_) + " " + label_ + ", " + std::to_string(bytes) + " bytes from this rank";
}

}  // namespace bellwether::comm
