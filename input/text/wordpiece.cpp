// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/wordpiece.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bellwether::input {

namespace {

std::uint64_t mix(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15ull;
  return key ^ (key >> 29);
}

constexpr std::uint64_t hash_start = 0xCBF29CE484222325ull;
std::uint64_t hash_step(std::uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ull;
}

}  // namespace

PieceTrie::PieceTrie(Vocabulary const& vocabulary) : unknown_(vocabulary.special().unknown) {
  std::size_t bytes = 16;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) bytes += vocabulary.token(id).size();
  edges_.resize(std::bit_ceil(2 * bytes));
  tokens_.assign(2, -1);
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    std::string_view const token = vocabulary.token(id);
    add(start_root, token, id);
    if (token.size() > 2 && token.starts_with("##")) add(inside_root, token.substr(2), id);
  }
}

std::int32_t PieceTrie::child(std::int32_t node, unsigned char byte) const {
  std::uint64_t const key = (static_cast<std::uint64_t>(node) << 8 | byte) + 1;
  std::size_t const mask = edges_.size() - 1;
  for (std::size_t at = mix(key) & mask;; at = (at + 1) & mask) {
    if (edges_[at].key == key) return edges_[at].node;
    if (edges_[at].key == 0) return -1;
  }
}

std::int32_t PieceTrie::add_child(std::int32_t node, unsigned char byte) {
  if (auto const found = child(node, byte); found >= 0) return found;
  std::uint64_t const key = (static_cast<std::uint64_t>(node) << 8 | byte) + 1;
  std::size_t const mask = edges_.size() - 1;
  std::size_t at = mix(key) & mask;
  while (edges_[at].key != 0) at = (at + 1) & mask;
  auto const made = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(-1);
  edges_[at] = {key, made};
  return made;
}

void PieceTrie::add(std::int32_t root, std::string_view piece, std::int32_t id) {
  std::int32_t node = root;
  for (char const byte : piece) node = add_child(node, static_cast<unsigned char>(byte));
  tokens_[static_cast<std::size_t>(node)] = id;
}

void PieceTrie::split(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (is_overlong(word)) {
    ids.push_back(unknown_);
    return;
  }
  std::size_t const first_id = ids.size();
  for (std::size_t begin = 0; begin < word.size();) {
    std::int32_t node = begin == 0 ? start_root : inside_root;
    std::int32_t longest = -1;
    std::size_t end = begin;
    for (std::size_t at = begin; at < word.size(); ++at) {
      node = child(node, static_cast<unsigned char>(word[at]));
      if (node < 0) break;
      if (auto const token = tokens_[static_cast<std::size_t>(node)]; token >= 0) {
        longest = token;
        end = at + 1;
      }
    }
    if (longest < 0) {
      ids.resize(first_id);
      ids.push_back(unknown_);
      return;
    }
    ids.push_back(longest);
    begin = end;
  }
}

TokenizerTables::TokenizerTables(Vocabulary const& vocabulary) : vocabulary_(&vocabulary), trie_(vocabulary) {
  ascii_.fill(Ascii::other);
  ascii_tokens_.fill(vocabulary.special().unknown);
  std::vector<std::int32_t> ids;
  for (unsigned c = 0; c < 128; ++c) {
    if (characters_.is_removed(c)) continue;
    ascii_[c] = characters_.is_space(c)         ? Ascii::space
                : characters_.is_punctuation(c) ? Ascii::punctuation
                                                : Ascii::word;
    char const text = static_cast<char>(c);
    ids.clear();
    trie_.split({&text, 1}, ids);
    ascii_tokens_[c] = ids[0];
  }
}

Tokenizer::Tokenizer(TokenizerTables const& tables, WrittenSpecials written)
    : tables_(tables), written_(written), cache_(cache_size) {}

void Tokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) {
  if (written_ == WrittenSpecials::characters || text.find('[') == std::string_view::npos) {
    encode_plain(text, ids);
    return;
  }
  std::size_t begin = 0;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at)) {
    auto const* const name = std::find_if(std::begin(special_token_names), std::end(special_token_names),
                                          [&](auto special) { return text.substr(at).starts_with(special); });
    if (name == std::end(special_token_names)) {
      ++at;
      continue;
    }
    encode_plain(text.substr(begin, at - begin), ids);
    ids.push_back(*tables_.vocabulary().find(*name));
    at += name->size();
    begin = at;
  }
  encode_plain(text.substr(begin), ids);
}

/// Splits at ASCII white space, which no combining sequence can cross. A chunk of ASCII letters, digits and symbols is
/// handled here. A chunk with anything else takes the general path from its beginning.
void Tokenizer::encode_plain(std::string_view text, std::vector<std::int32_t>& ids) {
  using Ascii = TokenizerTables::Ascii;
  std::size_t const size = text.size();
  for (std::size_t at = 0; at < size;) {
    if (tables_.ascii(static_cast<unsigned char>(text[at])) == Ascii::space) {
      ++at;
      continue;
    }
    std::size_t const chunk = at;
    std::size_t const ids_before = ids.size();
    while (at < size) {
      auto const byte = static_cast<unsigned char>(text[at]);
      auto const kind = tables_.ascii(byte);
      if (kind == Ascii::word) {
        std::size_t const word = at;
        std::uint64_t hash = hash_start;
        do {
          hash = hash_step(hash, text[at++]);
        } while (at < size && tables_.ascii(static_cast<unsigned char>(text[at])) == Ascii::word);
        encode_cached(text.substr(word, at - word), hash, ids,
                      [&](std::string_view key) { encode_ascii_word(key, ids); });
      } else if (kind == Ascii::punctuation) {
        ids.push_back(tables_.ascii_token(byte));
        ++at;
      } else if (kind == Ascii::space) {
        break;
      } else {
        ids.resize(ids_before);
        at = chunk;
        std::uint64_t hash = ~hash_start;
        while (at < size && tables_.ascii(static_cast<unsigned char>(text[at])) != Ascii::space)
          hash = hash_step(hash, text[at++]);
        encode_cached(text.substr(chunk, at - chunk), hash, ids, [&](std::string_view key) { encode_any(key, ids); });
        break;
      }
    }
  }
}

template <class Slow>
void Tokenizer::encode_cached(std::string_view key, std::uint64_t hash, std::vector<std::int32_t>& ids,
                              Slow const& slow) {
  if (key.size() > cached_bytes) return slow(key);
  Cached& entry = cache_[(hash ^ (hash >> 32)) & (cache_size - 1)];
  if (entry.length == key.size() && std::memcmp(entry.bytes.data(), key.data(), key.size()) == 0) {
    ids.insert(ids.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    return;
  }
  std::size_t const before = ids.size();
  slow(key);
  std::size_t const count = ids.size() - before;
  if (count > cached_ids) return;
  entry.length = static_cast<std::uint8_t>(key.size());
  entry.count = static_cast<std::uint8_t>(count);
  std::copy(key.begin(), key.end(), entry.bytes.begin());
  std::copy(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end(), entry.ids.begin());
}

void Tokenizer::encode_ascii_word(std::string_view word, std::vector<std::int32_t>& ids) {
  words_.assign(word);
  for (char& c : words_)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  split(words_, ids);
}

/// Splits a word. Words this long are never cached, so that every occurrence is counted.
void Tokenizer::split(std::string_view word, std::vector<std::int32_t>& ids) {
  if (PieceTrie::is_overlong(word)) overlong_bytes_ += static_cast<std::int64_t>(word.size());
  tables_.trie().split(word, ids);
}

void Tokenizer::encode_any(std::string_view chunk, std::vector<std::int32_t>& ids) {
  words_.clear();
  tables_.characters().normalise(chunk, words_);
  std::string_view rest = words_;
  while (!rest.empty()) {
    auto const end = std::min(rest.find(' '), rest.size());
    split(rest.substr(0, end), ids);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace bellwether::input
