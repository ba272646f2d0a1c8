// No exception reaches C: every C entry runs its body in guarded().
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <torch/torch.h>

#include "../graft.h"
#include "peers.h"

namespace graft {

inline char *message(const char *text) {
  char *copy = static_cast<char *>(std::malloc(std::strlen(text) + 1));
  if (copy != nullptr) std::strcpy(copy, text);
  return copy;
}

template <typename Body>
char *guarded(Body body) {
  try {
    body();
    return nullptr;
  } catch (const c10::Error &e) {
    return message(e.what_without_backtrace());
  } catch (const std::bad_alloc &) {
    return message("out of memory: the host could not allocate");
  } catch (const std::exception &e) {
    return message(e.what());
  } catch (...) {
    return message("an exception of unknown type");
  }
}

inline const at::Tensor &deref(graft_t handle, const char *role) {
  TORCH_CHECK(handle != nullptr, role, " is missing");
  return *static_cast<at::Tensor *>(handle);
}

inline at::Tensor optional(graft_t handle) {
  return handle == nullptr ? at::Tensor() : *static_cast<at::Tensor *>(handle);
}

inline graft_t hand_over(at::Tensor t) { return new at::Tensor(std::move(t)); }

inline at::Device device_of(int32_t type, int32_t index) {
  return type == 0 ? at::Device(at::kCPU)
                   : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

inline c10::optional<at::Generator> generator_of(graft_generator handle) {
  if (handle == nullptr) return c10::nullopt;
  return *static_cast<at::Generator *>(handle);
}

}  // namespace graft
