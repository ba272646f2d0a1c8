package torch

// #include "door.h"
import "C"

import (
	"errors"
	"fmt"
)

// Instructions selects the set of vector instructions that LibTorch uses on the CPU. This set determines how results
// are rounded.
type Instructions string

// The supported instruction sets.
const (
	Native Instructions = "native" // the fastest instructions of the processor; results differ between CPU models
	AVX2   Instructions = "avx2"   // AVX2 and FMA: results are the same on every processor that has them
)

// LimitTo makes LibTorch use only the given instruction set in this process. Call it before LibTorch is loaded;
// afterwards it returns an error if the given instruction set is not the one in use.
func LimitTo(i Instructions) error {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	failed := &Error{Op: "compute with the instructions", Subject: string(i)}
	switch {
	case i != Native && i != AVX2:
		failed.Cause, failed.Remedy = fmt.Errorf("unknown instructions; expected %s or %s", Native,
			AVX2), "use one of these"
	case i == door.limit:
		return nil
	case door.opened:
		failed.Cause = fmt.Errorf("this process already uses %s", door.limit)
		failed.Remedy = "run jobs with different instructions in separate processes"
	case C.door_has_avx2() == 0:
		failed.Cause, failed.Remedy = errors.New("this processor does not support these instructions"),
			fmt.Sprintf("set run.instructions = %q", Native)
	default:
		C.door_limit_to_avx2()
		door.limit = i
		return nil
	}
	return failed
}

// ComputesWith returns the instruction set that LibTorch uses, or will use once it is loaded.
func ComputesWith() Instructions {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	return door.limit
}
