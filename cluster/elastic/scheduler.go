package elastic

import (
	"context"
	"fmt"

	"graft/cluster"
	"graft/internal/words"
)

// Scheduler chooses the number of workers and servers of each job in a slot, and their nodes.
type Scheduler interface {
	// Schedule adds tasks to the unfinished jobs of the current slot. The simulation calls Schedule after the slot
	// begins.
	Schedule(w *World)
}

// Kind is a registered scheduler.
type Kind struct {
	Name   string // name in files and flags
	About  string // one line of help
	Quirks []cluster.Quirk
	New    func(w *World) Scheduler
}

// Listing returns the name and a one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// Run simulates the study under a scheduler until all jobs have completed.
func (s Study) Run(ctx context.Context, kind Kind) (*Result, error) {
	w, err := NewWorld(s)
	if err != nil {
		return nil, err
	}
	return w.Run(ctx, kind)
}

// Run continues the simulation under a scheduler until all jobs have completed.
func (w *World) Run(ctx context.Context, kind Kind) (*Result, error) {
	scheduler := kind.New(w)
	watch := stall{}
	for !w.Done() {
		if err := w.fault(ctx, &watch); err != nil {
			return nil, fmt.Errorf("simulate scheduler %s: slot %d: %w", kind.Name, w.slot, err)
		}
		w.Begin()
		scheduler.Schedule(w)
		if w.Decided != nil {
			w.Decided(w)
		}
		w.End()
	}
	return w.Result(), nil
}

// fault returns the reason why a simulation must end before its jobs have completed.
func (w *World) fault(ctx context.Context, watch *stall) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit := w.options.Limit; limit > 0 && w.slot >= limit {
		return fmt.Errorf("reached the limit of %s with %s; raise the limit, or enlarge the cluster",
			words.Plural(limit, "slot"), words.Plural(len(w.all)-w.arrived+len(w.unfinished), "unfinished job"))
	}
	return watch.check(w)
}

// A simulation fails if all jobs together complete less than leastGain of a job's epochs in patience slots: a single
// job would then take more than ten million slots. A check for zero progress would miss jobs that crawl at interpolated
// speeds near zero.
const (
	patience  = 1000 // slots
	leastGain = 1e-4 // share of a job
)

// stall detects simulations without progress.
type stall struct {
	slots int
	gain  float64
}

func (s *stall) check(w *World) error {
	s.gain += w.gain
	s.slots++
	if w.arrived < len(w.all) || len(w.unfinished) == 0 || s.gain >= leastGain {
		*s = stall{}
	}
	if s.slots < patience {
		return nil
	}
	j := w.unfinished[0]
	return fmt.Errorf("no job made progress for %d slots and no more jobs will arrive; %s unfinished, for "+
		"example job %d of type %s with %d workers and %d servers; check the speed of this type with this "+
		"allocation, or use another scheduler",
		s.slots, words.Are(len(w.unfinished), "job"), j.ID, j.Model.Name, len(j.Workers), len(j.Servers))
}
