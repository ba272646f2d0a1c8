package simulate

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/fleet"
	"graft/results/runs"
	"graft/simulation/grid"
	"graft/work"
)

// Status describes a simulation and its workers; `graft fleet status --json` prints it.
type Status struct {
	Folder      string              `json:"folder"`            // of the simulation's run
	Cache       string              `json:"cache"`             // folder that keeps what was run
	Engine      string              `json:"engine"`            // of the workers
	Batch       string              `json:"batch"`             // its name; empty where no workers were started from here
	Cancelled   bool                `json:"cancelled"`         // the batch was cancelled
	Workers     []fleet.WorkerState `json:"workers"`           // by number
	EngineError string              `json:"trouble,omitempty"` // why the engine could not be asked
	State       grid.Progress       `json:"state"`             // how far the sequences have come
	Left        int                 `json:"sequences_left"`    // neither ended nor failed
	Legs        []RunningLeg        `json:"legs_running"`      // parts of runs that workers have taken
	ToGo        float64             `json:"seconds_to_go"`     // with the workers that run; zero where that is not known
}

// RunningLeg is a leg that a worker holds the lease of.
type RunningLeg struct {
	Sequence []string `json:"sequence"` // actions so far
	Seed     int64    `json:"seed"`     // of the run
	Owner    string   `json:"owner"`    // worker that holds it
	Dead     bool     `json:"dead"`     // the owner died on this machine; another worker will take the leg over
}

// StatusOf reads the status of the simulation in a folder. It changes nothing.
func StatusOf(ctx context.Context, env *work.Env, folder string) (*Status, error) {
	s, f, err := openWithWorkers(env, folder)
	if err != nil {
		return nil, err
	}
	return s.status(ctx, f)
}

// status reads the progress, and the workers where there are any; f may be nil.
func (s *workspace) status(ctx context.Context, f *fleet.Fleet) (*Status, error) {
	r := &Status{Folder: s.folder, Cache: s.cache(), Engine: s.Fleet.Engine, Workers: []fleet.WorkerState{}, Legs: []RunningLeg{}}
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
	if f != nil {
		r.addWorkers(ctx, f)
	}
	running := len(slices.DeleteFunc(slices.Clone(r.Legs), func(l RunningLeg) bool { return l.Dead }))
	if running > 0 {
		r.ToGo = r.State.Ahead / float64(running)
	}
	return r, nil
}

// legsUnderWay lists the legs of this simulation that are leased in the cache, which other
// simulations may share.
func legsUnderWay(env *work.Env, g *grid.Grid, cache string) ([]RunningLeg, error) {
	ready, err := g.Ready()
	if err != nil {
		return nil, err
	}
	holders, err := holdersIn(env, filepath.Join(cache, runs.LeasesFolder))
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

// holdersIn maps tasks to the holders of their leases; nil without the folder.
func holdersIn(env *work.Env, dir string) (map[string]fleet.Holder, error) {
	if _, err := env.Files.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	leases, err := fleet.OpenLeases(env.Files, dir, fleet.LeaseOptions{Clock: fleet.NewClock(env.Now), Host: fleet.ThisHost(env.Files), Random: env.Random})
	if err != nil {
		return nil, err
	}
	list, err := leases.Holders()
	held := map[string]fleet.Holder{}
	for _, h := range list {
		held[h.Task] = h
	}
	return held, errors.Join(err, leases.Close())
}

func (r *Status) addWorkers(ctx context.Context, f *fleet.Fleet) {
	r.Engine, r.Batch, r.Cancelled = f.Engine(), f.Batch().Key, f.Cancelled()
	states, err := f.Workers(ctx)
	if err != nil {
		r.EngineError = err.Error()
		return
	}
	r.Workers = states
}
