// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/step/batch_ahead.hpp"

#include "app/launch/collective_errors.hpp"
#include "core/system/error.hpp"
#include "core/system/system_limits.hpp"

#include <exception>
#include <utility>

namespace bellwether::app {

void BatchAhead::fetch() {
  if (has_ahead_) return;
  ahead_position_ = stream_.position();
  ahead_ = stream_.next();
  has_ahead_ = true;
}

void BatchAhead::fetch_together() {
  together(group_, [&] {
    try {
      fetch();
    } catch (InputError const& error) {
      auto faults = error.faults();
      for (auto& fault : faults) fault.insert(0, "data.train: ");
      throw InputError(faults);
    }
  });
}

std::string BatchAhead::try_to_fetch() {
  try {
    fetch();
  } catch (std::exception const& error) {
    return what_of(error);
  }
  return "";
}

model::StepBatch const& BatchAhead::begin() {
  require(has_ahead_, "begin() was called before a batch was fetched");
  std::swap(batch_, ahead_);
  begun_position_ = ahead_position_;
  has_ahead_ = false;
  return batch_;
}

void BatchAhead::roll_back() {
  if (has_ahead_) stream_.seek(ahead_position_);  // the prefetched samples are read again later
  std::swap(batch_, ahead_);
  ahead_position_ = begun_position_;
  has_ahead_ = true;
}

void BatchAhead::seek(std::int64_t first) {
  has_ahead_ = false;
  stream_.seek(first);
}

}  // namespace bellwether::app
