// Large blocks of memory for tensors on the CPU. A training step allocates and frees blocks of the same sizes each
// time. malloc returns large blocks to the system, which then pages in the next ones; this takes up to 40% of the step
// of a network with large activations. Here, freed blocks are kept for the next step, and consist of huge pages.
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>

namespace {

// malloc maps blocks of this size and above (kMmapThreshold in runtime.cc).
constexpr size_t kLarge = 32 << 20;
constexpr size_t kPage = 4096;
// A kept block also serves a request that is smaller by up to this fraction.
constexpr size_t kSlack = 8;
// Allocations after which an earlier peak no longer counts, so that memory of a larger network is returned.
constexpr int64_t kWindow = 10000;

// Kept and used blocks together need at most a quarter more memory than the used ones did at their peak. Without the
// quarter, blocks of different sizes replace each other within a step.
class LargeBlocks {
 public:
  // Returns nullptr if the system has no memory.
  void *take(size_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (++taken_ % kWindow == 0) {
      earlier_peak_ = peak_;
      peak_ = in_use_;
    }
    Block b = reuse(size);
    if (!b.start) b = map((size + kPage - 1) / kPage * kPage);
    if (!b.start) return nullptr;
    in_use_ += b.size;
    peak_ = std::max(peak_, in_use_);
    used_[b.start] = b.size;
    return b.start;
  }

  // Reports whether the memory is one of the blocks.
  bool put(void *start) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = used_.find(start);
    if (at == used_.end()) return false;
    kept_.push_back({start, at->second});
    in_use_ -= at->second;
    keeping_ += at->second;
    used_.erase(at);
    shrink(limit());
    return true;
  }

 private:
  struct Block {
    void *start;
    size_t size;
  };

  size_t limit() const { return std::max(peak_, earlier_peak_) * 5 / 4; }

  // Takes the smallest kept block that is large enough, if one is not much larger.
  Block reuse(size_t size) {
    auto best = kept_.end();
    for (auto b = kept_.begin(); b != kept_.end(); ++b)
      if (b->size >= size && b->size <= size + size / kSlack && (best == kept_.end() || b->size < best->size))
        best = b;
    if (best == kept_.end()) return {nullptr, 0};
    Block b = *best;
    keeping_ -= b.size;
    kept_.erase(best);
    return b;
  }

  Block map(size_t size) {
    shrink(std::max(limit(), in_use_ + size) - size);
    void *start = mapped(size);
    if (!start) {
      shrink(in_use_);
      start = mapped(size);
    }
    return {start, size};
  }

  static void *mapped(size_t size) {
    void *start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start != MAP_FAILED) madvise(start, size, MADV_HUGEPAGE);
  return start == MAP_FAILED ? nullptr : start;
  }

  // Returns the oldest kept blocks to the system until used and kept ones need at most a number of bytes.
  void shrink(size_t most) {
    while (!kept_.empty() && in_use_ + keeping_ > most) {
      munmap(kept_.front().start, kept_.front().size);
      keeping_ -= kept_.front().size;
      kept_.pop_front();
    }
  }

  std::mutex mutex_;
  std::unordered_map<void *, size_t> used_;
  std::list<Block> kept_;  // oldest first
  size_t in_use_ = 0, keeping_ = 0, peak_ = 0, earlier_peak_ = 0;
  int64_t taken_ = 0;
};

// Never destroyed, because tensors may be freed at the end of the process.
LargeBlocks &large_blocks() {
  static LargeBlocks *blocks = new LargeBlocks;
  return *blocks;
}

// LibTorch's allocator, for all other blocks.
c10::Allocator *others;

void release(void *start) {
  // Mapped blocks begin at a page.
  if (reinterpret_cast<uintptr_t>(start) % kPage == 0 && large_blocks().put(start)) return;
  others->raw_deleter()(start);
}

// LibTorch's allocator, except for large blocks. LibTorch 2.3 changed allocate to a function that is not const, and
// added copy_data, so neither is marked as an override.
struct KeepingAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t size) const { return block(size); }
  c10::DataPtr allocate(size_t size) { return block(size); }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t size) const { std::memcpy(to, from, size); }

 private:
  static c10::DataPtr block(size_t size) {
    void *start = size < kLarge ? nullptr : large_blocks().take(size);
    if (!start) start = others->raw_allocate(size);  // throws if the system has no memory
    return {start, start, &release, c10::Device(c10::DeviceType::CPU)};
  }
};

// GRAFT_KEEP_BLOCKS=0 leaves all blocks to malloc.
__attribute__((constructor)) void keep_large_blocks() {
  const char *keep = std::getenv("GRAFT_KEEP_BLOCKS");
  if (keep && !std::strcmp(keep, "0")) return;
  static KeepingAllocator allocator;
  others = c10::GetCPUAllocator();
  c10::SetCPUAllocator(&allocator, 1);
}

}  // namespace
