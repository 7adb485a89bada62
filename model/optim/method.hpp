// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::optim {

/// A method of training: an update rule with a strategy. Both are names in the Registry.
struct Method {
  std::string_view rule = "lamb";
  std::string_view strategy = "average";

  static Method const lamb, adamw, sgd, onebit_lamb, onebit_adam, onebit_sgd;

  friend constexpr bool operator==(Method const&, Method const&) = default;
  friend constexpr auto operator<=>(Method const&, Method const&) = default;
};

inline constexpr Method Method::lamb{"lamb", "average"};
inline constexpr Method Method::adamw{"adamw", "average"};
inline constexpr Method Method::sgd{"sgd", "average"};
inline constexpr Method Method::onebit_lamb{"lamb", "one_bit"};
inline constexpr Method Method::onebit_adam{"adamw", "one_bit"};
inline constexpr Method Method::onebit_sgd{"sgd", "one_bit"};

/// Returns the methods that have a name of their own, in the order in which messages list them: each rule with strategy
/// average by the rule's name, then the pairs that have a shorthand.
std::vector<Method> named_methods();
/// Returns the method of a name in decks and options; nothing if there is none.
std::optional<Method> method_of(std::string_view name);
/// Returns the method's name in decks: a shorthand such as onebit_lamb, or "RULE x STRATEGY" for a pair without one.
std::string name_of(Method const& method);
/// Returns the names of the methods for which `holds` returns true, as a condition: "method: lamb, adamw or sgd".
std::string methods_where(bool (*holds)(Method const&));

/// Returns whether the strategy replaces the dense mean by compressed exchanges, after a freeze.
bool compresses(Method const& method);
/// Returns whether the rule divides the momentum by the root of a variance.
bool has_variance(Method const& method);
/// Returns whether the method freezes a variance when compression begins.
bool freezes_variance(Method const& method);
/// Returns whether the rule scales the rate of each tensor by a trust ratio.
bool has_trust_ratio(Method const& method);
/// Returns whether the method averages trust ratios before a freeze.
bool averages_ratios(Method const& method);
/// Returns whether `bias_correction` has a meaning: the rule has it, and no frozen variance excludes it.
bool corrects_bias(Method const& method);

}  // namespace bellwether::optim
