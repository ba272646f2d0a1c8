// Convolutions of 1×1 with a stride, where LibTorch's own would damage memory.
#ifndef GRAFT_STRIDED_H
#define GRAFT_STRIDED_H

#include "steady.h"

namespace graft {

// oneDNN writes beyond its buffers in 1×1 convolutions with a stride on channels-last tensors of few channels: fewer than
// 16 on several threads, up to LibTorch 2.11 at least, and fewer than eight on any number of threads in LibTorch 1.13
// where the processor has AVX2 and no AVX-512, or is limited so. PyTorch dies there too. Such a convolution is one with a stride of one on every
// stride-th pixel. This returns these pixels, and sets the stride to one; elsewhere it returns x.
at::Tensor every_stride(const at::Tensor &x, const at::Tensor &weight, ConvShape &shape);

}  // namespace graft
#endif
