// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether {

/// In what matrices are stored and multiplied: fp32, or bf16 (rounded to nearest, ties to even) with sums in fp32.
enum class ComputeType { fp32, bf16 };
constexpr char const* compute_type_name(ComputeType type) { return type == ComputeType::bf16 ? "bf16" : "fp32"; }

/// Whether products in bf16 are faster than in fp32: on GPUs, and on hosts where the CPU that the program was compiled
/// for has instructions for them.
bool has_bf16_products();

}  // namespace bellwether
