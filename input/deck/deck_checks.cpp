// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_checks.hpp"

#include "input/deck/deck_characters.hpp"
#include "input/deck/deck_shards.hpp"
#include "input/deck/deck_values.hpp"
#include "input/files/written_path.hpp"
#include "input/text/odd_characters.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

bool overridden(Origins const& origins, std::string_view key) {
  auto const origin = origins.find(key);
  return origin != origins.end() && origin->second.override_index >= 0;
}

std::string absolute(std::string const& path, std::string const& base) {
  return (fs::path(base) / path).lexically_normal().string();
}

/// Returns the folder that a key's relative paths start from. `run.directory` has its own rule.
std::string const& base_of(std::string_view key, DeckSource const& source, Origins const& origins) {
  return key == "run.directory" || overridden(origins, key) ? source.working_directory : source.folder;
}

/// Reports an unquoted path that does not exist and contains an invisible or blank odd character: the run would create
/// a folder whose name nobody can type. Quotes mean that the characters are intended. `to_read`: the path must exist,
/// so every odd character except a letter may be the reason that it does not.
std::string odd_path(TreeNode const& node, std::string const& base, bool in_override, bool to_read) {
  std::error_code error;
  if (node.quoted || fs::exists(fs::symlink_status(fs::path(base) / node.text, error))) return "";
  auto const first = find_odd(node.text);
  bool const in_odd_quotes = first && first->at == 0 && first->kind == Oddity::quote;
  for (auto const& odd : node.odd)
    if (odd.kind == Oddity::blank || odd.kind == Oddity::invisible || odd.kind == Oddity::line_break || in_odd_quotes ||
        (to_read && odd.kind != Oddity::letter))
      return "'" + node.text + "' does not exist, and holds " + described(odd, in_override) +
             "; in double quotes it is part of the path";
  return "";
}

/// A run writes its paths into deck.resolved.yaml and into checkpoints. YAML has no way to write other bytes. They can
/// only come from the deck's folder or the working directory: the texts of a deck are UTF-8.
void check_encoding(std::string const& key, std::vector<std::string> const& paths, Complain const& complain) {
  auto const found = std::find_if_not(paths.begin(), paths.end(), is_valid_utf8);
  if (found == paths.end()) return;
  complain(key, with_codes(*found) +
                    " holds a byte that is not UTF-8, and a resolved deck cannot hold it; rename the folder, or write "
                    "an absolute path over a link to it");
}

}  // namespace

void check_written_paths(DeckReading& reading, DeckSource const& source, Complain const& complain) {
  for (auto const& [key, nodes] : reading.paths) {
    if (reading.broken.contains(key)) continue;
    auto const& base = base_of(key, source, reading.origins);
    bool const in_override = overridden(reading.origins, key);
    for (auto const& node : nodes) {
      auto what = unexpanded_path(node.text, base, Tilde::refused);
      if (what.empty() && node.text == "-" && key == "run.directory")
        what = "'-' would be standard output, which is no folder; write './-' for a folder of this name";
      if (what.empty()) what = odd_path(node, base, in_override, key != "run.directory");
      if (what.empty()) continue;
      complain(key, what);
      reading.broken.insert(key);
    }
  }
}

void resolve_paths(Deck& deck, DeckSource const& source, Origins const& origins) {
  auto const base = [&](std::string_view key) { return base_of(key, source, origins); };
  for (auto& path : deck.data.train) path = absolute(path, base("data.train"));
  for (auto& path : deck.data.heldout) path = absolute(path, base("data.heldout"));
  // In a deck, "." means the deck's folder, not the working directory, so that a resolved deck moves with its run.
  bool const beside =
      deck.run.directory == "." && origins.contains("run.directory") && !overridden(origins, "run.directory");
  deck.run.directory = beside ? source.folder : absolute(deck.run.directory, source.working_directory);
}

void check_keys(Deck const& deck, Origins const& origins, std::set<std::string, std::less<>> const& broken,
                Complain const& complain) {
  constexpr std::size_t longest_name = 1000;
  if (deck.run.name.size() > longest_name && !broken.contains("run.name"))
    complain("run.name", std::to_string(deck.run.name.size()) + " bytes; allowed: a title of at most " +
                             std::to_string(longest_name) + " bytes");
  // Report the key that the user set last: an override before the deck, the deck before a default. If both were set at
  // the same level, report the second argument.
  auto const contradict = [&](std::string_view first, std::string_view second, std::string const& about_first,
                              std::string const& about_second) {
    if (broken.contains(first) || broken.contains(second)) return;
    bool const first_later = overridden(origins, first) && !overridden(origins, second);
    if (origins.contains(second) && !first_later)
      complain(std::string(second), about_second);
    else
      complain(std::string(first), about_first);
  };
  auto const& [run, data, batch, model, optimizer, schedule, comm, checkpoint, statistics] = deck;
  if (model.hidden % model.heads != 0) {
    auto const what = std::to_string(model.hidden) + " hidden units cannot be split into " +
                      std::to_string(model.heads) + " heads; model.hidden must be a multiple of model.heads";
    contradict("model.hidden", "model.heads", what, what);
  }
  auto const ordered = [&](std::string const& low_key, double low, std::string const& high_key, double high) {
    if (low <= high) return;
    auto const least = shortest_number(low), most = shortest_number(high);
    contradict("optimizer." + low_key, "optimizer." + high_key, least + " is above " + high_key + "; at most " + most,
               most + " is below " + low_key + "; at least " + least);
  };
  bool const compresses = optim::compresses(optimizer.method);
  if (has_trust_ratio(optimizer.method))
    ordered("min_coefficient", optimizer.min_coefficient, "max_coefficient", optimizer.max_coefficient);
  if (freezes_variance(optimizer.method) && optimizer.freeze.step && *optimizer.freeze.step < 2)
    contradict("optimizer.freeze.step", "optimizer.freeze.step", {},
               std::to_string(*optimizer.freeze.step) +
                   " leaves no variance to freeze; at least 2 with method: " + name_of(optimizer.method));
  // `true` is not the default, so the user set it.
  if (optimizer.bias_correction && !corrects_bias(optimizer.method))
    contradict("optimizer.bias_correction", "optimizer.bias_correction", {},
               "true, but method: " + name_of(optimizer.method) + " has none; set it to false, or use " +
                   optim::methods_where(optim::corrects_bias));
  if (averages_ratios(optimizer.method)) {
    ordered("factor_min", optimizer.factor_min, "factor_max", optimizer.factor_max);
    bool const in_order = optimizer.factor_min <= optimizer.factor_max;
    if (in_order && optimizer.factor_min > 1)
      contradict("optimizer.factor_min", "optimizer.factor_min", {},
                 shortest_number(optimizer.factor_min) + ", but the factor begins at 1; at most 1");
    if (in_order && optimizer.factor_max < 1)
      contradict("optimizer.factor_max", "optimizer.factor_max", {},
                 shortest_number(optimizer.factor_max) + ", but the factor begins at 1; at least 1");
  }
  if (compresses && optimizer.clip_norm == optim::CompressedClip::sketch && optimizer.sketch_columns % 128 != 0)
    contradict("optimizer.sketch_columns", "optimizer.sketch_columns", {},
               std::to_string(optimizer.sketch_columns) + " columns; a multiple of 128");
  if (schedule.warmup_steps > schedule.steps) {
    auto const warmup = std::to_string(schedule.warmup_steps), steps = std::to_string(schedule.steps);
    contradict("schedule.steps", "schedule.warmup_steps", steps + " steps end before warmup does; at least " + warmup,
               warmup + " is more than schedule.steps; at most " + steps);
  }
  if (schedule.legw_baseline_batch > 0 && schedule.warmup_steps == 0)
    contradict(
        "schedule.legw_baseline_batch", "schedule.warmup_steps",
        "LEGW needs warmup; set schedule.warmup_steps to those of the tuned baseline",
        "0, but LEGW (schedule.legw_baseline_batch) needs warmup; set it to the warmup steps of the tuned baseline");
  if (schedule.legw_baseline_batch > 0 && schedule.warmup != optim::Warmup::linear)
    contradict("schedule.legw_baseline_batch", "schedule.warmup",
               "LEGW warms up linearly; set schedule.warmup to linear",
               "quadratic, but LEGW warms up linearly; linear with schedule.legw_baseline_batch");
  // Neither value is a default, so the user set both.
  if (comm.allreduce == comm::Allreduce::library && comm.dense_wire == comm::Wire::bf16)
    complain("comm.dense_wire", "bf16, but comm.allreduce: library sums fp32 only; fp32, or comm.allreduce: ordered");
}

void check_paths(Deck const& deck, std::set<std::string, std::less<>> const& broken, Complain const& complain) {
  bool const train = !broken.contains("data.train"), heldout = !broken.contains("data.heldout");
  if (train) check_shards("data.train", deck.data.train, complain);
  if (heldout) check_shards("data.heldout", deck.data.heldout, complain);
  if (train && heldout) check_apart(deck.data, complain);
  if (train) check_encoding("data.train", deck.data.train, complain);
  if (heldout) check_encoding("data.heldout", deck.data.heldout, complain);
  std::error_code error;
  if (broken.contains("run.directory")) return;
  check_encoding("run.directory", {deck.run.directory}, complain);
  if (train) check_run_apart(deck.run.directory, "data.train", deck.data.train, complain);
  if (heldout) check_run_apart(deck.run.directory, "data.heldout", deck.data.heldout, complain);
  if (fs::exists(deck.run.directory, error) && !fs::is_directory(deck.run.directory, error))
    complain("run.directory", deck.run.directory + " is a file; allowed: a folder, which need not exist yet");
}

}  // namespace bellwether::input
