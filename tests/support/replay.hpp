// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

namespace bellwether::comm {
class Communicator;
}

namespace bellwether::test {

/// Runs the product's optimizer over recorded gradients: the format of docs/onebit_methods.md, its formulas as
/// tests/golden/onebit_inputs.py reads them. Collective; every rank reads its own gradients, rank 0 gets the result.
/// \throws InputError naming a key that is unknown, missing or of another number of ranks.
nlohmann::ordered_json replay(nlohmann::json const& input, comm::Communicator& ranks);

}  // namespace bellwether::test
