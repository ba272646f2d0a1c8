// Picks the widest set of kernels that this processor can run.
#include "kernels.h"

namespace graft {

extern const Kernels kernels_base;
#if defined(__x86_64__)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

static const Kernels &choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return kernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernels_avx2;
#endif
  return kernels_base;
}

const Kernels &kernels() {
  static const Kernels &chosen = choose();
  return chosen;
}

}  // namespace graft
