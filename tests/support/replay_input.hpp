// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "tests/support/replay_settings.hpp"

#include <iosfwd>
#include <vector>

namespace bellwether::test {

/// A replay file, the format of docs/developer/formats.md (Replay), its formulas as tests/golden/onebit_inputs.py reads
/// them. All of it is judged before anything runs, the gradients of every rank included, so that all ranks come to the
/// same end.
class ReplayInput {
 public:
  /// \throws InputError naming the place in the file, such as gradients[2][0][1], and what is allowed.
  ReplayInput(nlohmann::json document, int ranks);

  ReplaySettings settings;  ///< weight_decay among them: the largest of all tensors
  ParameterLayout layout;
  std::vector<float> initial;  ///< (n)
  std::vector<double> rates;   ///< one for each call that is not skipped
  int calls = 0;

  /// (n) of a rank at a call, counted from 1.
  std::vector<float> gradient(int call, int rank) const;

 private:
  nlohmann::json gradients_;
};

/// \throws InputError where the text is no JSON, or names a key of an object twice.
nlohmann::json parse_json(std::istream& text);

}  // namespace bellwether::test
