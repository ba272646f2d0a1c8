#include "strided.h"

#include <cstdlib>
#include <cstring>

namespace graft {

namespace {

// Whether oneDNN is kept from AVX-512 by a variable: those instruction sets are its names.
[[maybe_unused]] bool limited(const char *variable) {
  const char *set = std::getenv(variable);
  if (set == nullptr) return false;
  for (const char *name : {"SSE41", "AVX", "AVX2", "AVX2_VNNI"}) {
    if (std::strcmp(set, name) == 0) return true;
  }
  return false;
}

bool damages() {
#if defined(__x86_64__) && TORCH_VERSION_MAJOR < 2
  static const bool damaging = !__builtin_cpu_supports("avx512f") || limited("ONEDNN_MAX_CPU_ISA") || limited("DNNL_MAX_CPU_ISA");
  return damaging;
#else
  return false;
#endif
}

// Values of a vector register. With fewer input channels, images whose channels lie side by side and several threads, oneDNN
// writes beyond its memory, with every instruction set and up to LibTorch 2.11 at least.
constexpr int64_t kVector = 16;

bool overruns(const at::Tensor &x, const at::Tensor &weight) {
  return weight.size(1) < kVector && !x.is_contiguous() && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

at::Tensor every_stride(const at::Tensor &x, const at::Tensor &weight, ConvShape &shape) {
  const auto &stride = shape.stride;
  const bool strided = stride[0] > 1 || stride[1] > 1, one = weight.size(2) == 1 && weight.size(3) == 1;
  if (!strided || !one || !x.is_cpu() || !(damages() || overruns(x, weight))) return x;
  at::Tensor pixels = x;
  if (shape.padding[0] > 0 || shape.padding[1] > 0) {
    pixels = at::constant_pad_nd(x, {shape.padding[1], shape.padding[1], shape.padding[0], shape.padding[0]});
  }
  pixels = pixels.slice(2, 0, c10::nullopt, stride[0]).slice(3, 0, c10::nullopt, stride[1]).contiguous(x.suggest_memory_format());
  shape.stride = {1, 1};
  shape.padding = {0, 0};
  return pixels;
}

}  // namespace graft
