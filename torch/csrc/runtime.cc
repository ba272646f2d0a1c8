// The library's life: threads, devices, memory, generators, tensors in and out.
#include <malloc.h>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include "graphs.h"
#include "guard.h"
#include "peers.h"

using graft::guarded;

// OpenBLAS built with OpenMP uses as many threads as the caller has, and one within a parallel region. OpenBLAS built
// with threads of its own knows nothing about LibTorch's threads and lets small products wait for its own. Absent if
// LibTorch has another BLAS.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));
extern "C" int openblas_get_parallel(void) __attribute__((weak));

namespace {

// The value of openblas_get_parallel for builds with threads of its own (OPENBLAS_THREAD in OpenBLAS's cblas.h).
constexpr int kOwnThreads = 1;

// Freed blocks stay with malloc. A training step allocates and frees the same
// blocks again and again; above the default threshold each comes from mmap and
// is paged in anew, which costs a quarter of a small network's step. 32 MiB is
// the largest threshold glibc accepts (DEFAULT_MMAP_THRESHOLD_MAX).
constexpr int kMmapThreshold = 32 << 20;
constexpr int kTrimThreshold = 1 << 30;

__attribute__((constructor)) void keep_freed_blocks() {
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
  mallopt(M_TOP_PAD, 16 << 20);
}

void copy_text(char *to, size_t size, const std::string &text) {
  std::strncpy(to, text.c_str(), size - 1);
  to[size - 1] = '\0';
}

// The text between a label and the next end mark, or nothing.
std::string after(const std::string &text, const std::string &label, const std::string &end) {
  auto at = text.find(label);
  if (at == std::string::npos) return "";
  at += label.size();
  return text.substr(at, text.find(end, at) - at);
}

}  // namespace

int64_t graft_abi(void) { return GRAFT_ABI; }

char *graft_describe(graft_runtime *out) {
  return guarded([&] {
    *out = graft_runtime{};
    out->abi = GRAFT_ABI;
    out->cuda_built = torch::hasCUDA();
    out->cuda_devices = static_cast<int32_t>(torch::cuda::device_count());
    out->threads = at::get_num_threads();
    out->gloo = graft::has_gloo();
    out->nccl = graft::has_nccl();
    out->graphs = graft::can_record(at::Device(at::kCUDA, 0));
    copy_text(out->compiled_for, sizeof out->compiled_for, TORCH_VERSION);
    // The configuration names the library that runs, not the headers of the build.
    const std::string config = at::show_config();
    copy_text(out->version, sizeof out->version, after(config, "TORCH_VERSION=", ","));
    copy_text(out->capability, sizeof out->capability, after(config, "CPU capability usage: ", "\n"));
  });
}

char *graft_set_threads(int32_t threads) {
  return guarded([&] {
    TORCH_CHECK(threads > 0, "the number of threads must be positive, not ", threads);
    at::set_num_threads(threads);
    if (openblas_get_parallel && openblas_get_parallel() == kOwnThreads) openblas_set_num_threads(1);
  });
}

char *graft_limit_memory(int32_t device, double share) {
  return guarded([&] { graft::limit_memory(device, share); });
}

// LibTorch's own setter makes its second pool of threads anew, which spin for milliseconds, even if
// the number stays. It must have run in this thread before, or it runs later and undoes this.
char *graft_use_threads(int32_t threads) {
  return guarded([&] {
    TORCH_CHECK(threads > 0, "the number of threads must be positive, not ", threads);
    at::get_num_threads();
    graft::use(threads);
  });
}

void graft_free_error(char *message) { std::free(message); }

void graft_close_tensors(graft_t *tensors, int64_t count) {
  for (int64_t k = 0; k < count; k++) delete static_cast<at::Tensor *>(tensors[k]);
}

char *graft_tensor_info(graft_t handle, graft_info *out) {
  return guarded([&] {
    const at::Tensor &t = graft::deref(handle, "tensor");
    *out = graft_info{};
    out->defined = t.defined();
    if (!t.defined()) return;
    TORCH_CHECK(t.dim() <= GRAFT_MAX_DIMS, "a tensor of ", t.dim(), " dimensions; the door takes at most ", int(GRAFT_MAX_DIMS));
    out->dtype = static_cast<int32_t>(t.scalar_type());
    out->device_type = t.is_cuda() ? 1 : 0;
    out->device_index = t.is_cuda() ? t.device().index() : 0;
    out->dims = static_cast<int32_t>(t.dim());
    for (int64_t k = 0; k < t.dim(); k++) out->sizes[k] = t.size(k);
    out->requires_grad = t.requires_grad();
  });
}

char *graft_from_host(const void *data, int32_t dtype, const int64_t *sizes,
                      int32_t dims, int32_t device_type, int32_t device_index,
                      graft_t *out) {
  return guarded([&] {
    auto options = at::TensorOptions().dtype(static_cast<at::ScalarType>(dtype));
    at::Tensor t = at::empty(at::IntArrayRef(sizes, dims), options);
    if (t.nbytes() > 0) std::memcpy(t.data_ptr(), data, t.nbytes());
    *out = graft::hand_over(t.to(graft::device_of(device_type, device_index)));
  });
}

char *graft_to_host(graft_t handle, void *data, int64_t bytes) {
  return guarded([&] {
    at::Tensor t = graft::deref(handle, "tensor").detach().to(at::kCPU).contiguous();
    TORCH_CHECK(static_cast<int64_t>(t.nbytes()) == bytes, "the tensor holds ", t.nbytes(), " bytes, the host array ", bytes);
    if (bytes > 0) std::memcpy(data, t.data_ptr(), bytes);
  });
}

int32_t graft_set_grad_mode(int32_t enabled) {
  bool was = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(enabled != 0);
  return was;
}

char *graft_generator_new(int32_t device_type, int32_t device_index, int64_t seed,
                          graft_generator *out) {
  return guarded([&] {
    auto device = graft::device_of(device_type, device_index);
    auto generator = at::globalContext().defaultGenerator(device).clone();
    generator.set_current_seed(static_cast<uint64_t>(seed));
    *out = new at::Generator(generator);
  });
}

char *graft_generator_state(graft_generator handle, graft_t *out) {
  return guarded([&] { *out = graft::hand_over(static_cast<at::Generator *>(handle)->get_state()); });
}

char *graft_generator_restore(graft_generator handle, graft_t state) {
  return guarded([&] { static_cast<at::Generator *>(handle)->set_state(graft::deref(state, "state")); });
}

void graft_generator_close(graft_generator handle) { delete static_cast<at::Generator *>(handle); }
