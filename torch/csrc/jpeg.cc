// JPEG images by libjpeg-turbo, through its TurboJPEG interface, which is opened when it is first
// needed. The few names of version 2 that are used are declared here.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../graft.h"

namespace {

constexpr int kFourBytes = 2;  // TJPF_RGBX
constexpr int kFlags = 256 | 4096 | 8192 | 32768;  // fast upsampling, accurate DCT, stop at warnings, limit scans
constexpr const char *kLibrary = "libturbojpeg.so.0";

struct Turbo {
  void *(*make)() = nullptr;
  int (*header)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *) = nullptr;
  int (*decode)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int) = nullptr;
  const char *(*why)(void *) = nullptr;
  int (*destroy)(void *) = nullptr;
  std::string missing;  // why it cannot be used; empty if it can

  Turbo() {
    void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      missing = dlerror();
      return;
    }
    find(library, "tjInitDecompress", make);
    find(library, "tjDecompressHeader3", header);
    find(library, "tjDecompress2", decode);
    find(library, "tjGetErrorStr2", why);
    find(library, "tjDestroy", destroy);
  }

  template <typename Function>
  void find(void *library, const char *name, Function &to) {
    to = reinterpret_cast<Function>(dlsym(library, name));
    if (to == nullptr && missing.empty()) missing = std::string(kLibrary) + " lacks " + name;
  }
};

const Turbo &turbo() {
  static const Turbo opened;
  return opened;
}

char *message(const std::string &text) { return strdup(text.c_str()); }

std::string decoded(void *handle, const uint8_t *data, int64_t size, int32_t width, int32_t height, uint8_t *out) {
  const Turbo &t = turbo();
  int w = 0, h = 0, subsampling = 0, space = 0;
  if (t.header(handle, data, size, &w, &h, &subsampling, &space) != 0) return t.why(handle);
  if (w != width || h != height) return "it has " + std::to_string(w) + " x " + std::to_string(h) + " pixels, not " + std::to_string(width) + " x " + std::to_string(height);
  if (t.decode(handle, data, size, out, w, 4 * w, h, kFourBytes, kFlags) != 0) return t.why(handle);
  return "";
}

}  // namespace

char *graft_jpeg_open(void) { return turbo().missing.empty() ? nullptr : message(turbo().missing); }

char *graft_jpeg_decode(const uint8_t *data, int64_t size, int32_t width, int32_t height, uint8_t *out) {
  if (!turbo().missing.empty()) return message(turbo().missing);
  void *handle = turbo().make();
  if (handle == nullptr) return message("libjpeg-turbo could not begin");
  const std::string fault = decoded(handle, data, size, width, height, out);
  turbo().destroy(handle);
  return fault.empty() ? nullptr : message(fault);
}
