// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/types.hpp"

#include <span>
#include <string>

namespace bellwether {

/// One buffer of n elements with all tensors in the order of a ParameterLayout, without gaps or padding to a multiple
/// of P. The layout must outlive the arena. Starts with zeros.
template <class Real = float>
class Arena {
 public:
  Arena(ParameterLayout const& layout, std::string const& label)
      : layout_(&layout), values_(label, static_cast<std::size_t>(layout.count())) {}

  ParameterLayout const& layout() const { return *layout_; }
  Index count() const { return layout_->count(); }
  Vec<Real> const& flat() const { return values_; }  ///< (n)
  Real* data() const { return values_.data(); }
  std::span<Real> span() const { return {values_.data(), static_cast<std::size_t>(count())}; }
  Real* tensor(TensorInfo const& t) const { return values_.data() + t.offset; }

 private:
  ParameterLayout const* layout_;
  Vec<Real> values_;
};

}  // namespace bellwether
