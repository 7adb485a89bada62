// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "tests/support/replay_settings.hpp"

#include <iosfwd>
#include <vector>

namespace bellwether::test {

/// A replay file in the format of docs/developer/formats.md (Replay), with the formulas of
/// tests/golden/onebit_inputs.py. Every rank checks the whole file, including all ranks' gradients, before anything
/// runs. So all ranks find the same faults.
class ReplayInput {
 public:
  /// \throws InputError that names the place in the file, for example gradients[2][0][1], and what is allowed.
  ReplayInput(nlohmann::json document, int ranks);

  ReplaySettings settings;  ///< its weight_decay is the largest of all tensors
  ParameterLayout layout;
  std::vector<float> initial;  ///< (n)
  std::vector<double> rates;   ///< one for each step that is not skipped
  int calls = 0;

  /// Returns the gradient (n) of a rank in a step; calls are counted from 1.
  std::vector<float> gradient(int call, int rank) const;

 private:
  nlohmann::json gradients_;
};

/// \throws InputError if the text is not JSON, or an object contains a key twice.
nlohmann::json parse_json(std::istream& text);

}  // namespace bellwether::test
