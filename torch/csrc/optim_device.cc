// Optimizer steps whose rates and step counts lie on the device.
#include "guard.h"
#include "optim.h"

// LibTorch updates all parameters in one kernel, with a rate on the device since 2.1, also on
// the CPU since 2.4.
#define GRAFT_ADAM_AT_ONCE (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1))
#define GRAFT_ADAM_AT_ONCE_ON_CPU (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))

namespace graft {

bool Optimizer::on_device() const {
  for (const Slot &slot : slots_) {
    if (!slot.param.is_cuda() || !groups_[slot.group].fused) return false;
  }
  return !slots_.empty();
}

bool Optimizer::can_place() const {
  const int64_t *steps = steps_.data_ptr<int64_t>();
  for (size_t k = 0; k < slots_.size(); k++) {
    const graft_group &g = groups_[slots_[k].group];
    if (g.kind == GRAFT_SGD && g.momentum != 0 && steps[k] == 0) return false;
  }
  return true;
}

std::vector<double> Optimizer::settings() const {
  std::vector<double> all{static_cast<double>(id_)};
  for (const graft_group &g : groups_) {
    const double of[] = {double(g.nesterov), double(g.fused), g.beta1, g.beta2, g.eps, g.weight_decay, g.momentum, g.dampening, g.clip_norm, g.clip_value};
    all.insert(all.end(), std::begin(of), std::end(of));
  }
  return all;
}

void Optimizer::place() {
  const at::Device device = slots_.empty() ? at::Device(at::kCPU) : slots_[0].param.device();
  if (!taken_.defined()) {
    taken_ = at::zeros({steps_.numel()}, at::TensorOptions().dtype(at::kFloat).device(device));
    for (size_t g = 0; g < groups_.size(); g++) rates_.push_back(at::zeros({}, taken_.options().dtype(at::kDouble)));
  }
  taken_.copy_(steps_);
}

void Optimizer::aim() {
  for (size_t g = 0; g < groups_.size(); g++) rates_[g].fill_(groups_[g].lr);
}

void Optimizer::count(int64_t more) {
  int64_t *steps = steps_.data_ptr<int64_t>();
  for (size_t k = 0; k < slots_.size(); k++) steps[k] += slots_[k].param.grad().defined() ? more : 0;
}

std::vector<at::Tensor> Optimizer::changing(int32_t group) const {
  std::vector<at::Tensor> list;
  for (const Slot &slot : slots_) {
    if (slot.group != group || !slot.param.grad().defined()) continue;
    for (const at::Tensor &t : {slot.param, slot.first, slot.second}) {
      if (t.defined()) list.push_back(t.detach());
    }
  }
  return list;
}

void Optimizer::device_step(const at::Tensor &skips) {
  c10::NoGradGuard guard;
  if (skips.defined()) {
    taken_.add_(skips.logical_not());
  } else {
    taken_.add_(1);
  }
  for (int32_t group = 0; group < static_cast<int32_t>(groups_.size()); group++) {
    clip(group);
    const graft_group &g = groups_[group];
    if (g.kind != GRAFT_SGD && g.fused && adam_at_once(group, skips)) continue;
    std::vector<at::Tensor> now, then;
    if (skips.defined()) now = changing(group);
    for (const at::Tensor &t : now) then.push_back(t.clone());
    if (g.kind == GRAFT_SGD) {
      const at::Tensor rate = rates_[group].to(at::kFloat);
      for (Slot &slot : slots_) {
        if (slot.group == group && slot.param.grad().defined()) device_sgd(slot, g, rate);
      }
    } else {
      device_adam(group);
    }
    for (size_t k = 0; k < now.size(); k++) now[k].copy_(at::where(skips, then[k], now[k]));
  }
}

void Optimizer::device_sgd(Slot &slot, const graft_group &g, const at::Tensor &rate) {
  const at::Tensor grad = slot.param.grad();
  at::Tensor d = g.weight_decay != 0 ? grad.add(slot.param, g.weight_decay) : grad;
  if (g.momentum != 0) {
    slot.first.mul_(g.momentum).add_(d, 1 - g.dampening);
    d = g.nesterov ? d.add(slot.first, g.momentum) : slot.first;
  }
  slot.param.sub_(d * rate);
}

void Optimizer::device_adam(int32_t group) {
  const graft_group &g = groups_[group];
  const at::Tensor t = taken_.to(at::kDouble), rate = rates_[group];
  const at::Tensor size = (-rate / (1 - at::pow(g.beta1, t))).to(at::kFloat), root = (1 - at::pow(g.beta2, t)).sqrt().to(at::kFloat);
  const at::Tensor kept = (1 - rate * g.weight_decay).to(at::kFloat);
  for (size_t k = 0; k < slots_.size(); k++) {
    Slot &slot = slots_[k];
    at::Tensor grad = slot.param.grad();
    if (slot.group != group || !grad.defined()) continue;
    if (g.kind == GRAFT_ADAMW) {
      slot.param.mul_(kept);
    } else if (g.weight_decay != 0) {
      grad = grad.add(slot.param, g.weight_decay);
    }
    adam_moments(slot, grad, g);
    const at::Tensor denominator = (slot.second.sqrt() / root[static_cast<int64_t>(k)]).add_(g.eps);
    slot.param.add_((slot.first * size[static_cast<int64_t>(k)]) / denominator);
  }
}

#if GRAFT_ADAM_AT_ONCE

bool Optimizer::adam_at_once(int32_t group, const at::Tensor &skips) {
  const graft_group &g = groups_[group];
  std::vector<at::Tensor> params, grads, first, second, steps;
  for (size_t k = 0; k < slots_.size(); k++) {
    const Slot &slot = slots_[k];
    if (slot.group != group || !slot.param.grad().defined()) continue;
    if (slot.param.is_cpu() && !GRAFT_ADAM_AT_ONCE_ON_CPU) return false;
    params.push_back(slot.param);
    grads.push_back(slot.param.grad());
    first.push_back(slot.first);
    second.push_back(slot.second);
    steps.push_back(taken_[static_cast<int64_t>(k)]);
  }
  const at::Tensor rate = rates_[group].to(at::kFloat);
  const c10::optional<at::Tensor> found = skips.defined() ? c10::optional<at::Tensor>(skips.to(at::kFloat)) : c10::nullopt;
  auto update = [&](auto adam) { adam(params, grads, first, second, {}, steps, rate, g.beta1, g.beta2, g.weight_decay, g.eps, false, false, {}, found); };
  using Call = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, const at::Tensor &, double, double, double,
                        double, bool, bool, const c10::optional<at::Tensor> &, const c10::optional<at::Tensor> &);
  update(g.kind == GRAFT_ADAMW ? static_cast<Call>(at::_fused_adamw_) : static_cast<Call>(at::_fused_adam_));
  return true;
}

#else

bool Optimizer::adam_at_once(int32_t, const at::Tensor &) { return false; }

#endif

}  // namespace graft
