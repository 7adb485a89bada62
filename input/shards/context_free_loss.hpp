// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace bellwether::input {

/// Returns the masked-LM loss of a model that knows only how frequent words are, in nats per token. It is the cross
/// entropy of the tokens in `seen` under the frequencies in `known` (Shannon, A Mathematical Theory of Communication,
/// 1948, section 6). Both hold one count for each token of the vocabulary. Counts in `known` are raised by one, so that
/// no token is impossible. Returns 0 if `seen` is empty.
double frequency_loss(std::vector<std::int64_t> const& seen, std::vector<std::int64_t> const& known);

/// Returns the masked-LM loss of a model that sees only the masked position itself, in nats per token. Masking leaves
/// some predicted tokens visible and replaces others by random ones (draw_masks()). The model therefore knows how
/// frequent words are, and the token Y that the input shows in place of the true token X. It predicts by Bayes' rule
/// under the frequencies in `known`; the result is the expected loss on the tokens in `seen`. With equal frequencies
/// this is the conditional entropy H(X | Y) (Cover and Thomas, Elements of Information Theory, section 2.2). Arguments
/// are those of frequency_loss(); random tokens come from the whole vocabulary.
/// \param mask id of [MASK].
/// Returns 0 if `seen` is empty.
double context_free_loss(std::vector<std::int64_t> const& seen, std::vector<std::int64_t> const& known,
                         std::int64_t mask);

}  // namespace bellwether::input
