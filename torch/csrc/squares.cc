#include "squares.h"

namespace graft {
namespace {

// The squared norm of all gradients together, in float64 on their device.
at::Tensor square(const std::vector<at::Tensor> &gradients) {
  std::vector<at::Tensor> norms;
  for (const at::Tensor &grad : gradients) norms.push_back(grad.norm(2).to(at::kDouble));
  return at::stack(norms).pow(2).sum();
}

}  // namespace

void Squares::add(const std::vector<at::Tensor> &found, int64_t own) {
  if (found.empty()) return;
  c10::NoGradGuard guard;
  if (own > 0) {
    const double share = rows_ / (static_cast<double>(own) * scale_);
    const at::Tensor of_part = square(found) * (share * share);
    parts_ = parts_.defined() ? parts_ + of_part : of_part;
    inverse_ += 1 / static_cast<double>(own);
    count_++;
  }
  for (size_t k = 0; k < sum_.size(); k++) {
    at::Tensor grad = found[k];
    grad.add_(sum_[k]);
  }
  sum_ = found;
}

void Squares::read(const std::vector<at::Tensor> &whole, Peers *peers, graft_squares &to) const {
  if (whole.empty()) return;
  c10::NoGradGuard guard;
  const at::Tensor of_whole = square(whole);
  const auto options = of_whole.options();
  const at::Tensor parts = parts_.defined() ? parts_ : at::zeros({}, options);
  at::Tensor sums = at::stack({parts, at::full({}, inverse_, options), at::full({}, count_, options)});
  if (peers != nullptr) peers->sum(sums);
  const at::Tensor all = at::cat({sums, of_whole.reshape({1})}).to(at::kCPU);
  const double *values = all.data_ptr<double>();
  to = {values[0], values[1], values[2], values[3], rows_};
}

}  // namespace graft
