package cluster

import "context"

// Policy is a registered scheduler with its requirements.
type Policy struct {
	Name      string // name in files and flags
	About     string // one line of help
	Estimates string // default kind of estimates, such as "ebm"; empty needs no estimates
	// Oracle means that the scheduler uses the true durations of jobs. Estimates that are given do not change it.
	Oracle bool
	// Foresees means that the scheduler uses estimated durations if they exist, and the true durations otherwise.
	Foresees bool
	Profiles bool    // needs profiles of models
	Quirks   []Quirk // faults of the scheduler's first simulator
	// Speed wraps the study's speed model, for quirks that affect it; nil does not wrap it.
	Speed func(keep Quirks, model SpeedModel) SpeedModel
	// Prepare runs on the whole cluster before its pools are simulated; may be nil.
	Prepare func(ctx context.Context, r *Run) error
	New     func(s Setup) (Scheduler, error) // makes the scheduler of a pool
}

// Listing returns the name and the line of help.
func (p Policy) Listing() (name, about string) { return p.Name, p.About }

// Setup is the input of a new scheduler.
type Setup struct {
	Pool   *PoolRun // its pool, with the prepared jobs
	Study  *Study   // study of the pool
	Quirks Quirks   // kept quirks
	Extra  int64    // seconds that jobs keep their devices after their work is done
	// jobs that request equal numbers of devices may need different placements, since parts of devices or other
	// resources are counted
	Varied bool
}

func (r *Run) speed() SpeedModel {
	model := r.Study.Speed
	if model == nil {
		model = LinearSpeed{r.Profiles}
	}
	if r.policy.Speed != nil {
		model = r.policy.Speed(r.Quirks, model)
	}
	return model
}

// extra returns the seconds that jobs keep their devices after their work is done.
func (r *Run) extra() int64 {
	if r.Quirks.Keeps(ExtraSecond) && r.policy.AllQuirks().Keeps(ExtraSecond) {
		return 1
	}
	return 0
}
