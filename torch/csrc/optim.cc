#include "optim.h"

#include <atomic>
#include <cmath>

#include "guard.h"
#include "kernels.h"
#include "stopwatch.h"

namespace graft {

namespace {

int64_t next_id() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

}  // namespace

Optimizer::Optimizer(const graft_group *groups, int32_t ngroups, const graft_t *params, const graft_t *first,
                     const graft_t *second, graft_t steps)
    : groups_(groups, groups + ngroups), steps_(deref(steps, "the step counts")), id_(next_id()) {
  for (int32_t g = 0; g < ngroups; g++) {
    for (int32_t k = 0; k < groups[g].nparams; k++) {
      size_t at = slots_.size();
      slots_.push_back(Slot{deref(params[at], "a parameter"), optional(first[at]), optional(second[at]), g});
      TORCH_CHECK(slots_[at].param.is_leaf(), "parameter ", at, " is the result of an operator, not a leaf");
    }
  }
  TORCH_CHECK(steps_.is_cpu() && steps_.scalar_type() == at::kLong && steps_.numel() == static_cast<int64_t>(slots_.size()),
              "the step counts must be ", slots_.size(), " int64 values on the host");
}

void Optimizer::configure(int32_t index, const graft_group &group) {
  TORCH_CHECK(index >= 0 && index < static_cast<int32_t>(groups_.size()), "group ", index, " of ", groups_.size());
  int32_t nparams = groups_[index].nparams;
  groups_[index] = group;
  groups_[index].nparams = nparams;
}

void Optimizer::set_rate(double rate) {
  for (graft_group &group : groups_) group.lr = rate;
}

void Optimizer::zero_grad() {
  for (Slot &slot : slots_) slot.param.mutable_grad().reset();
}

std::vector<at::Tensor> Optimizer::gradients() const {
  std::vector<at::Tensor> list;
  for (const Slot &slot : slots_) {
    if (slot.param.grad().defined()) list.push_back(slot.param.grad());
  }
  return list;
}

std::vector<at::Tensor> Optimizer::params() const {
  std::vector<at::Tensor> list;
  for (const Slot &slot : slots_) list.push_back(slot.param);
  return list;
}

std::vector<at::Tensor> Optimizer::state() const {
  std::vector<at::Tensor> list{steps_};
  for (const Slot &slot : slots_) {
    for (const at::Tensor &t : {slot.param, slot.first, slot.second}) {
      if (t.defined()) list.push_back(t);
    }
  }
  return list;
}

void Optimizer::step() {
  c10::NoGradGuard guard;
  for (size_t g = 0; g < groups_.size(); g++) clip(static_cast<int32_t>(g));
  int64_t *steps = steps_.data_ptr<int64_t>();
  for (size_t k = 0; k < slots_.size(); k++) {
    Slot &slot = slots_[k];
    const at::Tensor grad = slot.param.grad();
    if (!grad.defined()) continue;
    const graft_group &g = groups_[slot.group];
    if (g.kind == GRAFT_SGD) {
      sgd(slot, grad, g, steps[k] > 0);
    } else {
      adam(slot, grad, g, steps[k] + 1);
    }
    steps[k]++;
    if (stopwatch() != nullptr) stopwatch()->parameter(k);
  }
}

// Bounds the gradients of a group: each value, or their total norm (Pascanu, Mikolov and
// Bengio 2013), in the operations of torch.nn.utils.
void Optimizer::clip(int32_t group) {
  const graft_group &g = groups_[group];
  if (g.clip_norm <= 0 && g.clip_value <= 0) return;
  std::vector<at::Tensor> grads, norms;
  for (const Slot &slot : slots_) {
    if (slot.group == group && slot.param.grad().defined()) grads.push_back(slot.param.grad());
  }
  if (grads.empty()) return;
  if (g.clip_value > 0) {
    for (at::Tensor &grad : grads) grad.clamp_(-g.clip_value, g.clip_value);
  }
  if (g.clip_norm <= 0) return;
  for (const at::Tensor &grad : grads) norms.push_back(grad.norm(2));
  // As Python divides a number by a tensor.
  const at::Tensor factor = ((at::stack(norms).norm(2) + 1e-6).reciprocal() * g.clip_norm).clamp_max(1.0);
  for (at::Tensor &grad : grads) grad.mul_(factor);
}

// Sutskever et al. 2013, in PyTorch's form: the first step's buffer is the gradient.
void Optimizer::sgd(Slot &slot, const at::Tensor &grad, const graft_group &g, bool seen) {
  at::Tensor d = g.weight_decay != 0 ? grad.add(slot.param, g.weight_decay) : grad;
  if (g.momentum != 0) {
    if (seen) {
      slot.first.mul_(g.momentum).add_(d, 1 - g.dampening);
    } else {
      slot.first.copy_(d);
    }
    d = g.nesterov ? d.add(slot.first, g.momentum) : slot.first;
  }
  slot.param.add_(d, -g.lr);
}

// Kingma and Ba 2015; decoupled decay is Loshchilov and Hutter 2019. The order
// of operations is PyTorch's, whose first moment is a lerp from 2.0 on.
void Optimizer::adam(Slot &slot, at::Tensor grad, const graft_group &g, int64_t t) {
  if (g.fused && adam_fused(slot, grad, g, t)) return;
  if (g.kind == GRAFT_ADAMW) {
    slot.param.mul_(1 - g.lr * g.weight_decay);
  } else if (g.weight_decay != 0) {
    grad = grad.add(slot.param, g.weight_decay);
  }
  adam_moments(slot, grad, g);
  const double correction1 = 1 - std::pow(g.beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(g.beta2, static_cast<double>(t));
  at::Tensor denominator = (slot.second.sqrt() / std::sqrt(correction2)).add_(g.eps);
  slot.param.addcdiv_(slot.first, denominator, -g.lr / correction1);
}

void Optimizer::adam_moments(Slot &slot, const at::Tensor &grad, const graft_group &g) {
#if TORCH_VERSION_MAJOR >= 2
  slot.first.lerp_(grad, 1 - g.beta1);
#else
  slot.first.mul_(g.beta1).add_(grad, 1 - g.beta1);
#endif
  slot.second.mul_(g.beta2).addcmul_(grad, grad, 1 - g.beta2);
}

bool Optimizer::adam_fused(Slot &slot, const at::Tensor &grad, const graft_group &g, int64_t t) {
  for (const at::Tensor &x : {slot.param, slot.first, slot.second, grad}) {
    if (!x.is_cpu() || x.scalar_type() != at::kFloat || !x.is_contiguous()) return false;
  }
  const double correction1 = 1 - std::pow(g.beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(g.beta2, static_cast<double>(t));
  const bool decoupled = g.kind == GRAFT_ADAMW;
  kernels().adam(slot.param.data_ptr<float>(), grad.data_ptr<float>(), slot.first.data_ptr<float>(),
                 slot.second.data_ptr<float>(), slot.param.numel(), static_cast<float>(g.beta1),
                 static_cast<float>(g.beta2), static_cast<float>(g.lr / correction1),
                 static_cast<float>(std::sqrt(correction2)), static_cast<float>(g.eps),
                 static_cast<float>(decoupled ? 0 : g.weight_decay),
                 static_cast<float>(decoupled ? 1 - g.lr * g.weight_decay : 1));
  return true;
}

}  // namespace graft

using graft::guarded;
using graft::Optimizer;

char *graft_optimizer_new(const graft_group *groups, int32_t ngroups, const graft_t *params, const graft_t *first,
                          const graft_t *second, graft_t steps, graft_optimizer *out) {
  return guarded([&] { *out = new Optimizer(groups, ngroups, params, first, second, steps); });
}

char *graft_optimizer_configure(graft_optimizer o, int32_t index, const graft_group *group) {
  return guarded([&] { static_cast<Optimizer *>(o)->configure(index, *group); });
}

char *graft_optimizer_zero_grad(graft_optimizer o) {
  return guarded([&] { static_cast<Optimizer *>(o)->zero_grad(); });
}

char *graft_optimizer_step(graft_optimizer o) {
  return guarded([&] { static_cast<Optimizer *>(o)->step(); });
}

void graft_optimizer_close(graft_optimizer o) { delete static_cast<Optimizer *>(o); }
