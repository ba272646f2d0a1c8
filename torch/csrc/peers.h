// Processes that train together, each with a copy of the network.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "../graft.h"

namespace graft {

// What a call throws when another process is gone or silent. The border tells it
// from all else by how its message begins.
constexpr const char *kPeerLost = "peer lost: ";

class PeerLost : public std::runtime_error {
 public:
  explicit PeerLost(const std::string &why) : std::runtime_error(kPeerLost + why) {}
};

// Peers is this process's place in a group. All make the same calls in the same
// order. After a first failure every call fails: a group is made anew, not mended.
class Peers {
 public:
  Peers(int32_t rank, int32_t size) : rank(rank), size(size) {}
  virtual ~Peers() = default;

  // Adds a tensor up over all processes, in place; each gets the same bits.
  void sum(at::Tensor &t);
  // The same for many tensors: those of a type and a device go in one message.
  void sum(const std::vector<at::Tensor> &tensors);
  // Gives all processes what root has, in place.
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

// Over LibTorch's own c10d: NCCL between CUDA devices where it has that, else Gloo.
// Throws PeerLost where the others do not come in time.
std::unique_ptr<Peers> make_peers(const graft_peers_options &o);
bool has_gloo();
bool has_nccl();

// Share is the part of a step's batch that this process has: rows start to start +
// count of total. One that has none does another's row again, which counts nothing,
// so that no layer meets an empty batch and all make the same calls.
struct Share {
  Peers *peers = nullptr;  // nullptr: the batch is all here
  int64_t total = 0, start = 0, count = 0;
  bool idle = false;

  static Share of(Peers *peers, int64_t total);
  double weight() const { return idle ? 0 : 1; }
};

// The share of the step that runs on this thread; nullptr where the batch is all
// here. Layers ask for it where they look at a batch as a whole, as LibTorch's
// layers ask whether gradients are wanted.
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

// Room for what is drawn for each value of x, for the whole batch: all processes
// draw the same, and each takes its own rows. x like it where the batch is all here.
at::Tensor like_whole_batch(const at::Tensor &x);
at::Tensor own_rows(const at::Tensor &whole);

// BatchNorm over the whole batch, of which x is this process's share.
struct SharedNorm {
  at::Tensor weight, bias, running_mean, running_var;
  double momentum, eps;
};
at::Tensor shared_norm(const at::Tensor &x, const SharedNorm &n);

}  // namespace graft
