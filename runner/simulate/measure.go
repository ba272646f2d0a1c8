package simulate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"graft/model"
	"graft/runner/app"
	"graft/runner/workers"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// Limits of a measurement of workers, which takes about two seconds.
const (
	measureRounds = 20
	measureBurst  = 100 * time.Millisecond
)

// measure trains the largest network of the scenario on random images, concurrently with other workers, and writes its
// speed and memory.
func (s *workspace) measure(ctx context.Context, scope *torch.Scope, o workers.Options) error {
	worker, err := strconv.Atoi(o.Name)
	if err != nil {
		return fmt.Errorf("measure a worker: invalid worker number %q; workers are started by 'graft simulate'", o.Name)
	}
	lab, err := s.lab(ctx, scope, o) // with images in memory
	if err != nil {
		return err
	}
	n, err := s.largest()
	if err != nil {
		return err
	}
	var late error
	gathered := false
	m, err := trainer.Measure(ctx, []clock.Subject{{Network: n}}, trainer.MeasureOptions{Device: lab.Device,
		Batches: []int{s.Train.Batch}, Rounds: measureRounds, Burst: measureBurst,
		Exact: lab.Options.Exact, Steady: lab.Options.Steady, Optimizer: lab.Options.Optimizer, Now: s.env.Now,
		Tell: func(string, int, int) {
			if !gathered { // warmed up
				gathered, late = true, s.gather(ctx, o.Folder, o.Name, o.Measure)
			}
		}})
	if err = errors.Join(late, err); err != nil {
		return fmt.Errorf("measure a worker: %w", err)
	}
	found := measure{Rate: float64(s.Train.Batch) / m.Networks[0].StepSeconds, Memory: app.PeakMemory(s.env.Files)}
	if lab.Device != torch.CPU {
		found.Shared = true
		if found.Memory, _, err = app.DeviceMemory(s.env, lab.Device.String()); err != nil {
			found.Memory = 0 // unknown
		}
	}
	return writeMeasure(s.env.Files, measurePath(o.Folder, worker), found)
}

// largest returns the network with the most parameters among all sequences.
func (s *workspace) largest() (n *model.Network, err error) {
	space, err := s.plan.Space()
	if err != nil {
		return nil, err
	}
	err = space.EachNetwork(func(other *model.Network) error {
		if n == nil || other.Parameters() > n.Parameters() {
			n = other
		}
		return nil
	})
	return n, err
}
