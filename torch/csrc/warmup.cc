#include "warmup.h"

#include "guard.h"

namespace graft {

WarmUp::WarmUp(const graft_batches &b, const Optimizer &optimizer) : length_(b.warm_up_length), past_(b.warm_up_past) {
  if (length_ <= 0 || b.born == nullptr) return;
  const std::vector<at::Tensor> params = optimizer.params();
  TORCH_CHECK(b.nborn == static_cast<int64_t>(params.size()), b.nborn, " warm-ups of ", params.size(), " parameters");
  for (size_t k = 0; k < params.size(); k++) {
    if (b.born[k] == nullptr) continue;
    warm_.push_back(Warm{params[k].detach(), deref(b.born[k], "the steps in which a parameter was made"), {}});
    const Warm &last = warm_.back();
    TORCH_CHECK(last.born.sizes() == last.param.sizes() && last.born.scalar_type() == at::kDouble, "a warm-up of shape ", last.born.sizes(),
                " of a parameter of shape ", last.param.sizes());
  }
}

void WarmUp::before() {
  for (Warm &w : warm_) w.before = w.param.clone();
}

// As in the warm-up of a schedule, the first of n steps has an nth of the rate. Older elements keep every bit.
void WarmUp::after(int64_t step) {
  c10::NoGradGuard guard;
  for (Warm &w : warm_) {
    const at::Tensor factor = (static_cast<double>(past_ + step + 1) - w.born) / static_cast<double>(length_);
    const at::Tensor less = w.before + (w.param - w.before) * factor.to(w.param.scalar_type());
    w.param.copy_(at::where(factor < 1, less, w.param));
    w.before.reset();
  }
}

}  // namespace graft
