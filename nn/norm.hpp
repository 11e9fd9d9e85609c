// Norm: LayerNorm or RMSNorm over the channels of each token, with learned gain (and bias).
//
//   LayerNorm   (x - E[x]) / sqrt(Var[x] + ε) · gain + bias
//   RMSNorm     x / sqrt(E[x²] + ε) · gain
//
// RMSNorm (Zhang and Sennrich, 2019) has no mean and no bias: it is cheaper, and as good in practice.
#pragma once

#include "core/ops.hpp"
#include "core/parameters.hpp"
#include "nn/config.hpp"

namespace attn {

struct Norm {
  NormKind kind = NormKind::layer;
  real epsilon = real(1e-5);
  Tensor gain, bias;  // (C), (C); no bias for RMSNorm

  Norm() = default;
  Norm(NormKind kind, Index channels, real epsilon = real(1e-5))
      : kind(kind), epsilon(epsilon), gain(ones({channels}).requires_grad()) {
    if (kind == NormKind::layer) bias = zeros({channels}).requires_grad();
  }

  explicit Norm(const TransformerConfig& config) : Norm(config.norm, config.d_model, config.norm_epsilon) {}

  Tensor operator()(const Tensor& x) const {  // (..., C) -> (..., C)
    return kind == NormKind::layer ? layer_norm(x, gain, bias, epsilon) : rms_norm(x, gain, epsilon);
  }
  void parameters(ParameterList& list) const {
    list.add("gain", gain);
    list.add("bias", bias);
  }
};

}  // namespace attn
