// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Before a loop over what lies in registers of a device, whose index must be known to the compiler.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define BELLWETHER_UNROLL _Pragma("unroll")
#else
#define BELLWETHER_UNROLL
#endif
