// Optimizers over tensors that belong to the caller.
#pragma once

#include <vector>

#include <torch/torch.h>

#include "../graft.h"

namespace graft {

class Optimizer {
 public:
  Optimizer(const graft_group *groups, int32_t ngroups, const graft_t *params, const graft_t *first,
            const graft_t *second, graft_t steps);

  void configure(int32_t index, const graft_group &group);
  void set_rate(double rate);  // of all groups
  void zero_grad();
  void step();
  std::vector<at::Tensor> gradients() const;  // in the order of the parameters
  std::vector<at::Tensor> state() const;      // that a step changes

 private:
  struct Slot {
    at::Tensor param, first, second;
    int32_t group;
  };

  void clip(int32_t group);
  void sgd(Slot &slot, const at::Tensor &grad, const graft_group &g, bool seen);
  void adam(Slot &slot, at::Tensor grad, const graft_group &g, int64_t t);
  bool adam_fused(Slot &slot, const at::Tensor &grad, const graft_group &g, int64_t t);

  std::vector<graft_group> groups_;
  std::vector<Slot> slots_;
  at::Tensor steps_;  // int64 on the host, one for each parameter
};

}  // namespace graft
