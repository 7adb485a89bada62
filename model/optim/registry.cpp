// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/registry.hpp"

#include "core/system/error.hpp"

#include <algorithm>

// One line for each rule and strategy. rules/NAME.cpp defines NAME_rule(), strategies/NAME/ defines NAME_strategy().
#define BELLWETHER_RULES(ENTRY) \
  ENTRY(lamb)                   \
  ENTRY(adamw)                  \
  ENTRY(sgd)
#define BELLWETHER_STRATEGIES(ENTRY) \
  ENTRY(average)                     \
  ENTRY(one_bit)

namespace bellwether::optim {

#define BELLWETHER_DECLARE(name) RuleEntry name##_rule();
BELLWETHER_RULES(BELLWETHER_DECLARE)
#undef BELLWETHER_DECLARE
#define BELLWETHER_DECLARE(name) StrategyEntry name##_strategy();
BELLWETHER_STRATEGIES(BELLWETHER_DECLARE)
#undef BELLWETHER_DECLARE

namespace {

template <class Entries>
auto const& named(Entries const& entries, std::string_view name, char const* what) {
  auto const found = std::ranges::find(entries, name, [](auto const& entry) { return entry.name; });
  if (found == entries.end()) throw InternalError("no " + std::string(what) + " '" + std::string(name) + "'");
  return *found;
}

Registry product() {
  Registry all;
#define BELLWETHER_ADD(name) all.add(name##_rule());
  BELLWETHER_RULES(BELLWETHER_ADD)
#undef BELLWETHER_ADD
#define BELLWETHER_ADD(name) all.add(name##_strategy());
  BELLWETHER_STRATEGIES(BELLWETHER_ADD)
#undef BELLWETHER_ADD
  all.add(Shorthand{"onebit_lamb", Method::onebit_lamb});
  all.add(Shorthand{"onebit_adam", Method::onebit_adam});
  all.add(Shorthand{"onebit_sgd", Method::onebit_sgd});
  return all;
}

}  // namespace

RuleEntry const& Registry::rule(std::string_view name) const { return named(rules_, name, "update rule"); }
StrategyEntry const& Registry::strategy(std::string_view name) const { return named(strategies_, name, "strategy"); }

std::string Registry::refusal(Method const& method) const {
  return strategy(method.strategy).refusal(rule(method.rule));
}

Registry& registry() {
  static Registry all = product();
  return all;
}

std::vector<Method> named_methods() {
  std::vector<Method> methods;
  for (auto const& rule : registry().rules()) methods.push_back({rule.name, Method{}.strategy});
  for (auto const& shorthand : registry().shorthands()) methods.push_back(shorthand.method);
  return methods;
}

std::optional<Method> method_of(std::string_view name) {
  auto const methods = named_methods();
  auto const found = std::ranges::find(methods, name, [](Method const& method) { return name_of(method); });
  return found == methods.end() ? std::nullopt : std::optional(*found);
}

std::string name_of(Method const& method) {
  if (method.strategy == Method{}.strategy) return std::string(method.rule);
  for (auto const& shorthand : registry().shorthands())
    if (shorthand.method == method) return std::string(shorthand.name);
  return std::string(method.rule) + " x " + std::string(method.strategy);
}

std::string methods_where(bool (*holds)(Method const&)) {
  std::vector<std::string> names;
  for (auto const& method : named_methods())
    if (holds(method)) names.push_back(name_of(method));
  std::string text = "method: ";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

bool compresses(Method const& method) { return strategy_of(method).traits.compresses; }
bool has_variance(Method const& method) { return rule_of(method).traits.variance; }
bool freezes_variance(Method const& method) { return compresses(method) && has_variance(method); }
bool has_trust_ratio(Method const& method) { return rule_of(method).traits.trust_ratio; }
bool averages_ratios(Method const& method) { return compresses(method) && has_trust_ratio(method); }
bool corrects_bias(Method const& method) { return rule_of(method).traits.bias_correction && !compresses(method); }

}  // namespace bellwether::optim
