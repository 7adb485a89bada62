// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/log/progress.hpp"

#include "app/format/readable_numbers.hpp"
#include "app/launch/terminal.hpp"
#include "input/text/odd_characters.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iostream>
#include <utility>

namespace bellwether::app {
namespace {

using Json = nlohmann::ordered_json;

/// Exponentially decaying sums: each step reduces the weight of the past by 5 %, so that a slow start is soon
/// forgotten.
struct Recent {
  double tokens = 0, flops = 0, seconds = 0, steps = 0;

  void add(double more_tokens, double more_flops, double more_seconds) {
    constexpr double keep = 0.95;
    tokens = keep * tokens + more_tokens;
    flops = keep * flops + more_flops;
    seconds = keep * seconds + more_seconds;
    steps = keep * steps + 1;
  }
};

template <class Row>
Json json_of(char const* event, Row const& row) {
  Json object{{"event", event}};
  Row::describe(row, [&](char const* name, char const*, auto value) { object[name] = value; });
  return object;
}

}  // namespace

struct Progress::Impl {
  ProgressOptions options;
  RunDescription run{};
  std::FILE* out;
  Terminal terminal;
  bool on_line = false;   // the line is on the screen
  bool reported = false;  // that output is lost
  Recent recent{};
  StepRow previous{};
  ProgressLine shown{};
  double shown_at = -1;  // wall_seconds
  std::array<char, 400> line{};

  Impl(ProgressOptions wanted, std::FILE* file) : options(wanted), out(file), terminal(file) {}

  /// Returns true if one line is redrawn in place.
  bool renews() const { return options.form == LogForm::automatic && terminal.exists(); }

  /// Flushes what was printed. The first loss is reported on standard error. The run goes on, because its checkpoints
  /// and statistics matter more. A reader that has ended, as in `| head`, is no loss.
  void flush() {
    errno = 0;
    bool const lost = std::fflush(out) != 0 || std::ferror(out) != 0;
    int const error = errno;
    if (!lost) return;
    std::clearerr(out);  // a disk may have room again
    // Without a reason an earlier call has met it; the next one meets it again.
    if (error == 0 || error == EPIPE || std::exchange(reported, true)) return;
    std::cerr << "warning: standard output: cannot be written: " << std::strerror(error)
              << "; training goes on, and this log lacks lines" << std::endl;
  }

  bool json() const { return options.form == LogForm::json; }

  void erase() {
    if (on_line) std::fputs("\r\x1b[K", out);
    on_line = false;
  }

  void draw() {
    fit_line(shown, terminal.columns(), line.data(), line.size());
    std::fprintf(out, "\r%s\x1b[K", line.data());
    flush();
    on_line = true;
  }

  /// Prints a separate line. The line that is redrawn in place continues below it. A path in `text` may contain control
  /// characters, which are written as codes.
  void say(char const* event, std::string const& text) {
    if (json()) {
      tell(Json{{"event", event}, {"text", text}});
      return;
    }
    bool const again = on_line;
    erase();
    std::fprintf(out, "%s\n", input::with_codes(text).c_str());
    if (again) draw();
    flush();
  }

  void tell(Json const& object) {
    std::fprintf(out, "%s\n", object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    flush();
  }
};

Progress::Progress(ProgressOptions options, std::FILE* out) : impl_(std::make_unique<Impl>(options, out)) {}

Progress::~Progress() {
  if (!impl_->on_line) return;
  std::fputs("\n", impl_->out);
  impl_->flush();
}

void Progress::step(StepRow const& row, double flops) {
  auto& now = *impl_;
  double const seconds = row.wall_seconds - now.previous.wall_seconds;
  // The time before the first step of this job is unknown, so there is no rate yet.
  bool const first = now.previous.step == 0;
  if (!first && seconds > 0) now.recent.add(static_cast<double>(row.tokens - now.previous.tokens), flops, seconds);
  now.previous = row;
  auto const& recent = now.recent;
  bool const known = recent.seconds > 0;
  double const flops_per_second = known ? recent.flops / recent.seconds : not_measured;
  auto& shown = now.shown;
  shown = {.step = row.step,
           .steps = now.options.steps,
           .loss = row.loss,
           .mlm_accuracy = row.mlm_accuracy,
           .learning_rate = row.learning_rate,
           .tokens_per_second = known ? recent.tokens / recent.seconds : row.tokens_per_second,
           .gemm_share = now.options.gemm_flops_per_second > 0 ? flops_per_second / now.options.gemm_flops_per_second
                                                               : not_measured,
           .seconds_left =
               known ? recent.seconds / recent.steps * static_cast<double>(now.options.steps - row.step) : not_measured,
           .skipped = row.skipped != 0};
  if (now.json()) {
    Json object = json_of("step", row);
    object["steps"] = shown.steps;
    object["gemm_share"] = shown.gemm_share;
    object["seconds_left"] = shown.seconds_left;
    now.tell(object);
    return;
  }
  bool const last = row.step >= now.options.steps;
  if (now.renews()) {
    constexpr double redraw_seconds = 0.1;
    if (!last && now.shown_at >= 0 && row.wall_seconds - now.shown_at < redraw_seconds) return;
    now.shown_at = row.wall_seconds;
    now.draw();
  } else if (last || row.step % now.options.print_every == 0 || first || shown.skipped) {
    format_line(shown, now.line.data(), now.line.size());
    std::fprintf(now.out, "%s\n", now.line.data());
    now.flush();
  }
}

void Progress::compare_with(RunDescription const& run) { impl_->run = run; }

void Progress::evaluation(EvaluationRow const& row) {
  auto const [name, frequency_loss, context_free_loss] = impl_->run;
  if (impl_->json()) {
    Json object = json_of("evaluation", row);
    if (frequency_loss > 0) object["frequency_loss"] = frequency_loss;
    if (context_free_loss > 0) object["context_free_loss"] = context_free_loss;
    impl_->tell(object);
    return;
  }
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "held out at step %lld: loss %s  mlm %s  nsp %s  mlm acc %s  nsp acc %s",
                static_cast<long long>(row.step), loss_text(row.loss).data(), loss_text(row.mlm_loss).data(),
                loss_text(row.nsp_loss).data(), share_text(row.mlm_accuracy).data(),
                share_text(row.nsp_accuracy).data());
  std::string comparison;
  auto const compare = [&](char const* what, double reached) {
    comparison = std::string(row.mlm_loss < reached ? "  below " : "  not yet below ") + what + " (" +
                 loss_text(reached).data() + ")";
  };
  if (context_free_loss > 0)
    compare("the context-free loss", context_free_loss);
  else if (frequency_loss > 0)
    compare("word frequencies", frequency_loss);
  impl_->say("evaluation", text.data() + comparison);
}

void Progress::checkpoint(std::int64_t step, std::string const& path) {
  if (impl_->json())
    impl_->tell(Json{{"event", "checkpoint"}, {"step", step}, {"path", path}});
  else
    impl_->say("checkpoint", "checkpoint: " + path);
}

void Progress::checkpoint_in_passing(std::int64_t step, std::string const& path) {
  if (impl_->json()) checkpoint(step, path);
}

void Progress::note(std::string const& text) { impl_->say("note", text); }
void Progress::warning(std::string const& text) { impl_->say("warning", impl_->json() ? text : "warning: " + text); }

void Progress::finish(std::string const& summary) {
  if (impl_->on_line) std::fputs("\n", impl_->out);
  impl_->on_line = false;
  impl_->say("done", summary);
}

}  // namespace bellwether::app
