// Copies channels of a weight around, as widening a network does.
#ifndef GRAFT_SPREAD_H
#define GRAFT_SPREAD_H

#include <ATen/ATen.h>

namespace graft {

// Each may be undefined: then the dimension, or the value, stays as it is.
struct Spread {
  at::Tensor rows;    // int64: the source of each row, dimension 0
  at::Tensor columns; // int64: the source of each column, dimension 1
  at::Tensor scale;   // a factor for each row
  at::Tensor copies;  // how many copies of its source there are, for each column
  at::Tensor first;   // 1 for the first copy of a source, else 0
};

// With copies and first, the copies of a column share its value such that they
// add up to it exactly, in any order.
at::Tensor spread(const at::Tensor &t, const Spread &s);

}  // namespace graft

#endif
