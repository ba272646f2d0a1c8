// Processes that train together, each with a copy of the network.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "../graft.h"

namespace graft {

// Thrown when another process is gone or silent. Go recognizes it by the beginning of its
// message.
constexpr const char *kPeerLost = "peer lost: ";

class PeerLost : public std::runtime_error {
 public:
  explicit PeerLost(const std::string &why) : std::runtime_error(kPeerLost + why) {}
};

// Peers is this process's membership in a group. All make the same calls in the same order.
// After a first failure every call fails, and a new group must be formed.
class Peers {
 public:
  Peers(int32_t rank, int32_t size) : rank(rank), size(size) {}
  virtual ~Peers() = default;

  // Sums a tensor over all processes, in place; each gets the same bits.
  void sum(at::Tensor &t);
  // The same for many tensors: those of a type and a device go in one message.
  void sum(const std::vector<at::Tensor> &tensors);
  // Copies root's tensors to all processes, in place.
  void broadcast(std::vector<at::Tensor> &tensors, int32_t root);
  const std::string &failure() const { return failure_; }

  const int32_t rank, size;

 protected:
  virtual void all_reduce(at::Tensor &t) = 0;              // dense
  virtual void spread(at::Tensor &t, int32_t root) = 0;    // dense

 private:
  template <typename Body>
  void attempt(const Body &body);

  std::string failure_;
};

// Uses LibTorch's c10d: NCCL between CUDA devices if it is there, else Gloo. Throws PeerLost
// if the others do not join in time.
std::unique_ptr<Peers> make_peers(const graft_peers_options &o);
bool has_gloo();
bool has_nccl();

// Share is this process's part of a step's batch: rows start to start + count of total. A
// process without rows repeats another's row with no weight, so that no layer gets an empty
// batch and all make the same calls.
struct Share {
  Peers *peers = nullptr;  // nullptr: this process has the whole batch
  int64_t total = 0, start = 0, count = 0;
  bool idle = false;

  static Share of(Peers *peers, int64_t total);
  double weight() const { return idle ? 0 : 1; }
};

// The share of the step on this thread; nullptr if this process has the whole batch. Layers
// that use statistics of a batch read it, as LibTorch's layers read whether gradients are
// enabled.
const Share *sharing();

class Sharing {
 public:
  explicit Sharing(const Share &share);
  ~Sharing();
  Sharing(const Sharing &) = delete;
  Sharing &operator=(const Sharing &) = delete;

 private:
  const Share *was_;
};

// An empty tensor for random numbers of x's whole batch: all processes draw the same, and each
// uses its own rows. It is like x if this process has the whole batch.
at::Tensor like_whole_batch(const at::Tensor &x);
at::Tensor own_rows(const at::Tensor &whole);

// BatchNorm over the whole batch, of which x is this process's share.
struct SharedNorm {
  at::Tensor weight, bias, running_mean, running_var;
  double momentum, eps;
};
at::Tensor shared_norm(const at::Tensor &x, const SharedNorm &n);

// Raises if a channel of a batch has one value, whose variance would make the running one NaN.
void check_values_per_channel(const at::Tensor &x, const at::Tensor &running_var);

}  // namespace graft
