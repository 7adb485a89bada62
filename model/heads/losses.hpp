// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether::model {

/// Sums over the micro-batches of a step. The trainer divides them by the counts of the global batch.
struct Losses {
  double mlm = 0;          ///< sum of -log p over masked positions
  double mlm_correct = 0;  ///< masked positions where no other token has a higher logit than the label
  double nsp = 0;          ///< sum over sequences
  double nsp_correct = 0;
};

/// Factors of the two loss sums in the differentiated loss.
struct LossScale {
  double mlm = 1, nsp = 1;
};

}  // namespace bellwether::model
