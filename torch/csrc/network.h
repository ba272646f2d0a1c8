// What training and evaluation need of a network, however it is written down.
#pragma once

#include <memory>
#include <vector>

#include <torch/torch.h>

#include "../graft.h"
#include "recorded.h"

namespace graft {

// Network runs in one call: a Program of layers, or Calls of operators.
class Network {
 public:
  virtual ~Network() = default;
  Network(const Network &) = delete;
  Network &operator=(const Network &) = delete;

  // Masks, where given, hold the random numbers of dropout; nullptr draws them.
  virtual at::Tensor forward(const at::Tensor &input, bool training, c10::optional<at::Generator> generator, Masks *masks = nullptr) const = 0;

  bool records() const { return records_; }
  bool tf32() const { return tf32_; }
  bool steady() const { return steady_; }
  int32_t fused() const { return fused_; }
  // The number of operators that a stopwatch tells apart.
  virtual size_t operators() const = 0;
  at::Device device() const { return tensors_.empty() ? at::Device(at::kCPU) : tensors_[0].device(); }
  const std::vector<at::Tensor> &tensors() const { return tensors_; }
  // The recorded step of training or of evaluation; nullptr until it is made.
  std::unique_ptr<Recorded> &recorded(bool training) { return recorded_[training]; }

 protected:
  explicit Network(int32_t flags)
      : fast_((flags & GRAFT_PROGRAM_FAST) != 0), steady_((flags & GRAFT_PROGRAM_STEADY) != 0), records_((flags & GRAFT_PROGRAM_RECORDED) != 0), tf32_((flags & GRAFT_PROGRAM_TF32) != 0) {}

  // Throws if steps are to be recorded, and this library cannot record them.
  void check_recording() const {
    TORCH_CHECK(!records_ || can_record(device()), "CUDA graphs need CUDA's headers when the library is built; install them, or set CUDA_HOME, and build it again");
  }

  std::vector<at::Tensor> tensors_;
  int32_t fused_ = 0;
  bool fast_;     // layers that are neighbours run as one kernel
  bool steady_;   // gradients do not depend on the number of threads
  bool records_;  // full batches are steps of a recording
  bool tf32_;     // products round operands to TF32, on CUDA devices

 private:
  std::unique_ptr<Recorded> recorded_[2];
};

}  // namespace graft
