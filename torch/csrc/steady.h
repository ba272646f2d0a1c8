// Layers whose gradients have the same bits whatever the number of threads.
#ifndef GRAFT_STEADY_H
#define GRAFT_STEADY_H

#include <torch/torch.h>

namespace graft {

struct ConvShape {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups;
};

// LibTorch sums the gradients of weights and biases over as many parts of a batch
// as there are threads. These take a fixed number of parts, and add them in order.
at::Tensor steady_conv2d(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias, const ConvShape &shape);
at::Tensor steady_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);

}  // namespace graft

#endif
