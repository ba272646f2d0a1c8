// Work on a device that is issued once and then repeated: CUDA graphs.
#pragma once

#include <functional>
#include <memory>

#include <ATen/ATen.h>

namespace graft {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

// Whether work on a device can be recorded with this library.
bool can_record(const at::Device &device);

// Records work without running it: on a CUDA device as a graph of its kernels, which reads and
// writes the same tensors at each replay. On the CPU a replay calls the work again.
std::unique_ptr<Recording> record(const at::Device &device, std::function<void()> work);

// Limits the memory of a CUDA device that this process takes, to a share of the whole.
void limit_memory(int device, double share);

// OwnStream lets this thread work on a stream beside the default one, on which nothing can be
// recorded. It waits for what is under way when it begins and when it ends.
class OwnStream {
 public:
  OwnStream(const at::Device &device, bool needed);
  ~OwnStream();
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;  // nullptr: the stream stays
};

}  // namespace graft
