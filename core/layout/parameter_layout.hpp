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

/// One tensor of the model: one layer in LAMB's sense.
struct TensorInfo {
  std::string name;                    ///< Hugging Face's, also in checkpoints
  std::vector<std::int64_t> shape;     ///< row-major; linear weights are (out, in)
  std::int64_t offset = 0;             ///< first element in the arena
  std::int64_t count = 0;              ///< product of shape
  bool decays = true;                  ///< weight decay applies
  double decay_share = 1;              ///< of it, where tensors decay differently
  bool adapts = true;                  ///< the trust ratio applies
  std::int64_t active = 0;             ///< the first `active` elements are active, the rest never receive a gradient
  std::vector<std::int64_t> masked{};  ///< elements below `active` that a user has marked as masked as well, ascending
  Initialisation initialisation = Initialisation::zero;
};

/// The one table of all tensors, in order. Sizes, initialisation, decay, masks, checkpoints, statistics, export and
/// reports read it; nothing lists the tensors a second time.
class ParameterLayout {
 public:
  /// Appends a tensor; the offset follows from the order of calls. \throws InternalError on a repeated name, or on
  /// elements marked active or masked that are not as TensorInfo says.
  TensorInfo const& add(TensorInfo tensor);
  std::vector<TensorInfo> const& tensors() const { return tensors_; }
  TensorInfo const& find(std::string_view name) const;  ///< \throws InternalError where there is none
  std::int64_t index_of(std::string_view name) const;
  std::int64_t count() const { return count_; }  ///< n
  /// Hash of names, shapes, decay and active marks: equal on all ranks or the start is refused.
  std::uint64_t fingerprint() const;
  /// What it would be with other counts of active elements, (tensors).
  std::uint64_t fingerprint(std::span<std::int64_t const> active) const;
  std::vector<std::int64_t> active_counts() const;  ///< (tensors)

 private:
  std::vector<TensorInfo> tensors_;
  std::int64_t count_ = 0;
};

}  // namespace bellwether
