package torch

// #include "door.h"
import "C"

import (
	"errors"
	"fmt"
)

// Instructions name the vector instructions that LibTorch computes with on the CPU, which decide
// how results are rounded.
type Instructions string

// The instructions.
const (
	Native Instructions = "native" // the fastest of the processor: unlike processors round otherwise
	AVX2   Instructions = "avx2"   // the same on every processor that has AVX2 and FMA
)

// LimitTo makes LibTorch compute with these instructions in this process. It must come before
// LibTorch is opened; afterwards it is an error to ask for others.
func LimitTo(i Instructions) error {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	failed := &Error{Op: "compute with the instructions", Subject: string(i)}
	switch {
	case i != Native && i != AVX2:
		failed.Cause, failed.Remedy = fmt.Errorf("there are %s and %s", Native, AVX2), "write one of them"
	case i == door.limit:
		return nil
	case door.opened:
		failed.Cause = fmt.Errorf("this process has begun with %s", door.limit)
		failed.Remedy = "run jobs of one kind in a process"
	case C.door_has_avx2() == 0:
		failed.Cause, failed.Remedy = errors.New("this processor does not have them"),
			fmt.Sprintf("set run.instructions = %q", Native)
	default:
		C.door_limit_to_avx2()
		door.limit = i
		return nil
	}
	return failed
}

// ComputesWith are the instructions that LibTorch computes with, or will once it is opened.
func ComputesWith() Instructions {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	return door.limit
}
