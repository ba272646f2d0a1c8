// One jump for every C function behind the door. A jump goes where door.c says:
// nowhere before the library is open, into it afterwards. Arguments and results
// pass through untouched, so no signature is needed here.
#if defined(__x86_64__)
#define X(name) .globl name; .hidden name; .type name, @function; name: jmp *door_##name(%rip);
#elif defined(__aarch64__)
#define X(name) .globl name; .hidden name; .type name, %function; name: adrp x16, door_##name; ldr x16, [x16, :lo12:door_##name]; br x16;
#else
#error "graft runs on x86-64 and 64-bit Arm"
#endif

.text
#include "symbols.h"
.section .note.GNU-stack,"",%progbits
