#define _GNU_SOURCE
#include "door.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// Where a jump leads while the library is closed: it does nothing and says so
// with NULL. gotorch's own init calls two functions that early.
static void *closed(void) { return NULL; }

#define X(name) __attribute__((visibility("hidden"))) void *door_##name = (void *)closed;
#include "symbols.h"
#undef X

static const struct {
  const char *name;
  void **target;
} jumps[] = {
#define X(name) {#name, &door_##name},
#include "symbols.h"
#undef X
};

enum { JUMPS = sizeof jumps / sizeof jumps[0] };

static char *message(const char *what, const char *detail) {
  char *text = NULL;
  if (asprintf(&text, "%s%s", what, detail == NULL ? "" : detail) < 0) return NULL;
  return text;
}

// The oneDNN of LibTorch 1.13 (2.6) loses the configuration of AMX tiles between two kernels of
// a thread, and SIGILL ends the process: bfloat16 on Sapphire Rapids. It is kept from AMX unless
// the user's environment says otherwise; the instruction sets below are its own names.
static void avoid_tiles(void) {
  setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
  setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);  // the variable's name before 2.7
}

int door_has_avx2(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return 0;
#endif
}

void door_limit_to_avx2(void) {
  static const char *const limits[][2] = {
      {"ATEN_CPU_CAPABILITY", "avx2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"},   {"DNNL_MAX_CPU_ISA", "AVX2"},
      {"OPENBLAS_CORETYPE", "Haswell"}, {"MKL_CBWR", "AVX2"},
  };
  for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) setenv(limits[k][0], limits[k][1], 1);
}

char *door_open(const char *path, const char *spin_count) {
  void *found[JUMPS];
  // libgomp reads these once, while it is loaded. What the user set stays.
  avoid_tiles();
  if (getenv("OMP_WAIT_POLICY") == NULL) setenv("GOMP_SPINCOUNT", spin_count, 0);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return message(dlerror(), NULL);
  for (int k = 0; k < JUMPS; k++) {
    found[k] = dlsym(library, jumps[k].name);
    if (found[k] == NULL) return message("the library lacks ", jumps[k].name);
  }
  for (int k = 0; k < JUMPS; k++) *jumps[k].target = found[k];
  return NULL;
}
