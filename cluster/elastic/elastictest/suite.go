package elastictest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// casesOfSuite is the number of random studies in the suite.
const casesOfSuite = 200

// mostSlots is far above the slots that any drawn study needs.
const mostSlots = 200_000

// rounding is the relative tolerance of times, which are rounded sums of parts of slots.
const rounding = 1e-9

// Run is the conformance suite for schedulers. It runs a scheduler on random studies. The scheduler must respect the
// capacities of nodes and the maximum numbers of tasks, and complete all jobs. Its mean completion time must not be
// less than a lower bound. The scheduler must make the same decisions in a second run. A workload in reverse order and
// shifted by some slots must have the same completion times.
func Run(t *testing.T, kind elastic.Kind) {
	t.Helper()
	for k := range casesOfSuite {
		s := Draw(rand.New(rand.NewPCG(11, uint64(k))), kind.Quirks)
		s.Options.Limit = mostSlots
		require.NoError(t, Hold(t.Context(), kind, s), "case %d: %+v", k, s)
	}
}

// Hold simulates a study under a scheduler and applies the checks of [Run].
func Hold(ctx context.Context, kind elastic.Kind, s elastic.Study) error {
	watched := &watch{study: &s}
	result, err := s.Run(ctx, watched.kind(kind))
	if err != nil {
		return err
	}
	if watched.fault != nil {
		return watched.fault
	}
	if err := complete(&s, result); err != nil {
		return err
	}
	again, err := s.Run(ctx, kind)
	if err != nil {
		return err
	}
	if again.Allocations != result.Allocations || again.MeanJCT != result.MeanJCT {
		return fmt.Errorf("a second run differs: its mean JCT is %g; expected %g, as in the first run", again.MeanJCT,
			result.MeanJCT)
	}
	if err := shifted(ctx, kind, s, result); err != nil {
		return err
	}
	return bounded(s, result)
}

// shifted checks that a workload listed in reverse order and shifted by some slots has the same completion times.
func shifted(ctx context.Context, kind elastic.Kind, s elastic.Study, before *elastic.Result) error {
	const delay = 3
	s.Jobs = slices.Clone(s.Jobs)
	slices.Reverse(s.Jobs)
	for k := range s.Jobs {
		s.Jobs[k].Arrival += delay
	}
	after, err := s.Run(ctx, kind)
	if err != nil {
		return fmt.Errorf("simulate the workload shifted by %d slots: %w", delay, err)
	}
	for k, c := range after.Completions {
		if want := before.Completions[k]; c.ID != want.ID || math.Abs(c.JCT-want.JCT) > rounding*c.End {
			return fmt.Errorf("workload shifted by %d slots: job %d takes %g slots; expected %g", delay, c.ID, c.JCT,
				want.JCT)
		}
	}
	return nil
}

// complete checks that every job ended after its arrival.
func complete(s *elastic.Study, r *elastic.Result) error {
	if len(r.Completions) != len(s.Jobs) {
		return fmt.Errorf("only %d of %d jobs completed", len(r.Completions), len(s.Jobs))
	}
	for _, c := range r.Completions {
		if !(c.JCT > 0 && c.End <= float64(r.Slots)) {
			return fmt.Errorf("job %d took %g slots and ended at slot %g; expected a positive time, and an end at "+
				"or before slot %d", c.ID, c.JCT, c.End, r.Slots)
		}
	}
	return nil
}

func bounded(s elastic.Study, r *elastic.Result) error {
	bound, err := elastic.LowerBound(s)
	if err != nil {
		return err
	}
	if r.MeanJCT < bound.Mean*(1-rounding) {
		return fmt.Errorf("the mean JCT %g is below the lower bound %+v", r.MeanJCT, bound)
	}
	return nil
}

// watch checks the state of a world after each call of a scheduler.
type watch struct {
	study *elastic.Study
	inner elastic.Scheduler
	fault error
}

func (c *watch) kind(kind elastic.Kind) elastic.Kind {
	watched := kind
	watched.New = func(w *elastic.World) elastic.Scheduler {
		c.inner = kind.New(w)
		return c
	}
	return watched
}

// Schedule implements [elastic.Scheduler].
func (c *watch) Schedule(w *elastic.World) {
	c.inner.Schedule(w)
	if c.fault == nil {
		c.fault = Check(w)
	}
}

// Check recounts the resources in use. It returns an error if a node or a job exceeds its maximum, or if a job that
// is not in the cluster has tasks.
func Check(w *elastic.World) error {
	used := make([]elastic.Resources, w.Nodes())
	for _, j := range w.Jobs() {
		if len(j.Workers) > w.Most() || len(j.Servers) > w.Most() || w.AllReduce() && len(j.Servers) > 0 {
			return fmt.Errorf("slot %d: job %d has %d workers and %d servers; expected at most %d of each, and "+
				"no servers with all-reduce", w.Slot(), j.ID,
				len(j.Workers), len(j.Servers), w.Most())
		}
		if j.Arrival > w.Slot() || j.Progress >= j.RealEpochs {
			return fmt.Errorf("slot %d: job %d is active, but it arrives at slot %d and has completed %g of %g "+
				"epochs", w.Slot(), j.ID, j.Arrival, j.Progress, j.RealEpochs)
		}
		for _, node := range j.Workers {
			used[node] = used[node].Plus(j.Model.Worker)
		}
		for _, node := range j.Servers {
			used[node] = used[node].Plus(j.Model.Server)
		}
	}
	o := w.Options()
	for node, u := range used {
		if !u.Within(o.PerNode) || o.PerNode.Plus(u.Times(-1)) != w.Free(node) {
			return fmt.Errorf("slot %d: tasks on node %d use %v of %v CPU and GPU slots, but the simulator counts %v "+
				"free slots", w.Slot(), node, u, o.PerNode, w.Free(node))
		}
	}
	return nil
}
