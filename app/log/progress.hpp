// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics_rows.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace bellwether::app {

/// `automatic`: one line that is redrawn in place on a terminal, plain lines elsewhere.
enum class LogForm { automatic, lines, json };

struct ProgressOptions {
  LogForm form = LogForm::automatic;
  std::int64_t steps = 0;            ///< last step of the run
  std::int64_t print_every = 10;     ///< steps between plain lines
  double gemm_flops_per_second = 0;  ///< speed of this machine's matrix product, sum over ranks; 0: not measured
};

/// Prints the progress of a run for people or, as JSON lines, for programs. Only rank 0 has one. step() does not
/// allocate, except with LogForm::json. If text cannot be written, one warning on standard error says so, and the text
/// is lost.
class Progress {
 public:
  /// out: usually stdout; must outlive the object.
  Progress(ProgressOptions options, std::FILE* out);
  ~Progress();  ///< ends the line that is redrawn in place

  /// flops: floating-point operations of the step's matrix products, summed over ranks.
  void step(StepRow const& row, double flops);
  void evaluation(EvaluationRow const& row);
  /// From now on, evaluations also show the context-free loss of the held-out text, or that of word frequencies if the
  /// former is unknown.
  void compare_with(RunDescription const& run);
  void checkpoint(std::int64_t step, std::string const& path);  ///< the last checkpoint of the job
  void checkpoint_in_passing(std::int64_t step,
                             std::string const& path);  ///< an earlier checkpoint; printed in JSON only
  void note(std::string const& text);                   ///< e.g. what starts or was resumed
  void warning(std::string const& text);
  void finish(std::string const& summary);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
