// A stand-in for NVIDIA's management library, for tests. Each value comes from an environment
// variable FAKE_NAME: a number, or a return code after an exclamation mark. Without the variable
// the value is not supported. With -DOLD the library lacks most functions, as an old driver's.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };

static int ask(const char *name, unsigned long long *value) {
  char variable[64];
  snprintf(variable, sizeof variable, "FAKE_%s", name);
  const char *text = getenv(variable);
  if (text == NULL) return NOT_SUPPORTED;
  if (text[0] == '!') return atoi(text + 1);
  *value = strtoull(text, NULL, 10);
  return SUCCESS;
}

static int ask_int(const char *name, unsigned *value) {
  unsigned long long wide = 0;
  int code = ask(name, &wide);
  if (code == SUCCESS) *value = (unsigned)wide;
  return code;
}

static int code_of(const char *name) {
  unsigned long long ignored;
  int code = ask(name, &ignored);
  return code == NOT_SUPPORTED ? SUCCESS : code;
}

int nvmlInit_v2(void) { return code_of("INIT"); }
int nvmlShutdown(void) { return code_of("SHUTDOWN"); }
int nvmlDeviceGetCount_v2(unsigned *count) { return ask_int("COUNT", count); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = (void *)(size_t)(index + 1);
  return code_of("HANDLE");
}

#ifndef OLD
int nvmlDeviceGetUUID(void *device, char *text, unsigned size) {
  snprintf(text, size, "GPU-%zu", (size_t)device - 1);
  return code_of("UUID");
}

int nvmlDeviceGetName(void *device, char *text, unsigned size) {
  snprintf(text, size, "Fake %zu", (size_t)device - 1);
  return code_of("NAME");
}

struct use {
  unsigned gpu, memory;
};

int nvmlDeviceGetUtilizationRates(void *device, struct use *use) {
  (void)device;
  ask_int("MEMORY_UTILIZATION", &use->memory);
  return ask_int("UTILIZATION", &use->gpu);
}

struct memory {
  unsigned long long total, free, used;
};

struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory) {
  (void)device;
  ask("FREE", &memory->free);
  ask("USED", &memory->used);
  return ask("TOTAL", &memory->total);
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory) {
  (void)device;
  ask("FREE", &memory->free);
  ask("USED_V2", &memory->used);
  memory->total = 0;
  ask("TOTAL", &memory->total);
  unsigned long long used;
  return ask("USED_V2", &used);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *value) { return (void)device, ask_int("POWER", value); }

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *value) { return (void)device, ask("ENERGY", value); }

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *value) { return (void)device, (void)sensor, ask_int("TEMPERATURE", value); }

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *value) { return (void)device, ask_int(kind == 1 ? "SM_CLOCK" : "MEMORY_CLOCK", value); }

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *value) { return (void)device, ask("THROTTLE", value); }

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next) {
  (void)device;
  *next = 0;
  return ask_int("MIG", now);
}

int nvmlDeviceGetComputeMode(void *device, unsigned *value) { return (void)device, ask_int("MODE", value); }

struct process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

// Two processes; the second's memory is not available. FAKE_LIE reports more than there is room for.
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *list) {
  (void)device;
  unsigned long long first;
  int code = ask("PID", &first);
  if (code != SUCCESS) return code;
  unsigned lie = 0;
  if (ask_int("LIE", &lie) == SUCCESS) {
    *count = lie;
    return SUCCESS;
  }
  if (*count < 2) return INSUFFICIENT_SIZE;
  *count = 2;
  list[0] = (struct process){(unsigned)first, 512ull << 20, 0, 0};
  list[1] = (struct process){(unsigned)first + 1, ~0ull, 0, 0};
  return SUCCESS;
}

struct sample {
  unsigned pid;
  unsigned long long stamp;
  unsigned sm, memory, encoder, decoder;
};

// Two samples of the first process, the newer one first.
int nvmlDeviceGetProcessUtilization(void *device, struct sample *list, unsigned *count, unsigned long long since) {
  (void)device, (void)since;
  unsigned first;
  int code = ask_int("PID", &first);
  if (code != SUCCESS) return code;
  if (list == NULL || *count < 2) {
    *count = 2;
    return INSUFFICIENT_SIZE;
  }
  list[0] = (struct sample){first, 2000, 64, 10, 0, 0};
  list[1] = (struct sample){first, 1000, 5, 10, 0, 0};
  return SUCCESS;
}
#endif
