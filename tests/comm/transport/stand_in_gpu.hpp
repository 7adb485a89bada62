// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <functional>
#include <string>

/// In place of the CUDA runtime and of NCCL, for tests on machines without a GPU: streams that hold work until what it
/// waits for has come, events, and collectives that deliver once every rank of their group has them at the head of a
/// stream. Host memory stands for the device's. Work goes on whenever somebody looks at an event.
namespace stand_in_gpu {

/// Forgets all; nobody may hold a stream, an event or a group.
void reset();
cudaStream_t new_stream();
/// Work on a stream that ends once `passes` says so, which any thread may ask.
void put_work(cudaStream_t stream, std::function<bool()> passes);
bool idle(cudaStream_t stream);  ///< all that was put there has ended

/// What every look at the device says from here on; cudaSuccess for none.
void fail_device(cudaError_t error);
/// How many more events there is memory for.
void limit_events(int more);
/// What a rank's group is found to have met; ncclInProgress: calls do not come back.
void fail_rank(int rank, ncclResult_t error);

int aborted();    ///< groups so far
int destroyed();  ///< groups so far, after they were finalized
int events();     ///< made so far
int held();       ///< events and streams that were made and not destroyed
/// What the libraries do not allow and was done: a call of a group that is gone, an abort amid its calls, lengths that
/// do not match, a group that is destroyed before it was finalized. Empty where all is well.
std::string faults();

}  // namespace stand_in_gpu
