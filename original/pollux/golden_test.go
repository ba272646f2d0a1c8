package pollux

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/adaptive"
)

// golden is a recorded run: its jobs, and the rounds in which allocations changed.
type golden struct {
	Workload string
	Rounds   int `json:"rounds_run"`
	Jobs     map[string]struct {
		Submit, Start, Finish, JCT float64
		Restarts, Epochs           int
		Attained                   float64 `json:"attained_service"`
		Progress                   float64
	}
	Changes []change `json:"rounds"`
}

// change holds the allocations that changed in a round.
type change struct {
	clock       float64
	allocations map[string][]adaptive.Share
}

func (c *change) UnmarshalJSON(text []byte) error {
	var pairs map[string][][2]int
	if err := json.Unmarshal(text, &[]any{&c.clock, &pairs}); err != nil {
		return err
	}
	c.allocations = map[string][]adaptive.Share{}
	for name, list := range pairs {
		shares := []adaptive.Share{}
		for _, p := range list {
			shares = append(shares, adaptive.Share{Node: p[0], Devices: p[1]})
		}
		c.allocations[name] = shares
	}
	return nil
}

// recorder records the rounds in which allocations change.
type recorder struct {
	last map[string][]adaptive.Share
	list []change
}

func (r *recorder) note(w *adaptive.World, active []*adaptive.Job) {
	now := map[string][]adaptive.Share{}
	for _, j := range active {
		if len(j.Allocation) > 0 {
			now[j.Name] = slices.Clone(j.Allocation)
		}
	}
	c := change{w.Now(), map[string][]adaptive.Share{}}
	for name, shares := range now {
		if !slices.Equal(shares, r.last[name]) {
			c.allocations[name] = shares
		}
	}
	for name := range r.last {
		if now[name] == nil {
			c.allocations[name] = []adaptive.Share{}
		}
	}
	if len(c.allocations) > 0 {
		r.list = append(r.list, c)
	}
	r.last = now
}

// Every change of an allocation and every figure of a job equals the recorded one, to the last bit.
func TestRecordedRounds(t *testing.T) {
	apps := applications(t)
	for _, name := range []string{"tiresias-0.5", "tiresias-1.0", "optimus-0.5", "optimus-1.0"} {
		t.Run(name, func(t *testing.T) {
			var want golden
			read(t, "golden/"+name+"-workload-6.json", &want)
			kind, err := adaptive.Named(name[:len(name)-len("-0.5")])
			require.NoError(t, err)
			w, err := adaptive.NewWorld(study(t, apps, name[len(name)-len("0.5"):]+"/workload-6", kind), kind)
			require.NoError(t, err)
			var r recorder
			w.Decided = r.note
			require.NoError(t, w.Run(context.Background(), kind))
			require.Equal(t, want.Rounds, w.Rounds())
			require.Len(t, w.Jobs(), len(want.Jobs))
			for _, j := range w.Jobs() {
				g := want.Jobs[j.Name]
				got := []float64{j.Submitted, j.Started, j.Ended, j.JCT(), float64(j.Restarts), float64(j.Epoch),
					j.Attained, j.Progress}
				require.Equal(t, []float64{g.Submit, g.Start, g.Finish, g.JCT, float64(g.Restarts), float64(g.Epochs),
					g.Attained, g.Progress}, got, j.Name)
			}
			require.Equal(t, want.Changes, r.list)
		})
	}
}

// With other clusters, rounds and interference, each job ends at the recorded second.
func TestRecordedOptions(t *testing.T) {
	apps := applications(t)
	var options struct {
		Runs []struct {
			Policy, Workload       string
			Nodes                  int
			Devices                int `json:"gpus_per_node"`
			Interval, Interference float64
			Jobs                   map[string][2]float64
		}
	}
	read(t, "golden/options.json", &options)
	for _, run := range options.Runs {
		kind, err := adaptive.Named(run.Policy)
		require.NoError(t, err)
		s := study(t, apps, run.Workload, kind)
		s.Options.Nodes, s.Options.Devices, s.Options.Interval, s.Options.Interference = run.Nodes, run.Devices,
			run.Interval, run.Interference
		w, err := s.Run(context.Background(), kind)
		require.NoError(t, err)
		for _, j := range w.Jobs() {
			require.Equal(t, run.Jobs[j.Name], [2]float64{j.Ended, float64(j.Restarts)}, "%s of %s", j.Name,
				run.Workload)
		}
	}
}
