package sweep

import (
	"cmp"
	"context"
	"slices"

	"graft/fleet"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/workers"
)

// Status describes trials and their workers; `graft fleet status --json` prints it.
type Status struct {
	Folder string `json:"folder"` // path of the run folder
	workers.Status
	Trials  int                `json:"trials"`      // total number of trials
	Ended   int                `json:"ended"`       // number of trials with an outcome
	Failed  []runs.FailedTrial `json:"failed"`      // failed trials, which the option resume retries
	Left    int                `json:"trials_left"` // number of trials that neither ended nor failed
	Running []RunningTrial     `json:"running"`     // trials whose lease a worker holds
}

// RunningTrial is a trial whose lease a worker holds.
type RunningTrial struct {
	Case  string `json:"case"`  // name of the case
	Seed  int64  `json:"seed"`  // seed of the trial
	Owner string `json:"owner"` // name of the worker that holds the lease
	Dead  bool   `json:"dead"`  // the worker died on this machine; another worker will take the trial over
}

// StatusOf reads the status of the trials in a folder without changing it.
func StatusOf(ctx context.Context, env *app.Env, folder string) (*Status, error) {
	s, f, err := openWithWorkers(env, folder)
	if err != nil {
		return nil, err
	}
	all, err := s.look()
	if err != nil {
		return nil, err
	}
	holders, err := workers.Holders(env, s.at(runs.LeasesFolder))
	if err != nil {
		return nil, err
	}
	r := &Status{Folder: s.folder, Status: workers.StatusOf(ctx, s.Fleet.Engine, f), Trials: len(all),
		Failed: []runs.FailedTrial{}, Running: []RunningTrial{}}
	for _, t := range all {
		h, held := holders[t.Key()]
		switch {
		case t.state == ended:
			r.Ended++
		case t.state == failed:
			r.Failed = append(r.Failed, runs.FailedTrial{Case: t.Case.Name, Seed: t.Seed, Why: t.why,
				Diverged: t.diverged})
		case held:
			r.Running = append(r.Running, RunningTrial{t.Case.Name, t.Seed, h.Owner, h.Dead})
		}
	}
	r.Left = r.Trials - r.Ended - len(r.Failed)
	slices.SortStableFunc(r.Running, func(a, b RunningTrial) int { return cmp.Compare(a.Owner, b.Owner) })
	return r, nil
}

// openWithWorkers opens trials and their batch; nil if there is none.
func openWithWorkers(env *app.Env, folder string) (*sweep, *fleet.Fleet, error) {
	f, folder, err := workers.Enter(env, folder)
	if err != nil {
		return nil, nil, err
	}
	s, err := openFolder(env, folder)
	return s, f, err
}
