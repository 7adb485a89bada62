// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Unrolls a device loop over arrays in registers, whose indices the compiler must know.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BELLWETHER_UNROLL _Pragma("unroll")
#else
#define BELLWETHER_UNROLL
#endif
