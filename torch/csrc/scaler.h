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

  bool scales() const { return kept_ != nullptr; }
  at::Tensor scaled(const at::Tensor &loss) const;
  double scale() const;  // waits for the device once the state is there
  // Divides gradients by the scale, and returns whether all are finite, which the host waits for.
  bool unscale(std::vector<at::Tensor> &gradients);

  // The same without a wait: once the state is on the device, placed_unscale returns there whether
  // the step is skipped, and the host learns at the end.
  void place(const at::Device &device);
  at::Tensor placed_unscale(std::vector<at::Tensor> &gradients);

  // Returns the state to the caller, and how many steps were skipped on the device.
  int64_t keep();

 private:
  graft_scaler *kept_;  // nullptr scales nothing
  graft_scaler now_{};  // on the host, until it is placed
  at::Tensor scale_, streak_, skipped_;
};

}  // namespace graft

#endif
