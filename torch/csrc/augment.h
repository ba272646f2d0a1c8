// Random shifts, flips and holes, applied to images while a batch is gathered.
#ifndef GRAFT_AUGMENT_H
#define GRAFT_AUGMENT_H

#include <ATen/ATen.h>

namespace graft {

struct Augment {
  int64_t pad = 0;     // largest shift in each direction, in pixels
  int64_t cutout = 0;  // side of the hole, in pixels
  bool flip = false;   // flip with a probability of one half
  bool any() const { return pad != 0 || cutout != 0 || flip; }
};

// Returns the images [N, C, H, W] of rows, or all of them if rows is undefined, each with its
// own shift, flip and hole. Pixels without a source are 0. The same numbers are drawn
// whatever the options and the number of threads, on the generator's device. by_operators
// uses LibTorch's operators, as on devices without a kernel here; results are equal.
at::Tensor augment(const at::Tensor &images, const at::Tensor &rows, const Augment &a,
                   const c10::optional<at::Generator> &generator, bool by_operators = false);

}  // namespace graft

#endif
