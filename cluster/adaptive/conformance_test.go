package adaptive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
)

// casesOfSuite is the number of random studies for each scheduler.
const casesOfSuite = 60

// Every scheduler passes the checks of hold on random studies, with and without its quirks.
func TestConformance(t *testing.T) {
	small := SchedulerOptions{Pollux: PolluxOptions{Population: 10, Generations: 5}}
	for _, kind := range small.Kinds(1) {
		t.Run(kind.Name, func(t *testing.T) {
			cases := casesOfSuite
			if kind.Adapts {
				cases /= 6 // adaptive schedulers fit job speeds, which is slow
			}
			for k := range cases {
				r := rand.New(rand.NewPCG(7, uint64(k)))
				var quirks cluster.Quirks
				if k%3 == 0 {
					quirks = cluster.QuirksOf(kind.Quirks)
				}
				hold(t, kind, drawStudy(r, quirks), fmt.Sprint("case ", k))
			}
		})
	}
}

// result holds the outcome of one job.
type result struct {
	started, ended float64
	restarts       int
	attained       float64
}

// simulate runs a study and checks its rounds.
func simulate(t *testing.T, kind Kind, s Study, note string) []result {
	t.Helper()
	s.Options.Limit = 1e6
	w, err := NewWorld(s, kind)
	require.NoError(t, err, note)
	w.Decided = func(w *World, active []*Job) { require.NoError(t, apart(w, active), note) }
	require.NoError(t, w.Run(context.Background(), kind), note)
	var all []result
	for _, j := range w.Jobs() {
		require.Equal(t, j.App.Epochs, j.Epoch, note)
		require.GreaterOrEqual(t, j.Started, j.Submitted, note)
		require.GreaterOrEqual(t, j.Ended, j.Started, note)
		all = append(all, result{j.Started, j.Ended, j.Restarts, j.Attained})
	}
	return all
}

// apart checks that no node exceeds its devices and that each batch is within its limits.
func apart(w *World, active []*Job) error {
	used := map[int]int{}
	for _, j := range active {
		for _, s := range j.Allocation {
			if used[s.Node] += s.Devices; used[s.Node] > w.Options().Devices || s.Devices < 1 {
				return fmt.Errorf("node %d has %d devices in use", s.Node, used[s.Node])
			}
		}
		if total := j.Batch.Total(j.Devices()); j.Devices() > 0 &&
			(total < 1 || total > j.App.Limits.Most || j.Batch.Device > j.App.Limits.DeviceMost) {
			return fmt.Errorf("job %s has batch %+v on %d devices", j.Name, j.Batch, j.Devices())
		}
	}
	return nil
}

// hold checks that a second run, other names, a later start and a job after the end change nothing.
func hold(t *testing.T, kind Kind, s Study, note string) {
	t.Helper()
	first := simulate(t, kind, s, note)
	require.Equal(t, first, simulate(t, kind, s, note), "%s: a second run differs", note)

	named := s
	named.Jobs = slices.Clone(s.Jobs)
	for k := range named.Jobs {
		named.Jobs[k].Name = fmt.Sprint("z", len(named.Jobs)-k)
	}
	require.Equal(t, first, simulate(t, kind, named, note), "%s: names matter", note)

	later := s
	later.Jobs = slices.Clone(s.Jobs)
	shift := 16 * s.Options.Interval
	for k := range later.Jobs {
		later.Jobs[k].Submitted += shift
	}
	for k, r := range simulate(t, kind, later, note) {
		require.InDelta(t, first[k].ended, r.ended-shift, 1e-6, "%s: job %d of a workload that comes later", note, k)
	}

	end := 0.0
	for _, r := range first {
		end = max(end, r.ended)
	}
	more := s
	more.Jobs = append(slices.Clone(s.Jobs), Spec{Name: "last", Submitted: end + 10*s.Options.Interval,
		App: s.Jobs[0].App, Devices: 1, Batch: s.Jobs[0].App.Limits.Least})
	require.Equal(t, first, simulate(t, kind, more, note)[:len(first)], "%s: a job after the end matters", note)
}
