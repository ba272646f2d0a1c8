#include "scaler.h"

namespace graft {
namespace {

constexpr double kGrowth = 2, kBackoff = 0.5;  // PyTorch's

}  // namespace

Scaler::Scaler(graft_scaler *kept) : kept_(kept) {
  if (kept_ == nullptr) return;
  now_ = *kept_;
  TORCH_CHECK(now_.scale > 0 && now_.interval > 0, "a loss scale of ", now_.scale, " that doubles after ", now_.interval, " steps");
}

bool Scaler::unscale(std::vector<at::Tensor> &gradients) {
  if (kept_ == nullptr || gradients.empty()) return true;
  c10::NoGradGuard guard;
  at::Tensor finite;
  for (at::Tensor &grad : gradients) {
    grad.mul_(1 / now_.scale);
    const at::Tensor all = at::isfinite(grad).all();
    finite = finite.defined() ? finite.logical_and(all) : all;
  }
  if (!finite.item<bool>()) {
    now_.scale *= kBackoff;
    now_.streak = 0;
    now_.skipped++;
    return false;
  }
  if (++now_.streak == now_.interval) {
    now_.scale *= kGrowth;
    now_.streak = 0;
  }
  return true;
}

}  // namespace graft
