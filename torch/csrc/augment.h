// Random shifts, mirrors and holes, put into images while a batch is gathered.
#ifndef GRAFT_AUGMENT_H
#define GRAFT_AUGMENT_H

#include <ATen/ATen.h>

namespace graft {

struct Augment {
  int64_t pad = 0;     // pixels: up to so many up, down, left or right
  int64_t cutout = 0;  // pixels: side of the hole
  bool flip = false;   // mirror every other image
  bool any() const { return pad != 0 || cutout != 0 || flip; }
};

// The images [N, C, H, W] that rows names, or all of them where rows is undefined,
// each with its own shift, mirror and hole. Where nothing is left stands 0. Always
// the same numbers are drawn, whatever is asked for and on however many threads,
// on the generator's device. by_operators takes the way of devices that have no
// kernel here; results are equal.
at::Tensor augment(const at::Tensor &images, const at::Tensor &rows, const Augment &a,
                   const c10::optional<at::Generator> &generator, bool by_operators = false);

}  // namespace graft

#endif
