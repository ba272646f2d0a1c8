package torch

// #include "graft.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// StepTimes holds the times, in seconds, of the parts of a training step, or of an evaluated batch, on the CPU. The
// parts add up to the time of the step. The times of backward passes and of the optimizer are zero in an evaluation.
type StepTimes struct {
	// Forward and Backward are the times of the operators, in order: of the layers of a [Builder], or of the calls of a
	// [CallList] that run in both modes. An operator that the program fuses into an earlier one takes no time.
	Forward, Backward []float64
	Updates           []float64 // times in which the optimizer updates each of its parameters
	Batch             float64   // time to select the examples of the batch and to augment them
	Loss              float64   // time of the loss in both passes, and of counting correct outputs
	Rest              float64   // remaining time, such as the time to remove gradients
}

// stepParts is the number of times that belong to no operator and to no parameter.
const stepParts = 3

// timing is the memory for the times of the steps of a call.
type timing struct {
	operators, parameters int
	seconds               []float64
}

// times provides memory for the times of steps. It returns nil if steps are not timed.
func (b *Batches) times(p *Program, o *Optimizer, steps int, c *C.graft_batches, pin *runtime.Pinner) *timing {
	if !b.Timed {
		return nil
	}
	t := &timing{operators: int(C.graft_program_operators(p.handle))}
	if o != nil {
		t.parameters = len(o.Slots)
	}
	t.seconds = make([]float64, steps*t.width())
	pin.Pin(unsafe.SliceData(t.seconds))
	c.times = (*C.double)(unsafe.SliceData(t.seconds))
	return t
}

func (t *timing) width() int { return 2*t.operators + t.parameters + stepParts }

// steps divides the memory into steps.
func (t *timing) steps() (all []StepTimes) {
	if t == nil {
		return nil
	}
	for row := t.seconds; len(row) > 0; row = row[t.width():] {
		n, updates := t.operators, row[2*t.operators:]
		rest := updates[t.parameters:]
		all = append(all, StepTimes{Forward: row[:n], Backward: row[n : 2*n], Updates: updates[:t.parameters],
			Batch: rest[0], Loss: rest[1], Rest: rest[2]})
	}
	return all
}
