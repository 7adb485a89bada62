// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics_rows.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace bellwether::app {

/// `automatic`: one line that renews itself on a terminal, plain lines elsewhere.
enum class LogForm { automatic, lines, json };

struct ProgressOptions {
  LogForm form = LogForm::automatic;
  std::int64_t steps = 0;         ///< at the end of the run
  std::int64_t print_every = 10;  ///< steps between plain lines
  double gemm_flops_per_second =
      0;  ///< what this machine's matrix product reaches, all ranks together; 0: not measured
};

/// Tells a person, or a program that reads JSON lines, how the run is going. Rank 0 alone has one. step() does not
/// allocate in the forms for people.
class Progress {
 public:
  /// out: usually stdout; must outlive the object.
  Progress(ProgressOptions options, std::FILE* out);
  ~Progress();  ///< ends the renewed line

  /// flops: floating-point operations of the step's matrix products, all ranks together.
  void step(StepRow const& row, double flops);
  void evaluation(EvaluationRow const& row);
  /// From here on evaluations are shown beside the masked-LM loss that word frequencies alone reach on the held-out
  /// text, in nats (input::CorpusFacts::frequency_loss); 0: not known.
  void compare_with_frequencies(double loss);
  void checkpoint(std::int64_t step, std::string const& path);             ///< the last one of the job
  void checkpoint_in_passing(std::int64_t step, std::string const& path);  ///< told to programs alone
  void note(std::string const& text);  ///< for the reader: what starts, what was resumed
  void warning(std::string const& text);
  void finish(std::string const& summary);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
