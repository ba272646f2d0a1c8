#include "numerics.h"

#include <cstdlib>

namespace graft {

Numerics::Numerics(const at::Device &device, bool steady, bool tf32) : set_(device.is_cuda()) {
  if (!set_) return;
  at::Context &context = at::globalContext();
  cudnn_tf32_ = context.allowTF32CuDNN();
  cublas_tf32_ = context.allowTF32CuBLAS();
  cudnn_ = context.deterministicCuDNN();
  algorithms_ = context.deterministicAlgorithms();
  only_warns_ = context.deterministicAlgorithmsWarnOnly();
  context.setAllowTF32CuDNN(tf32);
  context.setAllowTF32CuBLAS(tf32);
  if (!steady) return;
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);  // one of the two that cuBLAS's manual calls reproducible
  context.setDeterministicCuDNN(true);
  context.setDeterministicAlgorithms(true, false);
}

Numerics::~Numerics() {
  if (!set_) return;
  at::Context &context = at::globalContext();
  context.setAllowTF32CuDNN(cudnn_tf32_);
  context.setAllowTF32CuBLAS(cublas_tf32_);
  context.setDeterministicCuDNN(cudnn_);
  context.setDeterministicAlgorithms(algorithms_, only_warns_);
}

}  // namespace graft
