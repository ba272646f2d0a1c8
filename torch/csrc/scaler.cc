#include "scaler.h"

namespace graft {
namespace {

constexpr double kGrowth = 2, kBackoff = 0.5;  // PyTorch's

// Divides gradients by the scale, and returns whether all are finite, on their device.
template <typename Inverse>
at::Tensor divided(std::vector<at::Tensor> &gradients, const Inverse &inverse) {
  at::Tensor finite;
  for (at::Tensor &grad : gradients) {
    grad.mul_(inverse);
    const at::Tensor all = at::isfinite(grad).all();
    finite = finite.defined() ? finite.logical_and(all) : all;
  }
  return finite;
}

}  // namespace

Scaler::Scaler(graft_scaler *kept) : kept_(kept) {
  if (kept_ == nullptr) return;
  now_ = *kept_;
  TORCH_CHECK(now_.scale > 0 && now_.interval > 0, "a loss scale of ", now_.scale, " that doubles after ", now_.interval, " steps");
}

at::Tensor Scaler::scaled(const at::Tensor &loss) const {
  if (kept_ == nullptr) return loss;
  return scale_.defined() ? loss * scale_.to(loss.scalar_type()) : loss * now_.scale;
}

double Scaler::scale() const {
  if (kept_ == nullptr) return 1;
  return scale_.defined() ? scale_.item<double>() : now_.scale;
}

bool Scaler::unscale(std::vector<at::Tensor> &gradients) {
  if (kept_ == nullptr || gradients.empty()) return true;
  c10::NoGradGuard guard;
  if (!divided(gradients, 1 / now_.scale).item<bool>()) {
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

void Scaler::place(const at::Device &device) {
  if (scale_.defined()) return;
  const auto options = at::TensorOptions().device(device);
  scale_ = at::full({}, now_.scale, options.dtype(at::kDouble));
  streak_ = at::full({}, now_.streak, options.dtype(at::kLong));
  skipped_ = at::zeros({}, options.dtype(at::kLong));
}

at::Tensor Scaler::placed_unscale(std::vector<at::Tensor> &gradients) {
  c10::NoGradGuard guard;
  const at::Tensor finite = divided(gradients, scale_.reciprocal());
  streak_ = (streak_ + 1) * finite;
  const at::Tensor grows = streak_.eq(now_.interval);
  scale_ = at::where(finite, at::where(grows, scale_ * kGrowth, scale_), scale_ * kBackoff);
  streak_ = streak_ * grows.logical_not();
  const at::Tensor skips = finite.logical_not();
  skipped_ = skipped_ + skips;
  return skips;
}

int64_t Scaler::keep() {
  if (kept_ == nullptr) return 0;
  int64_t skipped = 0;
  if (scale_.defined()) {
    const at::Tensor all = at::stack({scale_, streak_.to(at::kDouble), skipped_.to(at::kDouble)}).to(at::kCPU);
    const double *values = all.data_ptr<double>();
    skipped = static_cast<int64_t>(values[2]);
    now_.scale = values[0];
    now_.streak = static_cast<int64_t>(values[1]);
    now_.skipped += skipped;
  }
  *kept_ = now_;
  return skipped;
}

}  // namespace graft
