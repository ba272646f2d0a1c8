// The only file that includes CUDA's headers besides c10d.cc. It is compiled separately, so that
// all else builds where they are missing. GRAFT_CUDA says that they are there.
#include "graphs.h"

#if defined(GRAFT_CUDA)
#include <map>
#include <mutex>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#if defined(GRAFT_LIMIT)
#include <c10/cuda/CUDACachingAllocator.h>
#endif
#include <c10/cuda/CUDAStream.h>
#endif

namespace graft {
namespace {

class Repeated : public Recording {
 public:
  explicit Repeated(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }

 private:
  std::function<void()> work_;
};

#if defined(GRAFT_CUDA)
class Graph : public Recording {
 public:
  explicit Graph(const std::function<void()> &work) {
    graph_.capture_begin();
    try {
      work();
    } catch (...) {
      try {
        graph_.capture_end();  // else the stream stays unusable
      } catch (...) {
      }
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

// One for each device: memory that a stream has freed is used again by the same stream only.
c10::cuda::CUDAStream stream_of(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = streams.find(device);
  if (found == streams.end()) found = streams.emplace(device, c10::cuda::getStreamFromPool(false, device)).first;
  return found->second;
}
#endif

}  // namespace

#if defined(GRAFT_CUDA)

bool can_record(const at::Device &) { return true; }

std::unique_ptr<Recording> record(const at::Device &device, std::function<void()> work) {
  if (device.is_cpu()) return std::make_unique<Repeated>(std::move(work));
  return std::make_unique<Graph>(work);
}

struct OwnStream::Guard {
  explicit Guard(const c10::cuda::CUDAStream &own) : own(own) {
    c10::cuda::getCurrentCUDAStream(own.device_index()).synchronize();
    guard.reset_stream(own);
  }
  ~Guard() {
    try {
      own.synchronize();
    } catch (...) {  // whoever reads the results next learns of it
    }
  }

  c10::cuda::CUDAStream own;
  c10::cuda::OptionalCUDAStreamGuard guard;
};

OwnStream::OwnStream(const at::Device &device, bool needed) {
  if (needed && device.is_cuda()) guard_ = std::make_unique<Guard>(stream_of(device.index()));
}

#else

bool can_record(const at::Device &device) { return device.is_cpu(); }

std::unique_ptr<Recording> record(const at::Device &device, std::function<void()> work) {
  TORCH_CHECK(device.is_cpu(), "this library cannot record work on ", device, ": CUDA's headers were missing when it was built");
  return std::make_unique<Repeated>(std::move(work));
}

struct OwnStream::Guard {};

OwnStream::OwnStream(const at::Device &, bool) {}

#endif

#if defined(GRAFT_LIMIT)
void limit_memory(int device, double share) { c10::cuda::CUDACachingAllocator::setMemoryFraction(share, device); }
#else
void limit_memory(int device, double) {
  TORCH_CHECK(false, "this library cannot limit the memory of cuda:", device, ": CUDA's headers were missing when it was built");
}
#endif

OwnStream::~OwnStream() = default;

}  // namespace graft
