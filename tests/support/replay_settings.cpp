// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/replay_settings.hpp"

#include "core/system/error.hpp"
#include "input/deck/deck_checks.hpp"
#include "input/deck/deck_reader.hpp"
#include "input/deck/deck_table.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace bellwether::test {
namespace {

using Json = nlohmann::json;
using input::TreeNode;

/// Deck keys that a replay file gives elsewhere, or that have no meaning there.
constexpr std::array left_out{"lr", "weight_decay", "step_ahead", "skip_limit"};
/// Keys of the deck's section `comm` that change results.
constexpr std::array of_comm{"dense_wire", "scale_groups", "error_feedback"};

TreeNode node_of(Json const& value) {
  TreeNode node;
  if (value.is_array()) {
    node.kind = TreeNode::Kind::sequence;
    for (auto const& item : value) node.items.push_back(node_of(item));
  } else if (value.is_object()) {
    node.kind = TreeNode::Kind::map;
    for (auto const& [key, item] : value.items()) node.entries.push_back({key, {}, node_of(item)});
  } else if (!value.is_null()) {
    node.kind = TreeNode::Kind::scalar;
    node.quoted = value.is_string() && value != "auto";
    node.text = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return node;
}

/// Accepts keys that have no meaning with other settings, if they have their default value.
class DefaultsAllowed : public ConfigVisitor {
 public:
  explicit DefaultsAllowed(ConfigVisitor& visit) : visit_(visit) {}
  void section(std::string_view name, std::string_view help,
               std::function<void(ConfigVisitor&)> const& describe) override {
    visit_.section(name, help, [&](ConfigVisitor&) { describe(*this); });
  }
  void field(Field const& f, bool& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::int64_t& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, double& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::string& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::vector<std::string>& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::optional<std::int64_t>& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::optional<double>& value) override { visit_.field(relaxed(f), value); }
  void field(Field const& f, std::optional<std::chrono::seconds>& value) override { visit_.field(relaxed(f), value); }
  void choice(Field const& f, std::vector<std::string_view> const& names, int& value) override {
    visit_.choice(relaxed(f), names, value);
  }

 private:
  static Field relaxed(Field field) {
    field.default_allowed = true;
    return field;
  }
  ConfigVisitor& visit_;
};

input::SectionRows section_rows(std::string_view name) {
  auto const table = input::key_table(input::Deck());
  return *std::ranges::find(table, name, &input::SectionRows::name);
}

/// `settings` translated to sections of a deck, and the file's names of the deck's keys.
struct Translation {
  TreeNode deck;
  input::KeyCatalogue catalogue;
  std::map<std::string, std::string> names;  // "optimizer.beta1": "optimizer.betas[0]"

  explicit Translation(Json const& settings);
  /// Returns the message "key: what" with the file's name of the key.
  std::string renamed(std::string const& fault) const {
    auto const end = fault.find(": ");
    auto const found = names.find(fault.substr(0, end));
    return found == names.end() ? fault : found->second + fault.substr(end);
  }
};

Translation::Translation(Json const& settings) {
  TreeNode optimizer, comm, run;
  for (auto* const map : {&optimizer, &comm, &run, &deck}) map->kind = TreeNode::Kind::map;
  for (std::string const section : {"run", "optimizer", "comm"}) {
    auto& keys = catalogue.emplace_back(section, std::vector<std::string>()).second;
    for (auto const& row : section_rows(section).keys) keys.push_back(row.name);
  }
  std::vector<std::string> known{"name", "betas", "seed"};
  for (auto const& key : input::entries_of(catalogue[1].second))
    if (std::ranges::find(left_out, key) == left_out.end() && key != "method") known.push_back(key);
  for (std::string const key : of_comm) known.push_back(key);

  std::vector<std::string> faults;
  auto const put = [&](TreeNode& section, std::string const& section_name, std::string const& key,
                       std::string const& written, Json const& value) {
    section.entries.push_back({key, {}, node_of(value)});
    names[section_name + "." + key] = "optimizer." + written;
  };
  for (auto const& [written_key, value] : settings.items()) {
    auto const today = input::renamed_key(written_key);  // accepts names of earlier versions
    std::string const key = today.empty() ? written_key : std::string(today);
    if (std::ranges::find(known, key) == known.end())
      faults.push_back("optimizer." + key + ": " + input::unknown_key(key, known, {{"tensors", {"weight_decay"}}}));
    else if (key == "seed")
      put(run, "run", key, key, value);
    else if (std::ranges::find(of_comm, key) != of_comm.end())
      put(comm, "comm", key, key, value);
    else if (key != "betas")
      put(optimizer, "optimizer", key == "name" ? "method" : key, written_key, value);
    else if (!value.is_array() || value.size() != 2)
      faults.push_back("optimizer.betas: " + value.dump() + "; allowed: a list of two numbers, beta1 and beta2");
    else
      for (std::size_t i = 0; i < 2; ++i) {
        std::string const beta = i == 0 ? "beta1" : "beta2", written = "betas[" + std::to_string(i) + "]";
        if (settings.contains(beta))
          faults.push_back("optimizer." + beta + ": given again; allowed: once, as betas[" + std::to_string(i) + "]");
        else if (i == 1 && settings.value("name", Json()) == "onebit_sgd")
          read_deck_number(beta, "optimizer." + written, value[i]);  // 1-bit SGD has no beta2: check it and ignore it
        else
          put(optimizer, "optimizer", beta, written, value[i]);
      }
  }
  if (!settings.contains("name"))
    faults.push_back("optimizer.name: missing; allowed: " + section_rows("optimizer").keys.front().allowed);
  if (!faults.empty()) throw InputError(faults);
  deck.entries = {{"run", {}, run}, {"optimizer", {}, optimizer}, {"comm", {}, comm}};
}

}  // namespace

ReplaySettings read_settings(Json const& settings) {
  if (!settings.is_object())
    throw InputError("optimizer: " + settings.dump() + "; allowed: an object with the deck's keys");
  Translation const given(settings);
  input::Deck deck;
  deck.run.seed = 0;
  auto& config = deck.optimizer;
  config.clip = 0;
  config.unify = settings.at("name") == "onebit_adam" ? optim::Unify::none : optim::Unify::layer;
  config.scale = comm::Scale::rms;
  config.exchange = optim::Exchange::momentum;
  config.step_ahead = 0;  // the file's gradients do not depend on the point
  config.frozen_variance = optim::FrozenVariance::whole;
  config.steer = optim::Steer::variance;
  config.gradient_limit = 0;
  deck.comm.scale_groups = 1;

  std::vector<input::Override> const no_overrides;
  input::DeckReader reader("", given.deck, no_overrides, true, true);
  DefaultsAllowed relaxed(reader);
  relaxed.section("run", "", [&](ConfigVisitor& visit) { deck.run.describe(visit); });
  relaxed.section("optimizer", "", [&](ConfigVisitor& visit) { config.describe(visit); });
  relaxed.section("comm", "", [&](ConfigVisitor& visit) {
    deck.comm.describe(visit, compresses(config.method), methods_where(optim::compresses));
  });
  reader.finish(given.catalogue);
  std::vector<std::string> faults;
  for (auto const& fault : reader.faults()) faults.push_back(given.renamed(fault.text));
  // The method decides which keys are allowed, so report only its fault.
  if (reader.broken().contains("optimizer.method")) throw InputError(faults.front());
  input::check_keys(deck, reader.origins(), reader.broken(), [&](std::string const& key, std::string const& what) {
    faults.push_back(given.renamed(key + ": " + what));
  });
  if (compresses(config.method) && !settings.contains("freeze"))
    faults.push_back(R"(optimizer.freeze: missing; allowed: {"step": N}, {"latest": share of all steps} or "auto")");
  if (!faults.empty()) throw InputError(faults);
  return {config, deck.comm, deck.run.seed};
}

double read_deck_number(std::string const& key, std::string const& path, Json const& number) {
  TreeNode section, deck;
  section.kind = deck.kind = TreeNode::Kind::map;
  section.entries = {{key, {}, node_of(number)}};
  deck.entries = {{"optimizer", {}, section}};
  std::vector<input::Override> const no_overrides;
  input::DeckReader reader("", deck, no_overrides, true, true);
  reader.section("optimizer", "", [](ConfigVisitor& visit) { optim::OptimizerConfig().describe(visit); });
  for (auto const& fault : reader.faults()) throw InputError(path + fault.text.substr(fault.text.find(": ")));
  return number.get<double>();
}

}  // namespace bellwether::test
