// Scaling of the loss, so that small gradients do not vanish in float16.
#ifndef GRAFT_SCALER_H
#define GRAFT_SCALER_H

#include <vector>

#include <ATen/ATen.h>

#include "../graft.h"

namespace graft {

// Scaler follows torch.cuda.amp.GradScaler (Micikevicius et al. 2018): a step whose gradients
// are not finite is skipped and halves the scale, and so many finite ones in a row double it.
class Scaler {
 public:
  explicit Scaler(graft_scaler *kept);

  at::Tensor scaled(const at::Tensor &loss) const { return kept_ == nullptr ? loss : loss * now_.scale; }
  double scale() const { return kept_ == nullptr ? 1 : now_.scale; }
  // Divides gradients by the scale, and returns whether all are finite.
  bool unscale(std::vector<at::Tensor> &gradients);
  // Returns the state to the caller.
  void keep() const {
    if (kept_ != nullptr) *kept_ = now_;
  }

 private:
  graft_scaler *kept_;  // nullptr scales nothing
  graft_scaler now_{};
};

}  // namespace graft

#endif
