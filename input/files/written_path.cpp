// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/written_path.hpp"

#include <climits>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace bellwether::input {
namespace {

namespace fs = std::filesystem;

bool exists(std::string const& base, std::string_view path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(fs::path(base) / path, error));
}

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

/// A variable in shell syntax: `$NAME`, `${NAME}`, `${NAME:-other}`.
struct Variable {
  std::size_t begin = 0, end = 0;  ///< range in the path
  std::string name;
  bool plain = true;  ///< false: `${NAME:-other}`, which is not only the variable's value
};

/// Returns the first variable at or after `from`; one with an empty name if there is none.
Variable find_variable(std::string_view path, std::size_t from) {
  for (auto at = path.find('$', from); at != path.npos; at = path.find('$', at + 1)) {
    bool const braces = at + 1 < path.size() && path[at + 1] == '{';
    std::size_t const first = at + (braces ? 2 : 1);
    if (first >= path.size() || !begins_name(path[first])) continue;
    auto const last = std::find_if_not(path.begin() + static_cast<std::ptrdiff_t>(first), path.end(), continues_name);
    auto const end = static_cast<std::size_t>(last - path.begin());
    std::string const name(path.substr(first, end - first));
    if (!braces) return {at, end, name};
    auto const close = path.find('}', end);
    if (close != path.npos) return {at, close + 1, name, close == end};
  }
  return {};
}

/// A part of a path that a shell would replace, other than a named variable. It is a command, as in `$(date)` or
/// between backticks, or braces without a name, as in `${}` or `${1}`.
struct Substitution {
  std::size_t begin = 0, end = 0;  ///< positions in the path; equal if there is none
};

/// Returns the first one at or after `from`.
Substitution find_substitution(std::string_view path, std::size_t from) {
  for (std::size_t at = from; at < path.size(); ++at) {
    char const next = at + 1 < path.size() ? path[at + 1] : '\0';
    bool const of_name = at + 2 < path.size() && begins_name(path[at + 2]);
    char const closing = path[at] == '`'                              ? '`'
                         : path[at] == '$' && next == '('             ? ')'
                         : path[at] == '$' && next == '{' && !of_name ? '}'
                                                                      : '\0';
    if (closing == '\0') continue;
    if (auto const end = path.find(closing, at + 1); end != path.npos) return {at, end + 1};
  }
  return {};
}

/// Returns "s3" for `s3://bucket/run`, and an empty text for a path that is not a URL.
std::string_view scheme_of(std::string_view path) {
  auto const end = path.find("://");
  if (end == path.npos || end == 0 || !begins_name(path[0])) return "";
  auto const scheme = path.substr(0, end);
  bool const formed =
      std::ranges::all_of(scheme, [](char c) { return continues_name(c) || c == '+' || c == '-' || c == '.'; });
  return formed ? scheme : "";
}

std::string url_fault(std::string const& path) {
  constexpr std::string_view local = "file:///";
  std::string const written_out = path.starts_with(local) ? ": '" + path.substr(local.size() - 1) + "'" : "";
  return "'" + path + "' is a URL, which is not opened; write a path of a file system that is mounted here" +
         written_out;
}

std::string tilde_fault(std::string const& path) {
  char const* const home = std::getenv("HOME");
  bool const of_this_user = path.size() == 1 || path[1] == '/';
  std::string const written_out =
      of_this_user && home != nullptr && home[0] == '/' ? ": '" + std::string(home) + path.substr(1) + "'" : "";
  return "'" + path + "' begins with ~, which is not expanded; write it out" + written_out + ", or './" + path +
         "' for a file or folder of this name";
}

std::string variable_fault(std::string const& path, Variable const& found) {
  std::string const written = path.substr(found.begin, found.end - found.begin);
  char const* const value = std::getenv(found.name.c_str());
  std::string const what = "'" + path + "' holds " + written + ", which is not expanded; ";
  if (value == nullptr) return what + "write out what it stands for (" + found.name + " is not set here)";
  if (!found.plain) return what + "write out what it stands for";
  return what + "write it out: '" + path.substr(0, found.begin) + value + path.substr(found.end) + "'";
}

}  // namespace

std::string length_fault(std::string const& folder) {
  // Of a run: "/checkpoints/step_" and 19 digits, ".replaced/rank" and 10 digits, ".h5"; twice that.
  constexpr std::size_t longest_name = 128;
  constexpr std::size_t most = PATH_MAX - 1 - longest_name;
  if (folder.size() <= most) return "";
  return "a path of " + std::to_string(folder.size()) + " bytes, and the system allows " +
         std::to_string(PATH_MAX - 1) + " with the names of files in it; allowed: at most " + std::to_string(most);
}

bool names_files(std::string_view key) {
  return key == "run.directory" || key == "data.train" || key == "data.heldout";
}

std::string batch_pattern(std::string_view path) {
  constexpr std::string_view letters = "AaJjNnstuxbI";  // of Slurm and LSF
  for (auto at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
    std::size_t letter = at + 1;
    if (letter < path.size() && path[letter] == '%') {  // a single percent sign, written twice
      at = letter;
      continue;
    }
    // One digit is a width. Two hexadecimal digits would be a character of a URL.
    if (letter < path.size() && path[letter] >= '0' && path[letter] <= '9') ++letter;
    if (letter >= path.size() || letters.find(path[letter]) == letters.npos) continue;
    bool const ends = letter + 1 == path.size() || path[letter + 1] == '_' || !continues_name(path[letter + 1]);
    if (ends) return std::string(path.substr(at, letter + 1 - at));
  }
  return "";
}

std::string unexpanded_path(std::string const& path, std::string const& base, Tilde tilde) {
  auto const part_end = [&](std::size_t at) { return std::min(path.find('/', at), path.size()); };
  if (path.starts_with('~') && (tilde == Tilde::refused || !exists(base, path.substr(0, part_end(0)))))
    return tilde_fault(path);
  if (!scheme_of(path).empty() && (tilde == Tilde::refused || !exists(base, path.substr(0, part_end(0)))))
    return url_fault(path);
  std::size_t from = 0;
  for (auto found = find_substitution(path, from); found.end > 0; found = find_substitution(path, from)) {
    from = part_end(found.end);
    if (!exists(base, path.substr(0, from)))
      return "'" + path + "' holds " + path.substr(found.begin, found.end - found.begin) +
             ", which is not expanded; write out what it stands for";
  }
  from = 0;
  for (auto found = find_variable(path, from); !found.name.empty(); found = find_variable(path, from)) {
    from = part_end(found.end);
    if (!exists(base, path.substr(0, from))) return variable_fault(path, found);
  }
  return "";
}

}  // namespace bellwether::input
