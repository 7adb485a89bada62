// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/replay_input.hpp"

#include "core/system/error.hpp"
#include "input/deck/deck_keys.hpp"
#include "input/deck/suggestion.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <set>

namespace bellwether::test {
namespace {

using Json = nlohmann::json;
using Values = std::vector<float>;

constexpr double largest = std::numeric_limits<float>::max();
constexpr std::int64_t most_calls = 1'000'000'000, most_elements = std::int64_t{1} << 40;

[[noreturn]] void refuse(std::string const& path, std::string const& what) { throw InputError(path + ": " + what); }

/// Returns a value as text for a message.
std::string shown(Json const& value) {
  constexpr std::size_t longest = 40;
  if (value.is_structured()) return value.is_array() ? "a list of " + std::to_string(value.size()) : "an object";
  auto const text = value.dump();
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

/// A value of the file and its path.
struct Entry {
  Json const& value;
  std::string path;

  /// Checks that the value is an object with all `required` keys and no others except `optional` ones.
  void keys(std::vector<std::string> const& required, std::vector<std::string> const& optional = {}) const {
    std::vector<std::string> known = required;
    known.insert(known.end(), optional.begin(), optional.end());
    std::string const names = input::joined(known);
    if (!value.is_object())
      refuse(path.empty() ? "the file" : path, shown(value) + "; allowed: an object with " + names);
    for (auto const& [key, entry] : value.items())
      if (std::ranges::find(known, key) == known.end()) refuse(below(key), input::unknown_key(key, known, {}));
    for (auto const& key : required)
      if (!value.contains(key)) refuse(below(key), "missing; allowed: an object with " + names);
  }
  std::string below(std::string const& key) const { return path.empty() ? key : path + "." + key; }
  Entry operator[](std::string const& key) const { return {value.at(key), below(key)}; }
  Entry operator[](std::size_t i) const { return {value.at(i), path + "[" + std::to_string(i) + "]"}; }
  std::size_t size() const { return value.size(); }

  /// Checks that the value is a list. of: name of its entries. count: their number; -1: at least one; -2: any number.
  Entry const& list(std::string const& of, std::int64_t count = -1) const {
    if (!value.is_array()) refuse(path, shown(value) + "; allowed: a list of " + of);
    auto const found = static_cast<std::int64_t>(value.size());
    if (count >= 0 && found != count)
      refuse(path, "a list of " + std::to_string(found) + "; allowed: a list of " + std::to_string(count) + ": " + of);
    if (count == -1 && found == 0) refuse(path, "an empty list; allowed: a list of " + of);
    return *this;
  }
  /// Returns the value, which must be finite in fp32.
  double number() const {
    if (!value.is_number()) refuse(path, shown(value) + "; allowed: a number");
    double const read = value.get<double>();
    if (!(std::abs(read) <= largest)) refuse(path, shown(value) + " is not finite in fp32; allowed: a finite number");
    return read;
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    auto const allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    bool const fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 63 == 0);
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
      refuse(path, shown(value) + "; allowed: " + allowed);
    return value.get<std::int64_t>();
  }
};

std::vector<std::int64_t> masked_of(Entry const& list, std::int64_t count) {
  std::vector<std::int64_t> masked;
  list.list("elements without gradient", -2);
  if (count == 0 && list.size() > 0)
    refuse(list.path, shown(list.value) + " for a tensor without elements; allowed: []");
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto const element = list[i].whole(0, count - 1);
    if (std::ranges::find(masked, element) != masked.end())
      refuse(list[i].path, shown(list[i].value) + " given again; allowed: each element once");
    masked.push_back(element);
  }
  std::ranges::sort(masked);
  return masked;
}

/// Reads `initial`: values, or a sine.
Values initial_of(Entry const& given) {
  Values values;
  if (given.value.is_object()) {
    given.keys({"count", "height", "step", "shift"});
    double const height = given["height"].number(), step = given["step"].number(), shift = given["shift"].number();
    auto const count = given["count"].whole(0, most_elements);
    for (std::int64_t k = 0; k < count; ++k)
      values.push_back(static_cast<float>(height * std::sin(step * static_cast<double>(k) + shift)));
    return values;
  }
  given.list("numbers, or an object with count, height, step, shift", -2);
  for (std::size_t k = 0; k < given.size(); ++k) values.push_back(static_cast<float>(given[k].number()));
  return values;
}

struct Tensor {
  std::string name;
  double decay;
  std::vector<std::int64_t> masked;
  Values initial;
};

std::vector<Tensor> tensors_of(Entry const& list) {
  std::vector<Tensor> tensors;
  list.list("tensors");
  for (std::size_t l = 0; l < list.size(); ++l) {
    auto const given = list[l];
    given.keys({"name", "initial"}, {"weight_decay", "dead"});
    auto const name = given["name"];
    if (!name.value.is_string() || name.value.get<std::string>().empty())
      refuse(name.path, shown(name.value) + "; allowed: a text");
    if (std::ranges::find(tensors, name.value.get<std::string>(), &Tensor::name) != tensors.end())
      refuse(name.path, shown(name.value) + " given again; allowed: each tensor once");
    auto initial = initial_of(given["initial"]);
    double const decay =
        given.value.contains("weight_decay")
            ? read_deck_number("weight_decay", given.below("weight_decay"), given.value["weight_decay"])
            : 0;
    std::vector<std::int64_t> masked;
    if (given.value.contains("dead")) masked = masked_of(given["dead"], static_cast<std::int64_t>(initial.size()));
    tensors.push_back({name.value.get<std::string>(), decay, std::move(masked), std::move(initial)});
  }
  if (std::ranges::all_of(tensors, [](Tensor const& tensor) { return tensor.initial.empty(); }))
    refuse(list.path, "no tensor has elements; allowed: at least one element");
  return tensors;
}

std::string of_ranks(int ranks) { return std::to_string(ranks) + ", the number of ranks of this run"; }

/// Checks gradients given by a formula. Returns the calls that are not finite.
std::set<std::int64_t> check_formula(Entry const& given, ParameterLayout const& layout, int ranks) {
  given.keys({"calls", "ranks", "phase", "height"}, {"late", "not_finite"});
  auto const calls = given["calls"].whole(1, most_calls);
  if (given["ranks"].whole(1, std::numeric_limits<int>::max()) != ranks)
    refuse(given.below("ranks"), shown(given.value["ranks"]) + "; allowed: " + of_ranks(ranks));
  given["phase"].number();
  auto const& tensors = layout.tensors();
  auto const height = given["height"];
  height.list("one for each tensor", std::ssize(tensors));
  for (std::size_t l = 0; l < height.size(); ++l) height[l].number();
  auto const each = [&](char const* key, std::string const& of, auto const& judge) {
    if (!given.value.contains(key)) return;
    auto const list = given[key];
    list.list(of, -2);
    for (std::size_t i = 0; i < list.size(); ++i) judge(list[i].list(of, 4));
  };
  auto const elements_of = [&](Entry const& tensor) {
    return tensors[static_cast<std::size_t>(tensor.whole(0, std::ssize(tensors) - 1))].count;
  };
  each("late", "tensor, first element, elements, first call", [&](Entry const& late) {
    auto const count = elements_of(late[0]);
    auto const first = late[1].whole(0, count);
    late[2].whole(0, count - first);
    late[3].whole(1, most_calls);
  });
  std::set<std::int64_t> bad_calls;
  each("not_finite", "call, rank, tensor, element", [&](Entry const& bad) {
    bad_calls.insert(bad[0].whole(1, calls));
    bad[1].whole(0, ranks - 1);
    bad[3].whole(0, elements_of(bad[2]) - 1);
  });
  return bad_calls;
}

std::set<std::int64_t> check_recorded(Entry const& steps, ParameterLayout const& layout, int ranks) {
  std::set<std::int64_t> bad_calls;
  auto const& tensors = layout.tensors();
  steps.list("steps, each a list of ranks");
  for (std::size_t step = 0; step < steps.size(); ++step) {
    auto const by_rank = steps[step];
    by_rank.list("ranks: " + of_ranks(ranks), -2);
    if (std::ssize(by_rank.value) != ranks)
      refuse(by_rank.path, std::to_string(by_rank.size()) + " ranks; allowed: " + of_ranks(ranks));
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      auto const by_tensor = by_rank[rank];
      by_tensor.list("one list for each tensor", std::ssize(tensors));
      for (std::size_t l = 0; l < tensors.size(); ++l) {
        auto const elements = by_tensor[l];
        elements.list("elements of tensor \"" + tensors[l].name + "\"", tensors[l].count);
        for (std::size_t k = 0; k < elements.size(); ++k) {
          auto const& value = elements.value[k];
          if (value.is_null())
            bad_calls.insert(static_cast<std::int64_t>(step) + 1);
          else if (!value.is_number() || !(std::abs(value.get<double>()) <= largest))
            refuse(elements[k].path,
                   shown(value) + "; allowed: a number that is finite in fp32, or null for one that is not");
        }
      }
    }
  }
  return bad_calls;
}

Values from_formula(Json const& spec, ParameterLayout const& layout, int call, int rank) {
  Values all;
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    double const height = spec.at("height").at(l), phase = spec.at("phase");
    for (std::int64_t k = 0; k < layout.tensors()[l].count; ++k) {
      double value = height * (std::sin(0.7 * call + static_cast<double>(k) + phase * rank) +
                               0.25 * std::cos(1.3 * call * static_cast<double>(k) + rank));
      for (auto const& late : spec.value("late", Json::array()))
        if (late[0] == l && k >= late[1] && k < late[1].get<std::int64_t>() + late[2].get<std::int64_t>() &&
            call < late[3])
          value = 0;
      for (auto const& bad : spec.value("not_finite", Json::array()))
        if (bad[0] == call && bad[1] == rank && bad[2] == l && bad[3] == k)
          value = std::numeric_limits<double>::quiet_NaN();
      all.push_back(static_cast<float>(value));
    }
  }
  return all;
}

}  // namespace

ReplayInput::ReplayInput(Json document, int ranks) {
  Entry const file{document, ""};
  file.keys({"optimizer", "tensors", "learning_rates", "gradients"});
  settings = read_settings(document["optimizer"]);
  auto const tensors = tensors_of(file["tensors"]);
  auto& decay = settings.optimizer.weight_decay = 0;
  for (auto const& tensor : tensors) decay = std::max(decay, tensor.decay);
  for (auto const& tensor : tensors) {
    auto const count = std::ssize(tensor.initial);
    layout.add({.name = tensor.name,
                .shape = {count},
                .decays = tensor.decay > 0,
                .decay_share = tensor.decay > 0 ? tensor.decay / decay : 0,
                .active = count,
                .masked = tensor.masked});
    initial.insert(initial.end(), tensor.initial.begin(), tensor.initial.end());
  }
  auto const given = file["gradients"];
  bool const formula = given.value.is_object();
  auto const bad_calls = formula ? check_formula(given, layout, ranks) : check_recorded(given, layout, ranks);
  calls = formula ? given.value["calls"].get<int>() : static_cast<int>(given.size());
  auto const steps = calls - std::ssize(bad_calls);
  auto const list = file["learning_rates"];
  list.list("one for each step of gradients" + std::string(bad_calls.empty() ? "" : " that is finite on all ranks"),
            steps);
  for (std::size_t t = 0; t < list.size(); ++t) rates.push_back(read_deck_number("lr", list[t].path, list[t].value));
  gradients_ = std::move(document["gradients"]);
}

Values ReplayInput::gradient(int call, int rank) const {
  if (gradients_.is_object()) return from_formula(gradients_, layout, call, rank);
  Values all;
  for (auto const& tensor : gradients_[static_cast<std::size_t>(call - 1)][static_cast<std::size_t>(rank)])
    for (auto const& value : tensor)
      all.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                    : static_cast<float>(value.get<double>()));
  return all;
}

Json parse_json(std::istream& text) {
  std::vector<std::set<std::string>> open;
  auto const judge = [&open](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      refuse(parsed.get<std::string>(), "given again; allowed: a key once in each object");
    return true;
  };
  try {
    return Json::parse(text, judge);
  } catch (Json::exception const& error) {
    std::string const what = error.what();
    throw InputError("not JSON: " + what.substr(what.find("] ") + 2));
  }
}

}  // namespace bellwether::test
