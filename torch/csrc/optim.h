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

  // The same step with all numbers that differ between steps on the device, so that it can be
  // recorded: place before the first, aim before and count after each of them.
  void place();
  void aim();
  void device_step(const at::Tensor &skips = {});  // changes nothing where skips, a boolean on the device, is true
  void count(int64_t steps = 1);
  bool on_device() const;  // whether such a step is faster in any case
  bool can_place() const;  // the first step of a momentum is another one

  int64_t id() const { return id_; }                // of no other optimizer
  std::vector<double> settings() const;             // that a recorded step keeps: all but the rates
  std::vector<at::Tensor> gradients() const;  // in the order of the parameters
  size_t parameters() const { return slots_.size(); }
  std::vector<at::Tensor> params() const;
  std::vector<at::Tensor> state() const;      // that a step changes

 private:
  struct Slot {
    at::Tensor param, first, second;
    int32_t group;
  };

  void clip(int32_t group);
  void sgd(Slot &slot, const at::Tensor &grad, const graft_group &g, bool seen);
  void adam(Slot &slot, at::Tensor grad, const graft_group &g, int64_t t);
  void adam_moments(Slot &slot, const at::Tensor &grad, const graft_group &g);
  bool adam_fused(Slot &slot, const at::Tensor &grad, const graft_group &g, int64_t t);
  void device_sgd(Slot &slot, const graft_group &g, const at::Tensor &rate);
  void device_adam(int32_t group);
  bool adam_at_once(int32_t group, const at::Tensor &skips);
  std::vector<at::Tensor> changing(int32_t group) const;  // by a step

  std::vector<graft_group> groups_;
  std::vector<Slot> slots_;
  at::Tensor steps_;  // int64 on the host, one for each parameter
  const int64_t id_;

  at::Tensor taken_;                // the step counts on the device
  std::vector<at::Tensor> rates_;  // of the groups, on the device
};

}  // namespace graft
