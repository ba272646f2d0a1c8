// A network as a flat program, run layer by layer inside LibTorch.
#pragma once

#include <vector>

#include <torch/torch.h>

#include "../graft.h"
#include "network.h"

namespace graft {

class Program final : public Network {
 public:
  Program(const graft_instr *code, int32_t count, int32_t registers, const graft_t *tensors, int32_t ntensors,
          int32_t output, int32_t flags);

  at::Tensor forward(const at::Tensor &input, bool training, c10::optional<at::Generator> generator, Masks *masks = nullptr) const override;

  size_t operators() const override { return operators_; }

 private:
  bool reduced() const { return product_ != at::kFloat; }

  struct Step {
    graft_instr code;
    size_t place;  // among the instructions as they were given, which fusing makes fewer
    std::vector<int32_t> last_use;  // registers that no later step reads
  };

  void fuse_norms();
  void fuse_pools();
  void erase(int32_t at) { steps_.erase(steps_.begin() + at); }
  void mark_last_uses();
  int32_t only_reader(int32_t reg, size_t from) const;
  bool on_host(const graft_instr &c) const;
  void absorb_bias(size_t at);
  bool fuse_pool(graft_instr &norm, const graft_instr &pool) const;
  at::Tensor weight(const graft_instr &c, int k) const { return c.weights[k] < 0 ? at::Tensor() : tensors_[c.weights[k]]; }

  // State of one pass over the program.
  struct Pass {
    std::vector<at::Tensor> regs;
    std::vector<at::Tensor> rounded;  // weights in the type of products, made at first use
    bool training;
    c10::optional<at::Generator> generator;
    Masks *masks;
  };

  at::Tensor run(const graft_instr &c, Pass &pass) const;
  at::Tensor compute(const graft_instr &c, Pass &pass) const;
  at::Tensor multiply(const graft_instr &c, Pass &pass) const;
  at::Tensor operand(const graft_instr &c, int k, Pass &pass) const;
  at::Tensor normalize(const graft_instr &c, const at::Tensor &x) const;
  at::Tensor run_norm(const graft_instr &c, const at::Tensor &x, bool training) const;
  at::Tensor batch_norm(const graft_instr &c, const at::Tensor &x, bool training) const;
  at::Tensor fused_norm(const graft_instr &c, const at::Tensor &x, bool training) const;

  std::vector<Step> steps_;
  size_t operators_;
  int32_t registers_, output_;
  at::ScalarType product_;  // type of the operands of products; float32 keeps theirs
};

}  // namespace graft
