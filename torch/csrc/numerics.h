// How CUDA's libraries round, and whether they give the same bits again.
#ifndef GRAFT_NUMERICS_H
#define GRAFT_NUMERICS_H

#include <ATen/Context.h>

namespace graft {

// Numerics sets what a program on a CUDA device asks for, until it ends. LibTorch lets cuDNN
// multiply float32 in TF32, with 11 significant bits, unless it is told otherwise; here a program
// must ask for it. A steady program takes only operators that give the same bits again: one that
// has none is an error.
class Numerics {
 public:
  Numerics(const at::Device &device, bool steady, bool tf32);
  ~Numerics();
  Numerics(const Numerics &) = delete;
  Numerics &operator=(const Numerics &) = delete;

 private:
  bool set_, cudnn_tf32_, cublas_tf32_, cudnn_, algorithms_, only_warns_;  // as they were
};

}  // namespace graft

#endif
