// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/output_file.hpp"

#include "app/checkpoint/durable_file.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_looked_at = 1024;

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  auto const first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? std::string_view() : text.substr(first);
}

/// `prefix`: in small letters.
bool starts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::ranges::equal(text.substr(0, prefix.size()), prefix, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

bool begins_html(std::string_view text) {
  auto const page = without_blanks(text);
  return starts_with(page, "<!doctype html") || starts_with(page, "<html");
}

bool begins_bench(std::string_view text) {
  auto const object = without_blanks(text);
  return object.starts_with('{') && without_blanks(object.substr(1)).starts_with("\"bench\"");
}

/// Returns the run's directory that a file lies in; empty if it lies in none.
fs::path run_around(fs::path const& file) {
  std::error_code ignored;
  for (auto folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "deck.resolved.yaml", ignored)) return folder;
  return {};
}

}  // namespace

OutputKind const html_page{"an HTML page", ".html", begins_html};
OutputKind const bench_results{"a result of bench", ".json", begins_bench};

void require_output_file(std::string const& path, OutputKind const& kind) {
  auto const refuse = [&](std::string const& what) { throw InputError(path + what); };
  std::string const what(kind.what), ending(kind.ending);
  std::error_code status;
  bool const is_file = fs::is_regular_file(path, status), is_new = !fs::exists(path, status);
  auto const target = fs::weakly_canonical(fs::absolute(path, status), status);  // follows links
  if (auto const run = run_around(target); (is_file || is_new) && !run.empty() && target.extension() != ending)
    refuse(": is in the run's directory " + run.string() + ", where only a name that ends in " + ending +
           " is allowed; name another file");
  if (is_file && fs::file_size(path, status) > 0) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, bytes_looked_at> head;
    in.read(head.data(), head.size());
    if (!kind.begins({head.data(), static_cast<std::size_t>(in.gcount())}))
      refuse(": exists and is not " + what + "; allowed: a new file, or " + what + " to replace");
  }
  try {
    require_writable_file(path);
  } catch (input::NoRoom const&) {  // no fault of the name
    throw;
  } catch (RuntimeError const& error) {
    throw InputError(error.what());
  }
}

}  // namespace bellwether::app
