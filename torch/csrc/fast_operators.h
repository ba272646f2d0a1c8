// Operators of the fast path: they compute what LibTorch's do, with other bits.
#pragma once

#include <ATen/ATen.h>

namespace graft {

// x Φ(x), or its approximation by tanh.
bool fast_gelu_fits(const at::Tensor &x);
at::Tensor fast_gelu(const at::Tensor &x, const std::string &approximate);

// x weightᵀ + bias by oneDNN.
bool fast_linear_fits(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);
at::Tensor fast_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);

}  // namespace graft
