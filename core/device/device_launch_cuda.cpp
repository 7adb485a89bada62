// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/device_launch.hpp"
#include "core/device/launch.hpp"
#include "core/device/status_cuda.hpp"

namespace bellwether {
namespace {

struct AsksForScratch {
  KOKKOS_FUNCTION void operator()(Kokkos::TeamPolicy<Exec>::member_type const& team) const {
    team.team_scratch(1).get_shmem(1);
  }
};

}  // namespace

void start_device() {
  Exec const exec;
  Kokkos::TeamPolicy<Exec> policy(exec, 1, 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(64));
  launch<"bellwether::core::start_device">(policy, AsksForScratch{});
  exec.fence("bellwether::core::start_device");
}

struct Recording::Impl {
  ~Impl() {
    if (runnable != nullptr) cudaGraphExecDestroy(runnable);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runnable = nullptr;
};

bool Recording::possible() { return true; }

Recording::Recording(Exec const& exec, std::function<void()> const& work) : impl_(std::make_unique<Impl>()) {
  cudaStream_t const stream = exec.cuda_stream();
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream, &impl_->graph);
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream, &impl_->graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&impl_->runnable, impl_->graph, 0), "cudaGraphInstantiate");
}
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

void Recording::replay(Exec const& exec) const {
  check_cuda(cudaGraphLaunch(impl_->runnable, exec.cuda_stream()), "cudaGraphLaunch");
}

}  // namespace bellwether
