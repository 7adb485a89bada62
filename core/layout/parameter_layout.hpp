// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

enum class Initialisation { zero, one, normal };

/// One tensor of the model; a layer in the terms of LAMB.
struct TensorInfo {
  std::string name;                    ///< Hugging Face's name, also in checkpoints
  std::vector<std::int64_t> shape;     ///< row-major; linear weights are (out, in)
  std::int64_t offset = 0;             ///< first element in the arena
  std::int64_t count = 0;              ///< product of shape
  bool decays = true;                  ///< weight decay applies
  double decay_share = 1;              ///< factor on the weight decay
  bool adapts = true;                  ///< the trust ratio applies
  std::int64_t active = 0;             ///< elements from `active` on never receive a gradient
  std::vector<std::int64_t> masked{};  ///< masked elements below `active` that the user chose, ascending
  Initialisation initialisation = Initialisation::zero;
};

/// The table of all tensors in order. Sizes, initialisation, decay, masks, checkpoints, statistics, export and reports
/// all read it; there is no second list.
class ParameterLayout {
 public:
  /// Appends a tensor; its offset follows from the order of calls. \throws InternalError on a duplicate name, or if
  /// `active` or `masked` violates the rules of TensorInfo.
  TensorInfo const& add(TensorInfo tensor);
  std::vector<TensorInfo> const& tensors() const { return tensors_; }
  TensorInfo const& find(std::string_view name) const;  ///< \throws InternalError if missing
  std::int64_t index_of(std::string_view name) const;
  std::int64_t count() const { return count_; }  ///< n
  /// Hash of names, shapes, decay and active counts. Must be equal on all ranks, or the start fails.
  std::uint64_t fingerprint() const;
  /// Returns the fingerprint for other active counts, (tensors).
  std::uint64_t fingerprint(std::span<std::int64_t const> active) const;
  std::vector<std::int64_t> active_counts() const;  ///< (tensors)

 private:
  std::vector<TensorInfo> tensors_;
  std::int64_t count_ = 0;
};

}  // namespace bellwether
