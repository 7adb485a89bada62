// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/kernel_bound.hpp"
#include "model/optim/method.hpp"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The update rules and strategies of this program. Deck, schema, check, forecast, bench and tests iterate over them.
/// Needs no Kokkos.
namespace bellwether::optim {

class Optimizer;
class UpdateRule;
struct OptimizerConfig;
struct OptimizerContext;

/// Whether a strategy may freeze the variance of its rule during a run.
enum class Freezing { never, possible };

/// What deck, strategies and forecasts need to know of an update rule.
struct RuleTraits {
  bool variance = false;         ///< divides by the root of a variance: keys beta2 and epsilon
  bool bias_correction = false;  ///< key bias_correction
  bool trust_ratio = false;      ///< scales the rate of each tensor: keys min_coefficient and max_coefficient
  bool decodes = false;          ///< update() also takes a compressed mean
};

/// How kernels of an update read the result of a compressed exchange.
struct DecodedMean {
  double bytes = 0;      ///< to read an element: sign, active bit, share of a magnitude; or a value
  bool momenta = false;  ///< momenta are exchanged, not gradients
  bool in_bits = false;  ///< the momentum is stored in bits
  bool by_root = false;  ///< values are in units of the variance's root
  bool fresh = false;    ///< a fresh variance is updated: steer: variance
};

struct RuleEntry {
  std::string_view name;   ///< in decks
  std::string_view title;  ///< in sentences
  std::string_view help;   ///< one line
  RuleTraits traits;
  std::unique_ptr<UpdateRule> (*make)(OptimizerConfig const&, OptimizerContext const&, Freezing);
  /// Return the kernels of an update from a mean gradient in memory, and from a compressed mean. The second is nullptr
  /// unless the rule decodes.
  std::vector<KernelBound> (*dense_kernels)();
  std::vector<KernelBound> (*decoded_kernels)(DecodedMean const&) = nullptr;
};

struct StrategyTraits {
  bool compresses = false;  ///< has a dense phase, a freeze and a compressed phase
};

struct StrategyEntry {
  std::string_view name;  ///< in decks
  std::string_view help;  ///< one line
  StrategyTraits traits;
  std::unique_ptr<Optimizer> (*make)(OptimizerConfig const&, OptimizerContext const&);
  /// Returns why the strategy cannot work with a rule; empty if it can.
  std::string (*refusal)(RuleEntry const&);
  /// Returns the kernels of the exchange in a compressed step, before those of the rule. nullptr unless it compresses.
  std::vector<KernelBound> (*exchange_kernels)(OptimizerConfig const&, int ranks) = nullptr;
  /// Returns how the rule's kernels read the result. nullptr unless it compresses.
  DecodedMean (*decoded_mean)(OptimizerConfig const&, int ranks) = nullptr;
};

/// A name for a pair that is not a rule's name.
struct Shorthand {
  std::string_view name;
  Method method;
};

/// Entries stay at their addresses.
class Registry {
 public:
  void add(RuleEntry const& entry) { rules_.push_back(entry); }
  void add(StrategyEntry const& entry) { strategies_.push_back(entry); }
  void add(Shorthand const& shorthand) { shorthands_.push_back(shorthand); }

  std::deque<RuleEntry> const& rules() const { return rules_; }
  std::deque<StrategyEntry> const& strategies() const { return strategies_; }
  std::deque<Shorthand> const& shorthands() const { return shorthands_; }
  /// \throws InternalError if there is no such name.
  RuleEntry const& rule(std::string_view name) const;
  StrategyEntry const& strategy(std::string_view name) const;
  /// Returns why the pair of a method makes no sense; empty if it does.
  std::string refusal(Method const& method) const;

 private:
  std::deque<RuleEntry> rules_;
  std::deque<StrategyEntry> strategies_;
  std::deque<Shorthand> shorthands_;
};

/// Returns the registry of this process, which holds all rules and strategies of the product. Tests add their own.
Registry& registry();

inline RuleEntry const& rule_of(Method const& method) { return registry().rule(method.rule); }
inline StrategyEntry const& strategy_of(Method const& method) { return registry().strategy(method.strategy); }

}  // namespace bellwether::optim
