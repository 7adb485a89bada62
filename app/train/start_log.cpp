// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/start_log.hpp"

#include "app/checkpoint/durable_file.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bellwether::app {
namespace {

/// Counts the starts at `step` since the last start at another step or the last checkpoint. Ignores other lines.
int starts_at(std::int64_t step, std::string const& lines) {
  std::istringstream in(lines);
  std::string const wanted = " step " + std::to_string(step) + ",";
  int count = 0;
  for (std::string line; std::getline(in, line);)
    if (line.find(" checkpoint of step ") != line.npos)
      count = 0;
    else if (line.find(" step ") != line.npos)
      count = line.find(wanted) == line.npos ? 0 : count + 1;
  return count;
}

std::string now() {
  std::time_t const time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

StartLog::StartLog(std::string const& directory) : path_((std::filesystem::path(directory) / "starts.txt").string()) {}

/// Returns an empty text if there is no file. Throws if there is one that cannot be read.
std::string StartLog::read() const {
  auto const refuse = [&](std::string const& why) {
    throw InputError("run.directory: " + path_ + ": cannot be read: " + why + "; repair or remove it");
  };
  std::error_code status;
  auto const found = std::filesystem::status(path_, status);
  if (found.type() == std::filesystem::file_type::not_found) return "";
  if (status) refuse(status.message());
  if (found.type() != std::filesystem::file_type::regular) refuse("not a file");
  std::ifstream file(path_, std::ios::binary);
  if (!file.is_open() && input::is_lack_of_descriptors(errno))
    input::throw_unreadable("run.directory: " + path_ + ": cannot be read", errno);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad()) refuse(std::strerror(errno));
  return text.str();
}

void StartLog::require_progress(std::int64_t step) const {
  if (starts_at(step, read()) < fruitless_starts) return;
  throw InputError("run.directory: the last " + std::to_string(fruitless_starts) +
                   " starts of this run all began at step " + std::to_string(step) +
                   " and none wrote a checkpoint; set checkpoint.every or run.walltime " +
                   "so that a job reaches one, and remove " + path_ + " to try again");
}

void StartLog::add(std::string const& line) const {
  auto lines = read();
  if (!lines.empty() && !lines.ends_with('\n')) lines += '\n';
  write_text_file(path_, lines + now() + line + '\n');
}

void StartLog::append(std::int64_t step, int ranks) const {
  add(" step " + std::to_string(step) + ", " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
}

void StartLog::append_checkpoint(std::int64_t step) const { add(" checkpoint of step " + std::to_string(step)); }

void StartLog::remove_last() const {
  auto lines = read();
  if (lines.ends_with('\n')) lines.pop_back();
  auto const end = lines.rfind('\n');
  if (end != lines.npos)
    write_text_file(path_, lines.substr(0, end + 1));
  else
    std::filesystem::remove(path_);
}

}  // namespace bellwether::app
