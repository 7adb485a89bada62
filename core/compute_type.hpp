// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bellwether {

/// Type of stored matrices and matrix products: fp32, or bf16 (rounded to nearest, ties to even) with fp32
/// accumulation.
enum class ComputeType { fp32, bf16 };
constexpr char const* compute_type_name(ComputeType type) { return type == ComputeType::bf16 ? "bf16" : "fp32"; }

/// Returns true if bf16 products are faster than fp32: on GPUs, and on CPUs if the build target has bf16 instructions.
bool has_bf16_products();

}  // namespace bellwether
