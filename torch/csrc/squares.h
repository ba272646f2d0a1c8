// Squared norms of gradients of parts of a batch, from which the noise of gradients follows.
#ifndef GRAFT_SQUARES_H
#define GRAFT_SQUARES_H

#include <vector>

#include <ATen/ATen.h>

#include "../graft.h"
#include "peers.h"

namespace graft {

// Squares collects the gradients of a step part by part. It adds them up in place in the order in which
// backward would, so a step that is measured has the bits of one in the same parts that is not.
class Squares {
 public:
  Squares(int64_t rows, double scale) : rows_(static_cast<double>(rows)), scale_(scale) {}

  // Takes the gradients of a part, of which this process has some rows: their sum divided by the rows of the
  // batch, times the scale of the loss.
  void add(const std::vector<at::Tensor> &found, int64_t own);
  // Reads the squares, given the gradients of the whole batch. All processes call it.
  void read(const std::vector<at::Tensor> &whole, Peers *peers, graft_squares &to) const;

 private:
  const double rows_, scale_;
  std::vector<at::Tensor> sum_;
  at::Tensor parts_;
  double inverse_ = 0, count_ = 0;
};

}  // namespace graft

#endif
