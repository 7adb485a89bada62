// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/structured_text.hpp"

#include "input/text/encoded_text.hpp"
#include "input/text/text_lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bellwether::input {
namespace {

constexpr std::size_t few_lines = 5;
constexpr auto blanks = " \t\r\n";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Returns the position of the quote that ends the string at the beginning of `text`, or npos.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at)
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at;
  return std::string_view::npos;
}

/// Detects a list of strings, of objects or of lists of strings on one line.
bool is_list(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  if (!line.starts_with('[') || !line.ends_with(']')) return false;
  auto const content = line.substr(std::min(line.find_first_not_of("[{ "), line.size()));
  return content.starts_with('"') && end_of_string(content) != content.npos;
}

/// Detects a string that is the whole line.
bool is_string(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  return line.size() > 2 && line[0] == '"' && end_of_string(line) == line.size() - 1;
}

/// Detects a member of an object, `"name": value`, alone on a line.
bool is_member(std::string_view line) {
  if (!line.starts_with('"')) return false;
  auto const end = end_of_string(line);
  return end != line.npos && without_blanks(line.substr(end + 1)).starts_with(':');
}

/// Returns true for tags that HTML does not require to be closed.
bool is_unclosed(std::string_view name) {
  constexpr std::string_view names[] = {"br", "p", "hr", "li", "td", "tr", "th", "dt", "dd"};
  return std::ranges::any_of(names,
                             [&](std::string_view known) { return std::ranges::equal(known, name, {}, {}, lower); });
}

/// Returns true if a tag begins behind the angle bracket. A name alone may be a nickname of a chat, a placeholder or an
/// argument of a template.
bool is_tag(std::string_view rest) {
  constexpr std::size_t longest = 512;
  rest = rest.substr(0, std::min(rest.find_first_of("<>"), longest) + 1);
  if (!rest.ends_with('>')) return false;
  rest.remove_suffix(1);
  bool const closes = rest.starts_with('/');
  if (closes) rest.remove_prefix(1);
  auto const end = std::ranges::find_if_not(
      rest, [](char c) { return is_letter(c) || is_digit(c) || c == ':' || c == '-' || c == '_' || c == '.'; });
  auto const name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  if (name.empty() || !is_letter(name[0])) return false;
  auto const attributes = without_blanks(rest.substr(name.size()));
  if (closes) return attributes.empty();
  if (attributes.empty()) return is_unclosed(name);
  bool const separate = rest[name.size()] == '/' || std::string_view(blanks).find(rest[name.size()]) != rest.npos;
  bool const assigns = attributes.find("=\"") != rest.npos || attributes.find("='") != rest.npos;
  return separate && (attributes == "/" || assigns);
}

bool is_tagged(std::string_view text) {
  constexpr std::size_t bytes_a_tag = 400, bytes_a_document = 8192;
  std::size_t tags = 0, documents = 0;
  for (auto at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    if (at > 0 && text[at - 1] == '`') continue;  // source code in Markdown
    auto const rest = text.substr(at + 1);
    if (!is_tag(rest)) continue;
    ++tags;
    bool const begins_line = at == 0 || text[at - 1] == '\n';
    documents += begins_line && (rest.starts_with("doc ") || rest.starts_with("/doc>")) ? 1 : 0;
  }
  return are_frequent(tags, text, bytes_a_tag) || are_frequent(documents, text, bytes_a_document);
}

/// Counts escapes of a line behind a letter, a mark or another escape. A string of source code is excluded: its line
/// is short and has quotes that are not escaped.
std::size_t escapes_of(std::string_view line) {
  constexpr std::size_t longest_code = 160;
  constexpr std::string_view marks = ".,;!?\"'";
  std::size_t escapes = 0;
  for (auto at = line.find('\\'); at != line.npos && at + 1 < line.size(); at = line.find('\\', at + 2)) {
    char const escaped = line[at + 1], next = at + 2 < line.size() ? line[at + 2] : '\n';
    if (escaped == '"') {
      bool const umlaut = at > 0 && (line[at - 1] == '{' || is_letter(line[at - 1])) && is_letter(next);  // of BibTeX
      escapes += umlaut ? 0 : 1;
    } else if (escaped == 'n' && at > 0) {
      bool const follows = line.substr(0, at).ends_with("\\n") || marks.find(line[at - 1]) != marks.npos;
      bool const in_word = is_letter(line[at - 1]) && !(next >= 'a' && next <= 'z');  // \nu is of LaTeX
      escapes += (follows || in_word) && next != '"' && next != '\'' ? 1 : 0;
    }
  }
  if (escapes == 0 || line.size() > longest_code) return escapes;
  for (auto at = line.find('"'); at != line.npos; at = line.find('"', at + 1))
    if (at == 0 || line[at - 1] != '\\') return 0;
  return escapes;
}

/// One record of a table: the number of separators outside quotes, and whether a field is quoted.
struct Record {
  std::size_t separators = 0;
  bool quoted = false, named = true;  ///< named: each field is a short name, as in a header
};

/// Reads the record at `at`, which ends with a line end outside quotes, and moves `at` behind it. Only a quote at the
/// beginning of a field opens one, so that a part that begins inside quotes is understood from the next record on.
Record next_record(std::string_view text, std::size_t& at, char separator) {
  constexpr std::size_t longest_name = 32;
  Record record;
  std::size_t begin = at;
  for (bool open = false; at < text.size(); ++at) {
    char const c = text[at];
    if (open) {
      if (c != '"') continue;
      char const next = at + 1 < text.size() ? text[at + 1] : '\n';
      if (next == '"') ++at;
      open = next != separator && next != '\n' && next != '\r';
    } else if (c == '"' && at == begin) {
      open = record.quoted = true;
    } else if (c == separator || c == '\n') {
      record.named = record.named && at > begin && at - begin <= longest_name;
      begin = at + 1;
      if (c == '\n') break;
      ++record.separators;
    } else if (c != '\r') {
      record.named = record.named && (is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '"');
    }
  }
  if (at < text.size()) ++at;
  return record;
}

/// Returns true if most records have the same number of separators, two or more.
bool is_separated(std::string_view text, char separator) {
  constexpr std::size_t most_columns = 256;
  std::array<std::size_t, most_columns> with{}, quoted{};
  std::size_t records = 0, header = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const begin = at;
    auto const record = next_record(text, at, separator);
    if (without_blanks(text.substr(begin, at - begin)).empty()) continue;
    if (records++ == 0 && record.named) header = record.separators;
    if (record.separators >= most_columns) continue;
    ++with[record.separators];
    quoted[record.separators] += record.quoted ? 1 : 0;
  }
  auto const most = static_cast<std::size_t>(std::max_element(with.begin() + 2, with.end()) - with.begin());
  if (with[most] < few_lines) return false;
  if (header == most) return 2 * with[most] > records;
  return 4 * with[most] > 3 * records && 4 * quoted[most] > with[most];
}

/// Returns true if most lines have the same number of tabs, two or more. Tabs that indent a line do not count, and one
/// run of tabs is the alignment of a comment.
bool is_tabbed(std::string_view text) {
  constexpr std::size_t most_columns = 256;
  std::array<std::size_t, most_columns> with{};
  std::size_t lines = 0;
  for_each_line(text, [&](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return;
    ++lines;
    std::size_t tabs = 0, runs = 0;
    for (auto at = line.find('\t'); at != line.npos; at = line.find('\t', at + 1)) {
      ++tabs;
      runs += line[at - 1] != '\t' ? 1 : 0;
    }
    if (runs >= 2 && tabs < most_columns) ++with[tabs];
  });
  auto const most = *std::ranges::max_element(with);
  return most >= few_lines && 4 * most > 3 * lines;
}

/// Returns true for a short field without blanks, such as a label or a number.
bool is_label(std::string_view field) {
  constexpr std::size_t longest = 24;
  return !field.empty() && field.size() <= longest && std::ranges::all_of(field, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// Returns true if most lines are a text of several words and a label, separated by one tab, or by a comma where the
/// text is in quotes. Labels of fastText stand before the text with a blank.
bool is_labelled(std::string_view text) {
  std::size_t lines = 0, before = 0, after = 0;
  auto const has_words = [](std::string_view field) { return field.find(' ') != field.npos; };
  for_each_line(text, [&](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return;
    ++lines;
    if (line.starts_with("__label__")) ++before;
    auto const tab = line.find('\t');
    if (tab != line.npos && line.find('\t', tab + 1) == line.npos) {
      before += is_label(line.substr(0, tab)) && has_words(line.substr(tab + 1)) ? 1 : 0;
      after += is_label(line.substr(tab + 1)) && has_words(line.substr(0, tab)) ? 1 : 0;
    }
    auto const begin = line.find(",\""), end = line.rfind("\",");
    if (line.ends_with('"') && begin != line.npos && is_label(line.substr(0, begin))) ++before;
    if (line.starts_with('"') && end != line.npos && is_label(line.substr(end + 2))) ++after;
  });
  auto const most = std::max(before, after);
  return most >= few_lines && 10 * most > 9 * lines;
}

}  // namespace

bool begins_with_object(std::string_view text) {
  auto const skip = [&](char character) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (!text.starts_with(character)) return false;
    text.remove_prefix(1);
    return true;
  };
  skip('[');
  if (!skip('{')) return false;
  bool const doubled = skip('"');
  if (!doubled && !skip('\'')) return false;
  auto const name = text.substr(0, 256);
  auto const end = name.find(doubled ? '"' : '\'');
  if (end == std::string_view::npos) return false;
  text.remove_prefix(end + 1);
  return skip(':');
}

std::string json_warning(std::string_view text) {
  std::size_t lines = 0, bytes = 0, values = 0, strings = 0, members = 0;
  for_each_line(text, [&](std::string_view whole) {
    auto const line = without_blanks(whole);
    if (line.empty()) return;
    ++lines;
    bool const value = begins_with_object(line) || is_list(line);
    values += value ? 1 : 0;
    bytes += value ? whole.size() : 0;
    strings += is_string(line) ? 1 : 0;
    members += is_member(line) ? 1 : 0;
  });
  bool const of_values = values >= few_lines && 10 * bytes > text.size();
  // Novels have lines of speech alone, but not only such lines.
  bool const of_strings = strings >= few_lines && 20 * strings > 19 * lines;
  bool const of_members = members >= few_lines && 3 * members > lines;
  return of_values || of_strings || of_members ? json_warning_text : "";
}

std::string tag_warning(std::string_view text) { return is_tagged(text) ? tag_warning_text : ""; }

std::string escape_warning(std::string_view text) {
  constexpr std::size_t bytes_an_escape = 400;
  std::size_t escapes = 0;
  for_each_line(text, [&](std::string_view line) { escapes += escapes_of(line); });
  if (!are_frequent(escapes, text, bytes_an_escape)) return "";
  return "holds escapes (\\n for a line end, \\\" for a quote): sentences do not end where they should; undo them, as "
         "`jq -r` does";
}

std::string table_warning(std::string_view text) {
  if (!is_tabbed(text) && !is_separated(text, ',') && !is_separated(text, ';') && !is_labelled(text)) return "";
  return "looks like a table (CSV or TSV): separators and all columns become text to train on; extract the column of "
         "the text, for example with Python's csv module";
}

}  // namespace bellwether::input
