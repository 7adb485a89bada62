// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "tests/support/replay_input.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <sstream>

using namespace bellwether;
using nlohmann::json;
using test::ReplayInput;
using Faults = std::vector<std::string>;

namespace {

constexpr int ranks = 2;

/// Returns a valid document with two tensors and three steps.
json good() {
  return json::parse(R"({
    "optimizer": {"name": "onebit_lamb", "betas": [0.9, 0.99], "freeze": {"step": 2}},
    "tensors": [{"name": "a", "initial": [0.5, -0.5, 1.0], "weight_decay": 0.01, "dead": [2]},
                {"name": "b", "initial": [0.1, 0.2]}],
    "learning_rates": [0.01, 0.02, 0.03],
    "gradients": [[[[1, 2, 0], [3, 4]], [[1, 2, 0], [3, 4]]],
                  [[[1, 2, 0], [3, 4]], [[1, 2, 0], [3, 4]]],
                  [[[1, 2, 0], [3, 4]], [[1, 2, 0], [3, 4]]]]})");
}

/// Returns the same document with gradients given by a formula.
json formula() {
  auto document = good();
  document["gradients"] = {{"calls", 3}, {"ranks", 2}, {"phase", 1.1}, {"height", {0.1, 0.2}}};
  return document;
}

Faults faults_of(json const& document) {
  try {
    ReplayInput(document, ranks);
  } catch (InputError const& error) {
    return error.faults();
  }
  return {};
}

/// Returns the only fault of `document` after setting the value at `pointer`.
std::string fault(json document, char const* pointer, json const& value) {
  document[json::json_pointer(pointer)] = value;
  auto const faults = faults_of(document);
  INFO(pointer << " " << value);
  REQUIRE(faults.size() == 1);
  return faults[0];
}
std::string fault(char const* pointer, json const& value) { return fault(good(), pointer, value); }

std::string fault_without(char const* pointer, json document = good()) {
  auto const at = json::json_pointer(pointer);
  document[at.parent_pointer()].erase(at.back());
  auto const faults = faults_of(document);
  INFO(pointer);
  REQUIRE(faults.size() == 1);
  return faults[0];
}

std::string parse_fault(std::string const& text) {
  std::istringstream stream(text);
  try {
    test::parse_json(stream);
  } catch (InputError const& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("replay accepts its format") {
  CHECK(faults_of(good()) == Faults());
  CHECK(faults_of(formula()) == Faults());
  ReplayInput const input(good(), ranks);
  CHECK(input.calls == 3);
  CHECK(input.rates == std::vector<double>{0.01, 0.02, 0.03});
  CHECK(input.initial == std::vector<float>{0.5f, -0.5f, 1.0f, 0.1f, 0.2f});
  CHECK(input.gradient(3, 1) == std::vector<float>{1, 2, 0, 3, 4});
  CHECK(input.layout.tensors()[0].masked == std::vector<std::int64_t>{2});
  CHECK(input.settings.optimizer.freeze.step == 2);
  CHECK(input.settings.optimizer.beta2 == 0.99);
  CHECK(input.settings.optimizer.weight_decay == 0.01);
  CHECK(input.settings.optimizer.unify == optim::Unify::layer);
  CHECK_FALSE(input.settings.optimizer.nesterov);
  CHECK(input.settings.comm.scale_groups == 1);
}

TEST_CASE("replay accepts the deck's keys") {
  auto document = good();
  document["optimizer"].update(json::parse(R"({"error_feedback": false, "dense_wire": "bf16", "scale_groups": null,
    "exchange": "gradient", "nesterov": true, "steer": "norm", "frozen_variance": "shape", "unify": "element", "gradient_limit": 0.5,
    "scale": "mean_magnitude", "seed": 7, "clip": 1.0, "sketch_columns": 256, "bias_correction": false,
    "factor_min": 0.5})"));
  ReplayInput const input(document, ranks);
  auto const& [optimizer, comm, seed] = input.settings;
  CHECK_FALSE(comm.error_feedback);
  CHECK(comm.dense_wire == comm::Wire::bf16);
  CHECK_FALSE(comm.scale_groups.has_value());
  CHECK(optimizer.steer == optim::Steer::norm);
  CHECK(optimizer.frozen_variance == optim::FrozenVariance::shape);
  CHECK(optimizer.gradient_limit == 0.5);
  CHECK(optimizer.nesterov);
  document["optimizer"].erase("frozen_variance");
  document["optimizer"]["kept_variance"] = "whole";  // a file of an earlier version
  CHECK(ReplayInput(document, ranks).settings.optimizer.frozen_variance == optim::FrozenVariance::whole);
  CHECK(optimizer.sketch_columns == 256);
  CHECK(seed == 7);
}

TEST_CASE("replay freezes at the file's step only") {
  for (auto const* method : {"onebit_lamb", "onebit_adam"}) {
    auto document = good();
    document["optimizer"]["name"] = method;
    for (int const step : {0, 1})
      CHECK(fault(document, "/optimizer/freeze/step", step) ==
            "optimizer.freeze.step: " + std::to_string(step) +
                " leaves no variance to freeze; at least 2 with method: " + method);
    for (json const& freeze : {json("auto"), json{{"step", 7}}, json{{"latest", 0.5}}, json::object()}) {
      document["optimizer"]["freeze"] = freeze;
      ReplayInput const input(document, ranks);
      auto const& read = input.settings.optimizer.freeze;
      CHECK(read.step.value_or(-1) == (freeze.contains("step") ? 7 : -1));
      CHECK(read.latest == (freeze.contains("latest") ? 0.5 : 0.25));
    }
  }
  CHECK(fault("/optimizer/freeze", {{"stp", 3}}) ==
        "optimizer.freeze.stp: unknown key (did you mean 'step'?); one of step, latest");
  CHECK(fault("/optimizer/freeze", "soon").starts_with("optimizer.freeze: "));
  CHECK(fault("/optimizer/freeze", "soon").ends_with("; allowed: auto or keys step, latest"));
  CHECK(fault("/optimizer/freeze", 3) == "optimizer.freeze: unknown value '3'; allowed: auto or keys step, latest");
  CHECK(fault("/optimizer/freeze", {3}) ==
        "optimizer.freeze: a list is not a map of keys; allowed: auto or keys step, latest");
  CHECK(fault("/optimizer/freeze/step", 2.5).starts_with("optimizer.freeze.step: '2.5' is not a whole number; "));
  CHECK(fault("/optimizer/freeze/step", "2").starts_with("optimizer.freeze.step: the text '2' in quotes is not a "));
  CHECK(fault("/optimizer/freeze", {{"latest", 1.5}}).starts_with("optimizer.freeze.latest: '1.5' is out of range; "));
  CHECK(fault("/optimizer/freeze/latest", 0.5) ==
        "optimizer.freeze.latest: does not apply here; only with freeze: auto");
  CHECK(fault_without("/optimizer/freeze").starts_with("optimizer.freeze: missing; "));
  auto const without = [](std::string const& method) {
    auto document = good();
    document["optimizer"] = {{"name", method}};
    return document;
  };
  CHECK(faults_of(without("lamb")) == Faults());
  CHECK(fault(without("lamb"), "/optimizer/freeze", "auto").starts_with("optimizer.freeze: does not apply here; "));
}

TEST_CASE("replay refuses the settings that a deck refuses") {
  CHECK(fault("/optimizer/betas/0", 1.0) ==
        "optimizer.betas[0]: '1.0' is out of range; allowed: a number of at least 0 and less than 1");
  CHECK(fault("/optimizer/betas/1", -0.1) ==
        "optimizer.betas[1]: '-0.1' is out of range; allowed: a number of at least 0 and less than 1");
  CHECK(fault("/optimizer/betas", {0.9}) == "optimizer.betas: [0.9]; allowed: a list of two numbers, beta1 and beta2");
  CHECK(fault("/optimizer/beta1", 0.9) == "optimizer.beta1: given again; allowed: once, as betas[0]");
  CHECK(fault("/optimizer/min_coefficient", 0.5) ==
        "optimizer.min_coefficient: 0.5 is above max_coefficient; at most 0.3");
  CHECK(fault("/optimizer/max_coefficient", 0.001) ==
        "optimizer.max_coefficient: 0.001 is below min_coefficient; at least 0.01");
  CHECK(fault("/optimizer/factor_min", 5) == "optimizer.factor_min: 5 is above factor_max; at most 4");
  CHECK(fault("/optimizer/epsilon", 0).starts_with("optimizer.epsilon: '0' is out of range; "));
  CHECK(fault("/optimizer/epsilon", nullptr).starts_with("optimizer.epsilon: nothing is not a number; "));
  CHECK(fault("/optimizer/coefficient_beta", 1).starts_with("optimizer.coefficient_beta: '1' is out of range; "));
  CHECK(fault("/optimizer/factor_threshold", 2).starts_with("optimizer.factor_threshold: '2' is out of range; "));
  CHECK(fault("/optimizer/sketch_columns", 200) == "optimizer.sketch_columns: 200 columns; a multiple of 128");
  CHECK(fault("/optimizer/clip", -1).starts_with("optimizer.clip: '-1' is out of range; "));
  CHECK(fault("/optimizer/seed", -1).starts_with("optimizer.seed: '-1' is out of range; "));
  CHECK(fault("/optimizer/scale_groups", 0).starts_with("optimizer.scale_groups: '0' is out of range; "));
  CHECK(fault("/optimizer/error_feedback", 0) ==
        "optimizer.error_feedback: '0' is not a truth value; allowed: true or false");
  CHECK(fault("/optimizer/dense_wire", "fp16") == "optimizer.dense_wire: unknown value 'fp16'; one of fp32, bf16");
  CHECK(fault("/optimizer/unify", "layers")
            .starts_with("optimizer.unify: unknown value 'layers' (did you mean 'layer'?)"));
  CHECK(fault("/optimizer/name", "onebit").starts_with("optimizer.name: unknown value 'onebit'"));
  CHECK(fault_without("/optimizer/name")
            .starts_with("optimizer.name: missing; allowed: one of lamb, adamw, sgd, onebit_lamb"));
  CHECK(fault("/optimizer", "onebit_lamb").starts_with("optimizer: \"onebit_lamb\"; allowed: an object"));
  CHECK(fault("/optimizer/frozen_variance", "shape").starts_with("optimizer.frozen_variance: does not apply here; "));
  for (auto const* method : {"onebit_lamb", "onebit_adam", "onebit_sgd"}) {
    auto document = good();
    document["optimizer"]["name"] = method;
    CHECK(faults_of(document) == Faults());
    CHECK(fault(document, "/optimizer/bias_correction", true) ==
          "optimizer.bias_correction: true, but method: " + std::string(method) +
              " has none; set it to false, or use method: lamb or adamw");
    CHECK(fault(document, "/optimizer/betas/1", 2).starts_with("optimizer.betas[1]: '2' is out of range; "));
  }
  auto document = good();
  document["optimizer"] = {{"name", "adamw"}};
  CHECK(fault(document, "/optimizer/error_feedback", false).starts_with("optimizer.error_feedback: does not apply"));
  CHECK(fault(document, "/optimizer/scale_groups", 2).starts_with("optimizer.scale_groups: does not apply"));
}

TEST_CASE("replay refuses unknown keys everywhere") {
  CHECK(fault("/learning_rate", 1) ==
        "learning_rate: unknown key (did you mean 'learning_rates'?); one of optimizer, "
        "tensors, learning_rates, gradients");
  CHECK(fault("/tensors/1/weigth_decay", 0.1) ==
        "tensors[1].weigth_decay: unknown key (did you mean 'weight_decay'?); "
        "one of name, initial, weight_decay, dead");
  CHECK(fault("/optimizer/epsilonn", 1).starts_with("optimizer.epsilonn: unknown key (did you mean 'epsilon'?); "));
  for (auto const* key : {"lr", "weight_decay", "step_ahead", "skip_limit", "hierarchy", "method"})
    CHECK(fault((std::string("/optimizer/") + key).c_str(), 1)
              .starts_with("optimizer." + std::string(key) + ": unknown"));
  CHECK(fault("/tensors/0/initial", {{"count", 3}, {"height", 1}, {"step", 1}, {"shft", 1}})
            .starts_with("tensors[0].initial.shft: unknown key (did you mean 'shift'?); one of count"));
  CHECK(
      fault(formula(), "/gradients/phases", 1).starts_with("gradients.phases: unknown key (did you mean 'phase'?); "));
  CHECK(fault_without("/tensors") ==
        "tensors: missing; allowed: an object with optimizer, tensors, learning_rates, gradients");
  CHECK(fault_without("/tensors/0/initial").starts_with("tensors[0].initial: missing; "));
  CHECK(fault_without("/gradients/phase", formula()).starts_with("gradients.phase: missing; "));
  CHECK(faults_of(json::array()) ==
        Faults{"the file: a list of 0; allowed: an object with optimizer, tensors, learning_rates, gradients"});
}

TEST_CASE("replay refuses wrong masked elements and accepts them in any order") {
  auto document = good();
  document["tensors"][0]["dead"] = {2, 0};
  CHECK(ReplayInput(document, ranks).layout.tensors()[0].masked == std::vector<std::int64_t>{0, 2});
  CHECK(fault("/tensors/0/dead", {0, 2, 0}) == "tensors[0].dead[2]: 0 given again; allowed: each element once");
  for (json const& bad : {json(-1), json(3), json(1.5), json("1"), json(std::uint64_t{1} << 63)})
    CHECK(fault("/tensors/0/dead", {0, bad}) ==
          "tensors[0].dead[1]: " + bad.dump() + "; allowed: a whole number from 0 to 2");
  CHECK(fault("/tensors/0/dead", 1) == "tensors[0].dead: 1; allowed: a list of elements without gradient");
  document["tensors"][0] = {{"name", "a"}, {"initial", json::array()}, {"dead", {0}}};
  CHECK(faults_of(document) == Faults{"tensors[0].dead: a list of 1 for a tensor without elements; allowed: []"});
}

TEST_CASE("replay refuses invalid tensors") {
  CHECK(fault("/tensors/1/name", "a") == "tensors[1].name: \"a\" given again; allowed: each tensor once");
  CHECK(fault("/tensors/1/name", 5) == "tensors[1].name: 5; allowed: a text");
  CHECK(fault("/tensors", json::array()) == "tensors: an empty list; allowed: a list of tensors");
  CHECK(fault("/tensors/1/weight_decay", -1) ==
        "tensors[1].weight_decay: '-1' is out of range; allowed: a number from 0 to 10");
  CHECK(fault("/tensors/0/initial/1", nullptr) == "tensors[0].initial[1]: null; allowed: a number");
  CHECK(fault("/tensors/0/initial/1", 1e39) ==
        "tensors[0].initial[1]: 1e+39 is not finite in fp32; allowed: a finite number");
  auto document = good();
  for (auto& tensor : document["tensors"]) tensor = {{"name", tensor["name"]}, {"initial", json::array()}};
  CHECK(faults_of(document) == Faults{"tensors: no tensor has elements; allowed: at least one element"});
}

TEST_CASE("replay refuses gradients of the wrong shape") {
  CHECK(fault("/gradients/2/1/0", {1, 2}) ==
        "gradients[2][1][0]: a list of 2; allowed: a list of 3: elements of tensor \"a\"");
  // The total number of elements is right.
  CHECK(fault("/gradients/1/0", json::parse("[[1, 2], [0, 3, 4]]")) ==
        "gradients[1][0][0]: a list of 2; allowed: a list of 3: elements of tensor \"a\"");
  CHECK(fault("/gradients/1/0", json::parse("[[1, 2, 0, 3, 4]]")) ==
        "gradients[1][0]: a list of 1; allowed: a list of 2: one list for each tensor");
  auto document = good();
  document["gradients"][1].push_back(document["gradients"][1][0]);
  CHECK(faults_of(document) == Faults{"gradients[1]: 3 ranks; allowed: 2, the number of ranks of this run"});
  CHECK(fault("/gradients/2", json::array()) == "gradients[2]: 0 ranks; allowed: 2, the number of ranks of this run");
  CHECK(fault(formula(), "/gradients/ranks", 4) == "gradients.ranks: 4; allowed: 2, the number of ranks of this run");
  CHECK(fault("/gradients", json::array()) ==
        "gradients: an empty list; allowed: a list of steps, each a list of ranks");
  CHECK(fault("/gradients/0/1/1/0", "x") ==
        "gradients[0][1][1][0]: \"x\"; allowed: a number that is finite in fp32, or null for one that is not");
  CHECK(fault("/gradients/0/1/1/0", 1e300)
            .starts_with("gradients[0][1][1][0]: 1e+300; allowed: a number that is finite in fp32"));
  CHECK(fault(formula(), "/gradients/height", {1}) ==
        "gradients.height: a list of 1; allowed: a list of 2: one for each tensor");
  CHECK(fault(formula(), "/gradients/calls", 0).starts_with("gradients.calls: 0; allowed: a whole number from 1 to "));
  CHECK(fault(formula(), "/gradients/not_finite", json::parse("[[4, 0, 0, 0]]")) ==
        "gradients.not_finite[0][0]: 4; allowed: a whole number from 1 to 3");
  CHECK(fault(formula(), "/gradients/late", json::parse("[[0, 1, 3, 2]]")) ==
        "gradients.late[0][2]: 3; allowed: a whole number from 0 to 2");
}

TEST_CASE("replay needs a rate for each step that is not skipped") {
  CHECK(fault("/learning_rates", {0.1, 0.1}) ==
        "learning_rates: a list of 2; allowed: a list of 3: one for each step of gradients");
  CHECK(fault("/learning_rates", {1, 1, 1, 1}) ==
        "learning_rates: a list of 4; allowed: a list of 3: one for each step of gradients");
  CHECK(fault("/learning_rates/1", nullptr).starts_with("learning_rates[1]: nothing is not a number; "));
  CHECK(fault("/learning_rates/1", -0.1)
            .starts_with("learning_rates[1]: '-0.1' is out of range; allowed: a number from 0 to"));
  auto document = good();
  document["gradients"][1][0][1][0] = nullptr;
  document["gradients"][1][1][1][0] = nullptr;
  CHECK(faults_of(document) == Faults{"learning_rates: a list of 3; allowed: a list of 2: one for each step of "
                                      "gradients that is finite on all ranks"});
  document["learning_rates"] = {0.1, 0.1};
  CHECK(std::isnan(ReplayInput(document, ranks).gradient(2, 1)[3]));
}

TEST_CASE("replay refuses text that is not JSON and keys given twice") {
  CHECK(parse_fault(R"({"a": [1, {"b": 2}], "c": {"b": 3}})").empty());
  for (auto const* text : {"", "{", R"({"a": NaN})", R"({"a": Infinity})", R"({"a": 1e999})", "{} {}"}) {
    INFO(text);
    CHECK(parse_fault(text).starts_with("not JSON: "));
  }
  CHECK(parse_fault(R"({"a": {"b": 1, "c": 2, "b": 3}})") == "b: given again; allowed: a key once in each object");
}
