package torch

// #include "door.h"
import "C"

import (
	"errors"
	"fmt"
)

// Instructions selects the vector instructions that LibTorch uses on the CPU. They determine how results are rounded.
type Instructions string

// The sets of instructions.
const (
	Native Instructions = "native" // the fastest instructions of the processor; results differ between CPU models
	AVX2   Instructions = "avx2"   // AVX2 and FMA: results are the same on every processor that has them
)

// LimitTo makes LibTorch use only the given instructions in this process. It must be called before LibTorch is opened;
// afterwards it returns an error if the instructions differ from the current ones.
func LimitTo(i Instructions) error {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	failed := &Error{Op: "compute with the instructions", Subject: string(i)}
	switch {
	case i != Native && i != AVX2:
		failed.Cause, failed.Remedy = fmt.Errorf("expected %s or %s", Native, AVX2), "use one of these"
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

// ComputesWith returns the instructions that LibTorch uses, or will use once it is opened.
func ComputesWith() Instructions {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	return door.limit
}
