// The fast path's layers, which program.cc calls in place of several operators.
#pragma once

#include <torch/torch.h>

namespace graft {

// BatchNorm, then an optional ReLU, then an average over windows: 1 x 1 means no pool, a
// height of 0 the whole image.
struct NormOptions {
  int64_t window_height = 1, window_width = 1;
  bool relu = false, training = false;
  double momentum = 0.1, eps = 1e-5;
};

// before is a bias added before the normalisation, undefined for none. The batch's mean
// cancels it, so it only changes the running mean, and its
// gradient is zero: PyTorch's is the rounding error of a sum that cancels.
struct NormWeights {
  at::Tensor weight, bias, running_mean, running_var, before;
};

// Whether fused_norm can take x: a dense float32 CPU image batch. In eval mode
// it has no gradient, so it is only for calls without one.
bool can_fuse(const at::Tensor &x, const NormWeights &w, const NormOptions &o);
at::Tensor fused_norm(const at::Tensor &x, const NormWeights &w, const NormOptions &o);

// avg_pool2d(relu(x), 2), or without the ReLU, bit-equal to LibTorch's own.
at::Tensor exact_pool2(const at::Tensor &x, bool relu);

}  // namespace graft
