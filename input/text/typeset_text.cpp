// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/typeset_text.hpp"

#include "input/text/encoded_text.hpp"

#include <algorithm>

namespace bellwether::input {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns the length of the letters at the beginning of `text`.
std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
}

/// Returns true for a command of LaTeX. `next`: the character behind its name. Other backslashes are in paths, in texts
/// of source code and in comments of Doxygen.
bool is_command(std::string_view name, char next) {
  constexpr std::string_view with_argument[] = {
      "begin", "end",      "section", "subsection", "chapter",        "paragraph", "cite",          "citep",
      "citet", "ref",      "eqref",   "label",      "textbf",         "textit",    "emph",          "frac",
      "sqrt",  "texttt",   "mathrm",  "mathbb",     "mathbf",         "mathcal",   "documentclass", "usepackage",
      "title", "footnote", "caption", "bibitem",    "includegraphics"};
  constexpr std::string_view alone[] = {"item",    "left",   "right", "alpha", "beta",  "gamma",  "delta",
                                        "epsilon", "lambda", "mu",    "sigma", "theta", "phi",    "omega",
                                        "pi",      "rho",    "tau",   "sum",   "int",   "infty",  "cdot",
                                        "times",   "leq",    "geq",   "ldots", "quad",  "partial"};
  if (std::ranges::count(with_argument, name) > 0) return next == '{' || next == '[' || next == '*';
  return std::ranges::count(alone, name) > 0;
}

bool is_latex(std::string_view text) {
  constexpr std::size_t bytes_a_command = 300;
  std::size_t count = 0;
  for (auto at = text.find('\\'); at != text.npos; at = text.find('\\', at + 1)) {
    auto const rest = text.substr(at + 1);
    auto const length = letters_of(rest);
    count += is_command(rest.substr(0, length), length < rest.size() ? rest[length] : '\0') ? 1 : 0;
  }
  return are_frequent(count, text, bytes_a_command);
}

/// Returns the text between `opening` at `at` and `closing` on the same line, without brackets; empty if there is none.
std::string_view enclosed(std::string_view text, std::size_t at, std::string_view opening, std::string_view closing) {
  auto const rest = text.substr(at + opening.size());
  auto const end = rest.find_first_of("[]{}\n");
  return end != rest.npos && rest.substr(end).starts_with(closing) ? rest.substr(0, end) : std::string_view();
}

/// Links: `[[Berlin]]`, `[[Berlin|the capital]]`. Not `[[ -f x ]]` of a shell, `[[1, 2], [3, 4]]`, `[[nodiscard]]`.
bool is_link(std::string_view name) {
  constexpr std::string_view attributes[] = {"nodiscard", "noreturn", "maybe_unused", "fallthrough",
                                             "likely",    "unlikely", "deprecated",   "no_unique_address"};
  if (name.empty() || std::ranges::count(attributes, name.substr(0, name.find('('))) > 0) return false;
  bool const begins = is_letter(name[0]) || name[0] == ':' || static_cast<unsigned char>(name[0]) >= 0x80;
  return begins && name.find("::") == name.npos;
}

/// Returns true if a line is a heading `== History ==`.
bool has_heading(std::string_view text) {
  for (auto at = text.find("\n=="); at != text.npos; at = text.find("\n==", at + 3)) {
    auto line = text.substr(at + 1, text.substr(at + 1).find('\n'));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.ends_with("==") && line.find_first_not_of('=') != line.npos) return true;
  }
  return false;
}

/// Notes of other programs have links of this form, too. So headings, templates or bold text must be there as well.
bool is_wiki(std::string_view text) {
  constexpr std::size_t bytes_a_link = 600;
  std::size_t links = 0;
  for (auto at = text.find("[["); at != text.npos; at = text.find("[[", at + 2)) {
    bool const is_index = at > 0 && (is_letter(text[at - 1]) || text[at - 1] == ')');  // list[[name]] of R
    links += !is_index && is_link(enclosed(text, at, "[[", "]]")) ? 1 : 0;
  }
  if (!are_frequent(links, text, bytes_a_link)) return false;
  bool marked = text.find("'''") != text.npos || has_heading(text);
  for (auto at = text.find("{{"); !marked && at != text.npos; at = text.find("{{", at + 2)) {
    auto const name = enclosed(text, at, "{{", "}}");
    marked = !name.empty() && is_letter(name[0]);
  }
  return marked;
}

}  // namespace

std::string typesetting_warning(std::string_view text) {
  if (is_latex(text))
    return "looks like LaTeX: commands become words to train on; extract the text first, as `pandoc -f latex -t plain` "
           "does";
  if (is_wiki(text))
    return "looks like wiki markup: links and templates become words to train on; extract the text first, as "
           "WikiExtractor does";
  return "";
}

}  // namespace bellwether::input
