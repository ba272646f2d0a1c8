#include "textflag.h"

// Rows of the table of constants, to which AX points.
#define MAGNITUDE 0(AX)
#define FAR       32(AX)
#define PERHALF   64(AX)
#define ROUNDING  96(AX)
#define HALFHIGH  128(AX)
#define HALFLOW   160(AX)
#define ONE       192(AX)

// func tanhFours(y, x *float64, fours int, table *[12][4]float64)
TEXT ·tanhFours(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ fours+16(FP), CX
	MOVQ table+24(FP), AX

next:
	VMOVUPD (SI), Y0
	VMOVUPD MAGNITUDE, Y7
	VANDPD  Y0, Y7, Y1        // y
	VANDNPD Y0, Y7, Y0        // sign
	VMOVUPD FAR, Y7
	VMINPD  Y1, Y7, Y1        // a NaN stays, as the second source
	VMULPD  PERHALF, Y1, Y2
	VADDPD  ROUNDING, Y2, Y2  // shifted
	VSUBPD  ROUNDING, Y2, Y3  // n
	VPSLLQ  $52, Y2, Y2
	VPADDQ  ONE, Y2, Y2       // power
	VMULPD  HALFHIGH, Y3, Y4
	VSUBPD  Y4, Y1, Y1
	VMULPD  HALFLOW, Y3, Y4
	VSUBPD  Y4, Y1, Y1        // r
	VMULPD  Y1, Y1, Y3        // u
	VADDPD  288(AX), Y3, Y4   // 210
	VMULPD  Y3, Y4, Y4
	VADDPD  320(AX), Y4, Y4   // 4725
	VMULPD  Y3, Y4, Y4
	VADDPD  352(AX), Y4, Y4   // 10395: over
	VADDPD  224(AX), Y3, Y5   // 189
	VMULPD  Y3, Y5, Y5
	VADDPD  256(AX), Y5, Y5   // 3465
	VMULPD  Y3, Y5, Y5
	VDIVPD  Y4, Y5, Y5
	VMULPD  Y5, Y1, Y5
	VSUBPD  Y5, Y1, Y1        // t
	VADDPD  ONE, Y2, Y3
	VSUBPD  ONE, Y2, Y2
	VMULPD  Y1, Y3, Y4
	VADDPD  Y2, Y4, Y4
	VMULPD  Y1, Y2, Y5
	VADDPD  Y3, Y5, Y5
	VDIVPD  Y5, Y4, Y4
	VORPD   Y0, Y4, Y4
	VMOVUPD Y4, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET
