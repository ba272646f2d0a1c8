// Opening the shared library that holds gotorch's C++ half and graft's shim.
#ifndef GRAFT_DOOR_H
#define GRAFT_DOOR_H

// Opens the library at path and points every jump of door.S into it. Returns
// NULL, or a message that the caller frees; nothing is changed on failure.
char *door_open(const char *path, const char *spin_count);

// Whether the processor has AVX2 and FMA.
int door_has_avx2(void);

// Keeps all libraries that LibTorch computes with to AVX2 and FMA, whose names of processors and
// instruction sets these are, whatever the environment says. Comes before door_open.
void door_limit_to_avx2(void);

#endif
