// Layers whose results have the same bits whatever the number of threads.
#ifndef GRAFT_STEADY_H
#define GRAFT_STEADY_H

#include <torch/torch.h>

namespace graft {

struct ConvShape {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups;
};

// use sets the number of threads for the calling thread alone.
void use(int threads);

// Narrow leaves one thread to a steady program's call: what LibTorch splits by the number of
// threads it rounds differently for each. The layers below take all threads for what does
// not depend on them. A call within a call changes nothing.
class Narrow {
 public:
  explicit Narrow(bool steady);
  ~Narrow();

 private:
  int was_;  // zero if this is not the outermost
};

// LibTorch sums the gradients of weights and biases over as many parts of a batch
// as there are threads. These take a fixed number of parts, and add them in order.
at::Tensor steady_conv2d(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias, const ConvShape &shape);
at::Tensor steady_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias);
at::Tensor steady_layer_norm(const at::Tensor &x, at::IntArrayRef sizes, const at::Tensor &weight, const at::Tensor &bias, double eps);
at::Tensor steady_group_norm(const at::Tensor &x, int64_t groups, const at::Tensor &weight, const at::Tensor &bias, double eps);

// Runs body, whose bits do not depend on the number of threads, and its gradient on all
// threads.
at::Tensor on_all_threads(const std::function<at::Tensor()> &body);

}  // namespace graft

#endif
