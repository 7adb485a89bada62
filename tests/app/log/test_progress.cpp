// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/format/readable_numbers.hpp"
#include "app/launch/launcher.hpp"
#include "app/launch/terminal.hpp"
#include "app/log/progress.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace bellwether::app;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string written(ProgressOptions const& options, std::function<void(Progress&)> const& use) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  {
    Progress progress(options, out);
    use(progress);
  }
  std::fclose(out);
  std::string const all(text, size);
  std::free(text);
  return all;
}

StepRow row_of(std::int64_t step) {
  StepRow row;
  row.step = step;
  row.loss = 5.5;
  row.mlm_accuracy = 0.25;
  row.learning_rate = 0.001;
  row.tokens = 2000 * step;
  row.wall_seconds = 2 * static_cast<double>(step);
  return row;
}

std::string fitted(ProgressLine const& line, std::size_t columns) {
  std::array<char, 400> text{};
  auto const length = fit_line(line, columns, text.data(), text.size());
  std::string const found = text.data();
  CHECK(found.size() == length);
  return found;
}

constexpr ProgressLine usual{.step = 45,
                             .steps = 60,
                             .loss = 8.236,
                             .mlm_accuracy = 0.047,
                             .learning_rate = 0.0015,
                             .tokens_per_second = 3550,
                             .gemm_share = 0.531,
                             .seconds_left = 3725};

/// A pseudo-terminal. Programs write to its other end.
class PseudoTerminal {
 public:
  PseudoTerminal() : keyboard_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(keyboard_ >= 0);
    REQUIRE(grantpt(keyboard_) == 0);
    REQUIRE(unlockpt(keyboard_) == 0);
    screen_ = fdopen(open(ptsname(keyboard_), O_RDWR | O_NOCTTY), "w");
    REQUIRE(screen_ != nullptr);
  }
  ~PseudoTerminal() {
    std::fclose(screen_);
    close(keyboard_);
  }
  void widen(unsigned short columns) const {
    winsize const window{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(keyboard_, TIOCSWINSZ, &window) == 0);
  }
  std::FILE* screen() const { return screen_; }
  /// Returns the text up to the end of a line that is redrawn in place. The kernel may deliver it in pieces.
  std::string shown() const {
    std::string text;
    std::array<char, 4096> piece{};
    while (!text.ends_with("\x1b[K") || text.find('/', text.rfind('\r')) == std::string::npos) {
      auto const length = read(keyboard_, piece.data(), piece.size());
      if (length <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(length));
    }
    return text;
  }

 private:
  int keyboard_;
  std::FILE* screen_ = nullptr;
};

}  // namespace

TEST_CASE("A log that cannot be written is reported once on standard error; a reader that ends is not") {
  std::ostringstream told;
  auto* const before = std::cerr.rdbuf(told.rdbuf());
  auto const print = [](std::FILE* out) {
    {
      Progress progress({.form = LogForm::lines, .steps = 4, .print_every = 1}, out);
      for (int step = 1; step <= 4; ++step) progress.step(row_of(step), 1e9);
      progress.warning("a warning");
      progress.finish("finished");
    }
    std::fclose(out);
  };
  print(std::fopen("/dev/full", "w"));
  auto const full = told.str();
  told.str("");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  auto* const handler = std::signal(SIGPIPE, SIG_IGN);
  print(fdopen(ends[1], "w"));
  std::signal(SIGPIPE, handler);
  std::cerr.rdbuf(before);
  CHECK(full ==
        "warning: standard output: cannot be written: No space left on device; training goes on, and this log lacks "
        "lines\n");
  CHECK(told.str().empty());
}

TEST_CASE("A progress line of 80 columns holds every item") {
  CHECK(fitted(usual, 80) == "step 45/60  loss 8.236  mlm 4.7%   lr 1.5e-3  3.55k tok/s  gemm 53%  left 1h02m");
  auto line = usual;
  line.step = 7;
  line.steps = 20000;
  line.loss = 10.4812;
  line.mlm_accuracy = 0.4567;
  line.learning_rate = 9.96e-5;
  line.tokens_per_second = 123456;
  line.gemm_share = 0.07;
  line.seconds_left = 100 * 3600;
  CHECK(fitted(line, 80) == "step     7/20000 loss 10.48 mlm 45.7% lr 1.0e-4 123k tok/s  gemm 7%  left 4d04h");
  line.steps = 1'000'000;
  CHECK(fitted(line, 80) == "      7/1000000 loss 10.48 mlm 45.7% lr 1.0e-4 123k tok/s  gemm 7%  left 4d04h");
  // Items keep their positions before the first rate is known and without masked positions.
  ProgressLine const start{.step = 1,
                           .steps = 60,
                           .loss = 11.0,
                           .mlm_accuracy = not_measured,
                           .learning_rate = 0,
                           .tokens_per_second = not_measured,
                           .gemm_share = not_measured,
                           .seconds_left = not_measured};
  CHECK(fitted(start, 80) == "step  1/60  loss 11     mlm -      lr 0       - tok/s      gemm -    left -    ");
}

TEST_CASE("Narrow terminals omit whole items, the least important first") {
  CHECK(fitted(usual, 79) == "step 45/60 loss 8.236 mlm 4.7%  lr 1.5e-3 3.55k tok/s gemm 53% left 1h02m");
  CHECK(fitted(usual, 65) == "45/60 loss 8.236 mlm 4.7%  3.55k tok/s gemm 53% left 1h02m");
  CHECK(fitted(usual, 30) == "45/60 loss 8.236 left 1h02m");
  for (std::size_t columns = 1; columns < 200; ++columns) {
    auto const text = fitted(usual, columns);
    CHECK(text.size() < columns);
    std::istringstream words(text);
    std::vector<std::string> const known = {"step",   "45/60", "loss",  "8.236", "mlm", "4.7%", "lr",
                                            "1.5e-3", "3.55k", "tok/s", "gemm",  "53%", "left", "1h02m"};
    for (std::string word; words >> word;) CHECK(std::ranges::find(known, word) != known.end());
  }
  CHECK(fitted(usual, 1).empty());
}

TEST_CASE("Without a terminal, progress is plain lines") {
  auto const lines = written({.steps = 4, .print_every = 2, .gemm_flops_per_second = 1000}, [](Progress& progress) {
    for (std::int64_t step = 1; step <= 4; ++step) progress.step(row_of(step), 1000);
  });
  CHECK_THAT(lines, ContainsSubstring("step 2/4 (50%)  loss 5.500  mlm acc 25.0%  lr 0.001  1.00k tok/s  "
                                      "50.0% of GEMM speed  4s left\n"));
  CHECK_THAT(lines, !ContainsSubstring("step 3/4") && ContainsSubstring("step 4/4") && !ContainsSubstring("\r"));
}

TEST_CASE("Control characters in a path are written as their codes") {
  auto const lines = written({.steps = 4}, [](Progress& progress) {
    progress.note("run\x1b[31m");
    progress.warning("run\x1b[31m");
    progress.checkpoint(1, "run\x1b[31m/checkpoints");
    progress.finish("results are in run\x1b[31m");
  });
  CHECK(lines ==
        "run<U+001B>[31m\nwarning: run<U+001B>[31m\ncheckpoint: run<U+001B>[31m/checkpoints\n"
        "results are in run<U+001B>[31m\n");
}

TEST_CASE("On a terminal one line is redrawn at the width of the window") {
  // Remove the variables of the launcher that started the tests.
  for (auto const* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK"}) unsetenv(name);
  PseudoTerminal const terminal;
  CHECK(Terminal(terminal.screen()).exists());
  CHECK(Terminal(terminal.screen()).columns() == 80);
  terminal.widen(40);
  CHECK(Terminal(terminal.screen()).columns() == 40);
  Progress progress({.steps = 60, .gemm_flops_per_second = 1000}, terminal.screen());
  progress.step(row_of(1), 1000);
  CHECK(terminal.shown() == "\r 1/60 loss 5.500 mlm 25.0% left -    \x1b[K");
  progress.step(row_of(2), 1000);
  CHECK(terminal.shown() == "\r 2/60 loss 5.500 mlm 25.0% left 1m56s\x1b[K");
  progress.note("said between");
  CHECK(terminal.shown() == "\r\x1b[Ksaid between\r\n\r 2/60 loss 5.500 mlm 25.0% left 1m56s\x1b[K");
  terminal.widen(100);
  progress.step(row_of(3), 1000);
  CHECK_THAT(terminal.shown(), ContainsSubstring("mlm 25.0%  lr 1.0e-3  1.00k tok/s  gemm 50%  left 1m54s"));
}

TEST_CASE("Evaluations state whether they are below the loss of a model without context") {
  auto const evaluate = [](LogForm form, double frequencies, double context_free, double loss) {
    return written({.form = form, .steps = 2}, [&](Progress& progress) {
      progress.compare_with({.frequency_loss = frequencies, .context_free_loss = context_free});
      progress.evaluation({.step = 2, .tokens = 4000, .loss = loss + 1, .mlm_loss = loss});
    });
  };
  auto const lines = LogForm::lines;
  CHECK(evaluate(lines, 0, 0, 7).find("below") == std::string::npos);
  CHECK_THAT(evaluate(lines, 6.4, 5.8714, 6), ContainsSubstring("  not yet below the context-free loss (5.871)\n"));
  CHECK_THAT(evaluate(lines, 6.4, 5.8714, 5), ContainsSubstring("nsp acc -  below the context-free loss (5.871)\n"));
  // Shards of earlier versions do not record the context-free loss.
  CHECK_THAT(evaluate(lines, 6.4217, 0, 7), ContainsSubstring("  not yet below word frequencies (6.422)\n"));
  CHECK_THAT(evaluate(lines, 6.4217, 0, 6), ContainsSubstring("nsp acc -  below word frequencies (6.422)\n"));
  auto const object = nlohmann::json::parse(evaluate(LogForm::json, 6.5, 6.25, 7));
  CHECK((object.at("frequency_loss") == 6.5 && object.at("context_free_loss") == 6.25));
  CHECK(!nlohmann::json::parse(evaluate(LogForm::json, 6.5, 0, 7)).contains("context_free_loss"));
  CHECK(!nlohmann::json::parse(evaluate(LogForm::json, 0, 0, 7)).contains("frequency_loss"));
}

TEST_CASE("A launcher is detected by an ancestor, not by variables alone") {
  CHECK(starts_ranks("mpirun"));
  CHECK(starts_ranks("slurmstepd"));
  CHECK(starts_ranks("mpiexec.hydra"));
  CHECK_FALSE(starts_ranks("bash"));
  CHECK_FALSE(starts_ranks(""));
  for (auto const* name : {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) unsetenv(name);
  setenv("SLURM_PROCID", "3", 1);
  CHECK(launched_as().value().rank == 3);
  CHECK_FALSE(launched_as()->size.has_value());
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  CHECK(launched_as()->size == 4);
  CHECK(turn_to_tell().count() == 0);  // this process was not started with them
  setenv("PMI_RANK", "1", 1);
  CHECK(launched_as()->rank == 1);
  setenv("PMI_RANK", "one", 1);
  CHECK(launched_as()->rank == 3);
  for (auto const* name : {"PMI_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}) unsetenv(name);
}

TEST_CASE("Every JSON line is valid and holds the values that people read") {
  ProgressOptions const options{.form = LogForm::json, .steps = 2, .print_every = 50, .gemm_flops_per_second = 1000};
  auto const text = written(options, [](Progress& progress) {
    progress.note("quotes \" and \\ and \xff");
    progress.step(row_of(1), 1000);
    progress.step(row_of(2), 1000);
    progress.evaluation({.step = 2, .tokens = 4000, .loss = 5});
    progress.checkpoint(2, "run/checkpoints");
    progress.warning("careful");
    progress.finish("finished");
  });
  std::istringstream lines(text);
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  REQUIRE(objects.size() == 7);
  std::vector<std::string> events;
  for (auto const& object : objects) events.push_back(object.at("event"));
  CHECK(events == std::vector<std::string>{"note", "step", "step", "evaluation", "checkpoint", "warning", "done"});
  CHECK(objects[1].at("gemm_share").is_null());  // no rate before the second step
  auto const& step = objects[2];
  for (auto const* name :
       {"step", "loss", "mlm_accuracy", "learning_rate", "tokens_per_second", "gemm_share", "seconds_left"})
    CHECK(step.contains(name));
  CHECK(step.at("steps") == 2);
  CHECK(step.at("gemm_share") == 0.5);
  CHECK(step.at("seconds_left") == 0);
  CHECK(objects[3].at("loss") == 5);
  CHECK(objects[4].at("path") == "run/checkpoints");
}

TEST_CASE("the gradient noise is described in one sentence") {
  double const none = not_measured;
  CHECK(noise_text(480.4, 512, 100, 32) ==
        "gradient noise scale: 480 sequences at the end, on average 512, an estimate of the critical batch; this run's "
        "batch is 32");
  CHECK(noise_text(4804, none, 100, 32) ==
        "gradient noise scale: 4.80k sequences at the end, too few steps for its average; this run's batch is 32");
  CHECK(noise_text(none, 512, 100, 32) ==
        "gradient noise scale: unknown at the end, where noise hides the gradient; on average 512, an estimate of the "
        "critical batch; this run's batch is 32");
  CHECK_THAT(noise_text(none, none, none, 32), Catch::Matchers::StartsWith("gradient noise scale: unknown; it needs"));
}
