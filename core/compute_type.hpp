// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether {

/// In what a product's operands are multiplied: in their own type, or rounded to bf16 (to nearest, ties to even) and
/// summed in fp32.
enum class ComputeType { fp32, bf16 };

/// Whether products in bf16 are faster than in fp32: the CPU that the program was compiled for has instructions for
/// them. Elsewhere rounded operands are multiplied as floats.
bool has_bf16_products();

}  // namespace bellwether
