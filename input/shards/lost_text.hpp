// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/corpus_facts.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Returns true if rare characters, which a trained vocabulary has not kept, cost more than 1 % of the text.
bool loses_rare_characters(CorpusFacts const& facts);

/// Returns warnings about text that the model never sees as it was written, and text without words. Part of
/// corpus_warnings().
std::vector<std::string> lost_text_warnings(CorpusFacts const& facts);

}  // namespace bellwether::input
