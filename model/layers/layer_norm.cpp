// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/layer_norm.hpp"

#include "core/system/error.hpp"
#include "model/layers/layer_norm_body.hpp"
#include "model/layers/layer_norm_lanes.hpp"

namespace bellwether::model {

template <class Real, class Stored, class Space>
void layer_norm_forward(Space const& exec, LayerNormForward<Real, Stored> const& p) {
  require((p.bias == nullptr) == (p.residual == nullptr), "layer norm needs both bias and residual, or neither");
  if constexpr (has_packs<Real, Space>)
    if (normalise_by_lanes(exec, p)) return;
  for_each_row("bellwether::model::layer_norm_forward", exec, p.rows, p.C, NormaliseRow<Real, Stored>{p});
}

template <class Real, class Stored, class Space>
void layer_norm_backward(Space const& exec, LayerNormBackward<Real, Stored> const& p,
                         BlockScratchOf<Real> const& scratch) {
  require((p.da == nullptr) == (p.dbias == nullptr),
          "layer norm needs both gradients, of the input and of its bias, or neither");
  ColumnSums<Real> const to{p.C, {p.dgamma, p.dbeta, p.dbias}};
  scratch.sum(exec, row_blocks(p.rows), to, [&](Real* partial) {
    if constexpr (has_packs<Real, Space>)
      if (normalise_backward_by_lanes(exec, p, partial)) return;
    for_each_row("bellwether::model::layer_norm_backward", exec, row_blocks(p.rows), p.C,
                 NormaliseBlockBackward<Real, Stored>{p, to.columns(), partial});
  });
}

#define BELLWETHER_LAYER_NORM_OF(SPACE, REAL, STORED)                                    \
  template void layer_norm_forward(SPACE const&, LayerNormForward<REAL, STORED> const&); \
  template void layer_norm_backward(SPACE const&, LayerNormBackward<REAL, STORED> const&, BlockScratchOf<REAL> const&);
#define BELLWETHER_LAYER_NORM(SPACE)              \
  BELLWETHER_LAYER_NORM_OF(SPACE, float, float)   \
  BELLWETHER_LAYER_NORM_OF(SPACE, double, double) \
  BELLWETHER_LAYER_NORM_OF(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_LAYER_NORM)

}  // namespace bellwether::model
