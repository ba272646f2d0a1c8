// A warm-up of new parameters, next to older ones that keep their rate.
#pragma once

#include <vector>

#include <torch/torch.h>

#include "../graft.h"
#include "optim.h"

namespace graft {

// Every update rule changes a parameter in proportion to its rate, decoupled decay included. A lower rate of an element is
// therefore the same as a smaller part of its change, whichever kernel makes the change.
class WarmUp {
 public:
  WarmUp(const graft_batches &b, const Optimizer &optimizer);

  bool on() const { return !warm_.empty(); }
  void before();             // the optimizer's step
  void after(int64_t step);  // of the call

 private:
  struct Warm {
    at::Tensor param, born, before;
  };

  std::vector<Warm> warm_;
  int64_t length_, past_;
};

}  // namespace graft
