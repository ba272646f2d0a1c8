// See policy.h. Here the instructions are chosen; the parts of a policy are in
// policy_net.h and the files that stand beside it.
#include "policy_backward.h"
#include "policy_forward.h"
#include "policy_learn.h"
#include "policy_tree.h"

namespace graft {

extern const PolicyKernels<float> policy_single_base;
extern const PolicyKernels<double> policy_double_base;
#if defined(__x86_64__)
extern const PolicyKernels<float> policy_single_avx2, policy_single_avx512;
extern const PolicyKernels<double> policy_double_avx2, policy_double_avx512;
#endif

namespace {

// One of a table's three, or the widest that this processor can run.
template <typename Table>
const Table *choose(int set, const Table *base, const Table *avx2, const Table *avx512) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool has2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool has512 = false, has2 = false;
#endif
  switch (set) {
    case kWidest: return has512 ? avx512 : has2 ? avx2 : base;
    case kBase: return base;
    case kAVX2: return has2 ? avx2 : nullptr;
    case kAVX512: return has512 ? avx512 : nullptr;
  }
  return nullptr;
}

}  // namespace

#if defined(__x86_64__)
#define GRAFT_POLICY_SETS(kind) &policy_##kind##_base, &policy_##kind##_avx2, &policy_##kind##_avx512
#else
#define GRAFT_POLICY_SETS(kind) &policy_##kind##_base, &policy_##kind##_base, &policy_##kind##_base
#endif

template <>
const PolicyKernels<float> *policy_kernels<float>(int set) {
  return choose(set, GRAFT_POLICY_SETS(single));
}
template <>
const PolicyKernels<double> *policy_kernels<double>(int set) {
  return choose(set, GRAFT_POLICY_SETS(double));
}

template <typename T>
static std::unique_ptr<Policy> new_net(const PolicyShape &shape, const double *embedding) {
  const PolicyKernels<T> *kernels = policy_kernels<T>(shape.instructions);
  require(kernels != nullptr, "this processor has no instructions of set " + std::to_string(shape.instructions));
  return std::make_unique<Net<T>>(shape, embedding, *kernels);
}

void mersenne_next(uint32_t *state) {
  constexpr int n = kMersenneNumbers, m = 397;
  auto twist = [](uint32_t high, uint32_t low) {
    return (((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1) ^ (0x9908b0dfu & (0u - (low & 1u)));
  };
  for (int k = 0; k < n - m; k++) state[k] = state[k + m] ^ twist(state[k], state[k + 1]);
  for (int k = n - m; k < n - 1; k++) state[k] = state[k + m - n] ^ twist(state[k], state[k + 1]);
  state[n - 1] = state[m - 1] ^ twist(state[n - 1], state[0]);
}

std::unique_ptr<Policy> new_policy(const PolicyShape &shape, const double *embedding) {
  return shape.precise != 0 ? new_net<double>(shape, embedding) : new_net<float>(shape, embedding);
}

}  // namespace graft
