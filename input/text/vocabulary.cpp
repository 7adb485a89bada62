// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/vocabulary.hpp"

#include "core/system/error.hpp"
#include "input/files/regular_file.hpp"
#include "input/text/text_kind.hpp"
#include "input/text/text_source.hpp"
#include "input/text/unicode.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

namespace bellwether::input {

namespace {

/// Reads the whole text of a vocabulary, without byte order mark and with line feeds as line ends.
std::string read_text(std::string const& path, WaitPoll const& poll) {
  TextSource source(path, poll);
  std::string text;
  constexpr std::size_t step = std::size_t{1} << 18;
  for (std::size_t got = 1; got > 0;) {
    std::size_t const before = text.size();
    text.resize(before + step);
    got = source.read(std::span(text).subspan(before));
    text.resize(before + got);
  }
  auto const wrapping = source.compressed() ? Wrapping::gzip : Wrapping::none;
  if (auto const fault = text_fault(text, wrapping, path, "cat > vocab.txt"); !fault.empty())
    throw InputError(path + ": " + fault);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (text.find('\n') == std::string::npos) std::ranges::replace(text, '\r', '\n');
  return text;
}

bool has_capital(std::string_view token) {
  if (token.starts_with('[') && token.ends_with(']')) return false;
  for (std::size_t at = 0; at < token.size();)
    if (is_capital(decode_utf8(token, at))) return true;
  return false;
}

/// Returns true for a comment without blanks, such as #version. # alone, ##, ### and ##ing are tokens.
bool is_comment(std::string_view line) { return line.size() > 1 && line[0] == '#' && line[1] != '#'; }

bool has_accent(std::string_view token) {
  for (std::size_t at = 0; at < token.size();)
    if (is_accented(decode_utf8(token, at))) return true;
  return false;
}

}  // namespace

Vocabulary Vocabulary::read(std::string const& path, WaitPoll const& poll) {
  std::error_code status;
  auto fault = fault_of_file(path, Pipes::of_this_process);
  if (fault.empty() && !std::filesystem::exists(path, status)) fault = "does not exist";
  if (!fault.empty())
    throw InputError(path + ": cannot read this vocabulary, which " + fault +
                     "; allowed: a text file with one token per line");
  std::string const text = read_text(path, poll);
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = std::min(text.find('\n', at), text.size());
    auto line = std::string_view(text).substr(at, end - at);
    // Files from Windows end their lines with a carriage return and a line feed.
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    tokens.emplace_back(line);
    at = end + 1;
  }
  while (!tokens.empty() && tokens.back().empty()) tokens.pop_back();
  return Vocabulary(std::move(tokens), path);
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, std::string const& name) : tokens_(std::move(tokens)) {
  std::vector<std::string> faults;
  auto const at = [&](std::size_t line) { return name + ":" + std::to_string(line + 1) + ": "; };
  constexpr std::size_t enough = 20;
  ids_.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size() && faults.size() < enough; ++i) {
    if (tokens_[i].empty()) {
      faults.push_back(at(i) + "empty line; every line must hold one token");
    } else if (!is_valid_utf8(tokens_[i])) {
      faults.push_back(at(i) + "token is not UTF-8; tokens must be UTF-8");
    } else if (tokens_[i].find_first_of(" \t") != std::string::npos) {
      faults.push_back(at(i) +
                       "a blank or tab stands before or inside the token, so no word can match it; allowed: one token "
                       "a line, without comments and counts");
    } else if (i == 0 && is_comment(tokens_[i])) {
      faults.push_back(at(i) + "'" + tokens_[i] +
                       "' is a comment, because no word begins with # and goes on; every line must hold one token: "
                       "remove comments");
    } else if (auto const [first, added] = ids_.emplace(tokens_[i], static_cast<std::int32_t>(i)); !added) {
      faults.push_back(at(i) + "token '" + tokens_[i] + "' is already on line " + std::to_string(first->second + 1) +
                       "; every token must be unique");
    }
  }
  std::int32_t* const members[] = {&special_.pad, &special_.unknown, &special_.classify, &special_.separate,
                                   &special_.mask};
  std::string lacking;
  for (std::size_t i = 0; i < std::size(members); ++i) {
    if (auto const id = find(special_token_names[i]))
      *members[i] = *id;
    else
      lacking += (lacking.empty() ? "" : ", ") + std::string(special_token_names[i]);
  }
  if (!lacking.empty())
    faults.push_back(name + ": no line holds " + lacking + "; [PAD], [UNK], [CLS], [SEP] and [MASK] are required");
  if (!faults.empty()) throw InputError(std::move(faults));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  auto const found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

bool Vocabulary::is_special(std::int32_t id) const {
  return id == special_.pad || id == special_.unknown || id == special_.classify || id == special_.separate ||
         id == special_.mask;
}

std::int64_t Vocabulary::cased_tokens() const { return std::ranges::count_if(tokens_, has_capital); }

std::int64_t Vocabulary::accented_tokens() const { return std::ranges::count_if(tokens_, has_accent); }

bool Vocabulary::begins_word(std::int32_t id) const { return !token(id).starts_with("##"); }

bool Vocabulary::has_letter(std::int32_t id) const {
  auto const& text = token(id);
  for (std::size_t at = 0; at < text.size();)
    if (is_letter(decode_utf8(text, at))) return true;
  return false;
}

void write_vocabulary(std::string const& path, std::vector<std::string> const& tokens) {
  std::string const partial = path + ".partial";
  make_way_for_file(partial);
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    for (auto const& token : tokens) file << token << '\n';
    file.close();
    if (!file) throw RuntimeError(partial + ": cannot be written: " + std::strerror(errno));
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) throw RuntimeError(path + ": " + error.message());
}

}  // namespace bellwether::input
