// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <functional>
#include <string>

/// Replaces the CUDA runtime and NCCL in tests on machines without a GPU. Streams hold work until its dependencies are
/// met; a collective delivers once it is at the head of a stream on every rank of its group. Host memory serves as
/// device memory. Work advances on every query of an event.
namespace stand_in_gpu {

/// Resets everything; no stream, event or group may be in use.
void reset();
cudaStream_t new_stream();
/// Enqueues work that ends once `passes` returns true; any thread may call it.
void put_work(cudaStream_t stream, std::function<bool()> passes);
bool idle(cudaStream_t stream);  ///< all enqueued work has ended

/// Sets the result of all further device queries; cudaSuccess for no error.
void fail_device(cudaError_t error);
/// Sets how many more events can be created.
void limit_events(int more);
/// Sets the error of a rank's group; ncclInProgress: calls never return.
void fail_rank(int rank, ncclResult_t error);

int aborted();    ///< number of aborted groups
int destroyed();  ///< number of groups destroyed after finalization
int events();     ///< number of events created
int held();       ///< number of events and streams created and not destroyed
/// Returns violations of the libraries' rules: a call on a destroyed group, an abort during its calls, mismatched
/// lengths, a group destroyed before finalization. Empty if there are none.
std::string faults();

}  // namespace stand_in_gpu
