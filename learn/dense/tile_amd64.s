#include "textflag.h"

// ADDROW adds the row of w in Y8 times a value of x to a row of sums.
#define ADDROW(value, sums) \
	VBROADCASTSD value, Y9  \
	VMULPD       Y8, Y9, Y9 \
	VADDPD       Y9, sums, sums

// Y0 to Y7 are the sums of the 8 rows of y, of which DI and R11 are the first and the fifth; SI and R13 are
// those of x.
//
// func addTile(y *float64, width int, x *float64, row, step int, w *float64, inner int)
TEXT ·addTile(SB), NOSPLIT, $0-56
	MOVQ    y+0(FP), DI
	MOVQ    width+8(FP), DX
	MOVQ    x+16(FP), SI
	MOVQ    row+24(FP), R8
	MOVQ    step+32(FP), R9
	MOVQ    w+40(FP), BX
	MOVQ    inner+48(FP), CX
	SHLQ    $3, DX
	SHLQ    $3, R8
	SHLQ    $3, R9
	LEAQ    (DX)(DX*2), R10
	LEAQ    (DI)(DX*4), R11
	LEAQ    (R8)(R8*2), R12
	LEAQ    (SI)(R8*4), R13
	VMOVUPD (DI), Y0
	VMOVUPD (DI)(DX*1), Y1
	VMOVUPD (DI)(DX*2), Y2
	VMOVUPD (DI)(R10*1), Y3
	VMOVUPD (R11), Y4
	VMOVUPD (R11)(DX*1), Y5
	VMOVUPD (R11)(DX*2), Y6
	VMOVUPD (R11)(R10*1), Y7

next:
	VMOVUPD (BX), Y8
	ADDROW((SI), Y0)
	ADDROW((SI)(R8*1), Y1)
	ADDROW((SI)(R8*2), Y2)
	ADDROW((SI)(R12*1), Y3)
	ADDROW((R13), Y4)
	ADDROW((R13)(R8*1), Y5)
	ADDROW((R13)(R8*2), Y6)
	ADDROW((R13)(R12*1), Y7)
	ADDQ    DX, BX
	ADDQ    R9, SI
	ADDQ    R9, R13
	DECQ    CX
	JNZ     next
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(DX*1)
	VMOVUPD Y2, (DI)(DX*2)
	VMOVUPD Y3, (DI)(R10*1)
	VMOVUPD Y4, (R11)
	VMOVUPD Y5, (R11)(DX*1)
	VMOVUPD Y6, (R11)(DX*2)
	VMOVUPD Y7, (R11)(R10*1)
	VZEROUPPER
	RET
