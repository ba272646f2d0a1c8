// Copies channels of a weight, as widening a network does.
#ifndef GRAFT_SPREAD_H
#define GRAFT_SPREAD_H

#include <ATen/ATen.h>

namespace graft {

// Each may be undefined: then the dimension, or the value, is kept.
struct Spread {
  at::Tensor rows;    // int64: the source of each row, dimension 0
  at::Tensor columns; // int64: the source of each column, dimension 1
  at::Tensor scale;   // a factor for each row
  at::Tensor copies;  // number of copies of each column's source
  at::Tensor first;   // 1 for the first copy of a source, else 0
};

// With copies and first, a column is divided among its copies, whose sum is exact in any
// order.
at::Tensor spread(const at::Tensor &t, const Spread &s);

}  // namespace graft

#endif
