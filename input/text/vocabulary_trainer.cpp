// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/vocabulary_trainer.hpp"

#include "core/system/error.hpp"
#include "input/text/text_reader.hpp"
#include "input/text/unicode.hpp"
#include "input/text/vocabulary.hpp"
#include "input/text/wordpiece.hpp"
#include "input/threads/ordered_pipeline.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>

namespace bellwether::input {

WordCounts count_words(TextReader& reader, int threads,
                       std::function<void(std::int64_t read, std::int64_t total)> const& progress) {
  BertCharacters const characters;
  WordCounts total;
  auto const make_worker = [&] {
    return [&characters, words = std::string()](TextBlock const& block) mutable {
      WordCounts counts;
      for (auto const& line : block.lines) {
        words.clear();
        characters.normalise(block.line(line), words);
        for (std::string_view rest = words; !rest.empty();) {
          auto const end = std::min(rest.find(' '), rest.size());
          ++counts[std::string(rest.substr(0, end))];
          rest.remove_prefix(std::min(end + 1, rest.size()));
        }
      }
      return counts;
    };
  };
  run_ordered<TextBlock, WordCounts>(
      threads, [&](TextBlock& block) { return reader.next(block); }, make_worker,
      [&](WordCounts&& counts) {
        for (auto& [word, count] : counts) total[word] += count;
        progress(reader.bytes_read(), reader.bytes_total());
      });
  return total;
}

namespace {

using Piece = std::int32_t;

struct Pair {
  Piece left, right;
};
std::uint64_t key_of(Pair p) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(p.left)) << 32 | static_cast<std::uint32_t>(p.right);
}
Pair pair_of(std::uint64_t key) { return {static_cast<Piece>(key >> 32), static_cast<Piece>(key & 0xFFFFFFFFu)}; }

class Trainer {
 public:
  Trainer(WordCounts const& counts, TrainerRule const& rule, std::function<void()> const& poll)
      : rule_(rule), poll_(poll) {
    for (auto const name : special_token_names) add(std::string(name));
    split_words(counts);
    count_pairs();
  }

  TrainedVocabulary train() {
    while (static_cast<std::int64_t>(tokens_.size()) < rule_.size && !heap_.empty()) {
      tick();
      auto const best = heap_.top();
      heap_.pop();
      auto const& now = pairs_[best.key];
      if (now.count != best.count) {
        // The count changed after the pair was queued. Queue it again if it is still frequent enough.
        if (now.count >= rule_.least_frequency) heap_.push({now.count, best.key});
        continue;
      }
      if (best.count < rule_.least_frequency) break;
      merge(best.key);
    }
    return {std::move(tokens_), cover_};
  }

 private:
  struct Word {
    std::vector<Piece> pieces;
    std::int64_t count;
  };
  struct Occurrences {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  ///< words that may contain the pair; may hold duplicates
  };
  struct Queued {
    std::int64_t count;
    std::uint64_t key;
    bool operator<(Queued const& other) const { return count != other.count ? count < other.count : key > other.key; }
  };

  /// Call it before each piece of work, which should take a few microseconds at most.
  void tick() {
    if ((++ticks_ & 255) == 0 && poll_) poll_();
  }

  Piece add(std::string token) {
    auto const [place, added] = ids_.emplace(std::move(token), static_cast<Piece>(tokens_.size()));
    if (added) tokens_.push_back(place->first);
    return place->second;
  }

  using SortedWords = std::vector<std::pair<std::string_view, std::int64_t>>;

  void split_words(WordCounts const& counts) {
    // The order of an unordered map is arbitrary. Sort, so that equal counts give equal vocabularies.
    SortedWords sorted(counts.begin(), counts.end());
    std::sort(sorted.begin(), sorted.end(), [this](auto const& a, auto const& b) {
      tick();
      return a < b;
    });
    auto const kept = choose_alphabet(sorted);
    for (auto const& [word, count] : sorted) {
      tick();
      auto const characters = static_cast<std::int64_t>(count_code_points(word));
      cover_.characters += characters * count;
      if (PieceTrie::is_overlong(word)) continue;
      if (auto pieces = pieces_of(word, kept); !pieces.empty())
        words_.push_back({std::move(pieces), count});
      else
        cover_.lost += characters * count;
    }
    if (static_cast<std::int64_t>(tokens_.size()) > rule_.size)
      throw InputError("--train-vocab " + std::to_string(rule_.size) +
                       ": special tokens and the characters of the text are " + std::to_string(tokens_.size()) +
                       " tokens already; allowed: at least that many, or fewer characters with --alphabet N");
  }

  /// Returns the alphabet in the order of codes, and makes its characters tokens.
  std::vector<char32_t> choose_alphabet(SortedWords const& words) {
    std::map<char32_t, std::int64_t> frequency;
    for (auto const& [word, count] : words) {
      tick();
      for (std::size_t at = 0; at < word.size();) frequency[decode_utf8(word, at)] += count;
    }
    std::vector<std::pair<std::int64_t, char32_t>> by_frequency;
    for (auto const& [c, count] : frequency) by_frequency.emplace_back(-count, c);
    std::sort(by_frequency.begin(), by_frequency.end());
    by_frequency.resize(std::min(by_frequency.size(), static_cast<std::size_t>(rule_.alphabet)));
    std::vector<char32_t> kept;
    for (auto const& entry : by_frequency) kept.push_back(entry.second);
    std::sort(kept.begin(), kept.end());
    for (char32_t const c : kept) {
      std::string text;
      append_utf8(text, c);
      add(text);
    }
    cover_.distinct = static_cast<std::int64_t>(frequency.size());
    cover_.kept = static_cast<std::int64_t>(kept.size());
    return kept;
  }

  /// Returns the characters of a word as pieces; empty if one of them is not in the alphabet.
  std::vector<Piece> pieces_of(std::string_view word, std::vector<char32_t> const& alphabet) {
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < word.size();) {
      char32_t const c = decode_utf8(word, at);
      if (!std::binary_search(alphabet.begin(), alphabet.end(), c)) return {};
      std::string piece = pieces.empty() ? "" : "##";
      append_utf8(piece, c);
      pieces.push_back(add(std::move(piece)));
    }
    return pieces;
  }

  void count_pairs() {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      tick();
      auto const& word = words_[w];
      for (std::size_t i = 1; i < word.pieces.size(); ++i)
        change(key_of({word.pieces[i - 1], word.pieces[i]}), word.count, static_cast<std::uint32_t>(w));
    }
    for (auto const& [key, occurrences] : pairs_) heap_.push({occurrences.count, key});
  }

  void change(std::uint64_t key, std::int64_t count, std::uint32_t word) {
    auto& occurrences = pairs_[key];
    occurrences.count += count;
    if (count > 0 && (occurrences.words.empty() || occurrences.words.back() != word)) occurrences.words.push_back(word);
  }

  void merge(std::uint64_t key) {
    auto const [left, right] = pair_of(key);
    Piece const merged =
        add(tokens_[static_cast<std::size_t>(left)] + tokens_[static_cast<std::size_t>(right)].substr(2));
    auto const places = std::move(pairs_[key].words);
    pairs_[key] = {};
    std::vector<std::uint64_t> grown;
    for (auto const w : places) {
      tick();
      auto& [pieces, count] = words_[w];
      std::size_t to = 0;
      for (std::size_t from = 0; from < pieces.size(); ++from, ++to) {
        bool const here = from + 1 < pieces.size() && pieces[from] == left && pieces[from + 1] == right;
        if (!here) {
          pieces[to] = pieces[from];
          continue;
        }
        // Pieces to the left are already rewritten; those to the right are not yet.
        if (to > 0) {
          change(key_of({pieces[to - 1], left}), -count, w);
          change(key_of({pieces[to - 1], merged}), count, w);
          grown.push_back(key_of({pieces[to - 1], merged}));
        }
        if (from + 2 < pieces.size()) {
          change(key_of({right, pieces[from + 2]}), -count, w);
          change(key_of({merged, pieces[from + 2]}), count, w);
          grown.push_back(key_of({merged, pieces[from + 2]}));
        }
        pieces[to] = merged;
        ++from;
      }
      pieces.resize(to);
    }
    pairs_[key].count = 0;
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (auto const pair : grown)
      if (auto const count = pairs_[pair].count; count >= rule_.least_frequency) heap_.push({count, pair});
  }

  TrainerRule rule_;
  std::function<void()> const& poll_;
  std::uint64_t ticks_ = 0;
  AlphabetCover cover_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, Piece> ids_;
  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Occurrences> pairs_;
  std::priority_queue<Queued> heap_;
};

}  // namespace

TrainedVocabulary train_vocabulary(WordCounts const& counts, TrainerRule const& rule,
                                   std::function<void()> const& poll) {
  return Trainer(counts, rule, poll).train();
}

}  // namespace bellwether::input
