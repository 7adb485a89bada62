// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/nccl_operation.hpp"

#include "core/device/status_cuda.hpp"

namespace bellwether::comm {

NcclOperation::Event NcclOperation::new_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return Event(event);
}

NcclOperation::NcclOperation() : ready_(new_event()), done_(new_event()) {}

bool NcclOperation::reached(Event const& event) {
  cudaError_t const status = cudaEventQuery(event.get());
  if (status == cudaErrorNotReady)
    cudaGetLastError();  // not an error: clear it for later callers
  else
    check_cuda(status, "cudaEventQuery");
  return status == cudaSuccess;
}

void NcclOperation::begin(cudaStream_t caller, cudaStream_t stream, char const* name, Label label, std::int64_t bytes) {
  name_ = name;
  label_ = label;
  bytes_ = bytes;
  awaited_ = true;
  caller_ = caller;
  check_cuda(cudaEventRecord(ready_.get(), caller_), "cudaEventRecord");
  check_cuda(cudaStreamWaitEvent(stream, ready_.get(), 0), "cudaStreamWaitEvent");
}

void NcclOperation::started(cudaStream_t stream) {
  check_cuda(cudaEventRecord(done_.get(), stream), "cudaEventRecord");
  ended_ = false;
}

void NcclOperation::finish() {
  check_cuda(cudaStreamWaitEvent(caller_, done_.get(), 0), "cudaStreamWaitEvent");
  awaited_ = false;
}

bool NcclOperation::ready() const { return reached(ready_); }

bool NcclOperation::ended() {
  ended_ = ended_ || reached(done_);
  return ended_;
}

std::string NcclOperation::description() const {
  return std::string(name_) + " " + label_ + ", " + std::to_string(bytes_) + " bytes from this rank";
}

}  // namespace bellwether::comm
