// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/document_splitter.hpp"

#include <xxhash.h>

#include <cmath>
#include <new>
#include <utility>

namespace bellwether::input {
namespace {

constexpr std::int64_t deciding_bytes = std::int64_t{1} << 23;
constexpr std::int64_t exact_lengths = 64;
constexpr double buckets_an_octave = 16;

std::size_t bucket_of(std::int64_t length) {
  if (length < exact_lengths) return static_cast<std::size_t>(length);
  return static_cast<std::size_t>(
      exact_lengths + std::floor(buckets_an_octave * std::log2(static_cast<double>(length) / exact_lengths)));
}

std::int64_t middle_of(std::size_t bucket) {
  if (bucket < static_cast<std::size_t>(exact_lengths)) return static_cast<std::int64_t>(bucket);
  double const octaves = (static_cast<double>(bucket) - exact_lengths + 0.5) / buckets_an_octave;
  return static_cast<std::int64_t>(std::llround(static_cast<double>(exact_lengths) * std::exp2(octaves)));
}

}  // namespace

void DuplicateCount::add(std::uint64_t hash) {
  if ((hash & mask_) != 0) return;
  ++copies_[hash];
  while (copies_.size() > most_kept_) {
    mask_ = 2 * mask_ + 1;
    std::erase_if(copies_, [&](auto const& entry) { return (entry.first & mask_) != 0; });
  }
}

double DuplicateCount::share() const {
  std::int64_t items = 0;
  for (auto const& [hash, copies] : copies_) items += copies;
  return items == 0 ? 0 : 1 - static_cast<double>(copies_.size()) / static_cast<double>(items);
}

void LengthMedian::add(std::int64_t length) {
  auto const bucket = bucket_of(length);
  if (bucket >= counts_.size()) counts_.resize(bucket + 1);
  ++counts_[bucket];
  ++total_;
}

std::int64_t LengthMedian::median() const {
  std::int64_t below = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    below += counts_[bucket];
    if (2 * below >= total_) return middle_of(bucket);
  }
  return 0;
}

DocumentSplitter::DocumentSplitter(double heldout, std::uint64_t seed, Sink sink)
    : heldout_(heldout), seed_(seed), sink_(std::move(sink)), state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state_, seed_);
}

DocumentSplitter::~DocumentSplitter() { XXH3_freeState(state_); }

bool DocumentSplitter::draw(std::uint64_t hash) const { return static_cast<double>(hash) * 0x1p-64 < heldout_; }

/// Chooses the document's set and passes its buffered sentences on.
void DocumentSplitter::decide() {
  decided_ = true;
  sink_.begin(draw(XXH3_64bits_digest(state_)));
  std::span<std::int32_t const> rest(ids_);
  for (auto const length : lengths_of_sentences_) {
    sink_.add(rest.first(length));
    rest = rest.subspan(length);
  }
  ids_.clear();
  lengths_of_sentences_.clear();
}

void DocumentSplitter::start_document(TextPlace place) {
  finish();
  place_ = place;
}

void DocumentSplitter::add(std::span<LineDigest const> lines) {
  for (auto const& line : lines) {
    XXH3_64bits_update(state_, &line.hash, sizeof line.hash);
    bytes_ += line.bytes;
    // Decide at a line, not at the end of a block of lines: block boundaries depend on the files before.
    if (!decided_ && bytes_ >= deciding_bytes) decide();
  }
}

void DocumentSplitter::add(std::span<std::int32_t const> sentence) {
  tokens_ += static_cast<std::int64_t>(sentence.size());
  if (decided_) return sink_.add(sentence);
  ids_.insert(ids_.end(), sentence.begin(), sentence.end());
  lengths_of_sentences_.push_back(static_cast<std::uint32_t>(sentence.size()));
}

void DocumentSplitter::finish() {
  if (tokens_ > 0) {
    if (!decided_) decide();
    duplicates_.add(XXH3_64bits_digest(state_));
    lengths_.add(tokens_);
    if (tokens_ > longest_) {
      longest_ = tokens_;
      longest_at_ = place_;
    }
  }
  XXH3_64bits_reset_withSeed(state_, seed_);
  ids_.clear();
  lengths_of_sentences_.clear();
  decided_ = false;
  bytes_ = tokens_ = 0;
}

}  // namespace bellwether::input
