package simulate

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"graft/fleet"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/workers"
	"graft/simulation/grid"
)

// Status describes a simulation and its workers; `graft fleet status --json` prints it.
type Status struct {
	Folder string `json:"folder"` // path of the simulation's run folder
	Cache  string `json:"cache"`  // path of the cache folder
	workers.Status
	State grid.Progress `json:"state"`          // progress of the sequences
	Left  int           `json:"sequences_left"` // number of sequences that neither ended nor failed
	Legs  []RunningLeg  `json:"legs_running"`   // segments whose lease a worker holds
	ToGo  float64       `json:"seconds_to_go"`  // estimated remaining time with the current workers; zero if unknown
}

// RunningLeg is a segment whose lease a worker holds.
type RunningLeg struct {
	Sequence []string `json:"sequence"` // actions so far
	Seed     int64    `json:"seed"`     // seed of the run
	Owner    string   `json:"owner"`    // name of the worker that holds the lease
	Dead     bool     `json:"dead"`     // the worker died on this machine; another worker will take the segment over
}

// StatusOf reads the status of the simulation in a folder without changing it.
func StatusOf(ctx context.Context, env *app.Env, folder string) (*Status, error) {
	s, f, err := openWithWorkers(env, folder)
	if err != nil {
		return nil, err
	}
	return s.status(ctx, f)
}

// status reads the progress, and the workers if there are any; f may be nil.
func (s *workspace) status(ctx context.Context, f *fleet.Fleet) (*Status, error) {
	r := &Status{Folder: s.folder, Cache: s.cache(), Status: workers.StatusOf(ctx, s.Fleet.Engine, f),
		Legs: []RunningLeg{}}
	g, err := s.grid()
	if err != nil {
		return nil, err
	}
	if r.State, err = g.Progress(); err != nil {
		return nil, err
	}
	r.Left = r.State.Sequences - r.State.Ended - r.State.Failed
	if r.Legs, err = legsUnderWay(s.env, g, r.Cache); err != nil {
		return nil, err
	}
	running := len(slices.DeleteFunc(slices.Clone(r.Legs), func(l RunningLeg) bool { return l.Dead }))
	if running > 0 {
		r.ToGo = r.State.Ahead / float64(running)
	}
	return r, nil
}

// legsUnderWay lists the legs of this simulation that are leased in the cache, which other simulations may share.
func legsUnderWay(env *app.Env, g *grid.Grid, cache string) ([]RunningLeg, error) {
	ready, err := g.Ready()
	if err != nil {
		return nil, err
	}
	holders, err := workers.Holders(env, filepath.Join(cache, runs.LeasesFolder))
	if err != nil {
		return nil, err
	}
	legs := []RunningLeg{}
	for _, leg := range ready {
		if h, ok := holders[g.Key(leg)]; ok {
			legs = append(legs, RunningLeg{leg.Sequence, leg.Seed, h.Owner, h.Dead})
		}
	}
	slices.SortStableFunc(legs, func(a, b RunningLeg) int { return cmp.Compare(a.Owner, b.Owner) })
	return legs, nil
}
