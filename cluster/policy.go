package cluster

import "context"

// Policy is a registered way to schedule a cluster, with what it needs.
type Policy struct {
	Name      string  // by which it is called
	About     string  // what it does, in a line
	Estimates string  // kind of estimates that it takes by default, such as "ebm"; empty needs no estimates
	Profiles  bool    // whether it needs profiles of models
	Quirks    []Quirk // faults of the simulator that had it first
	// Speed wraps the study's speed model, for quirks that touch it; nil takes it as it is.
	Speed func(keep Quirks, model SpeedModel) SpeedModel
	// Prepare looks at the whole cluster before its pools are simulated; nil does nothing.
	Prepare func(ctx context.Context, r *Run) error
	New     func(s Setup) (Scheduler, error) // makes the scheduler of a pool
}

// Listing returns the name and the line of help.
func (p Policy) Listing() (name, about string) { return p.Name, p.About }

// Setup is the input of a new scheduler.
type Setup struct {
	Pool   *PoolRun // its pool, with the jobs as they were prepared
	Study  *Study   // the study that the pool is a part of
	Quirks Quirks   // that are kept
	Extra  int64    // seconds that jobs keep their devices for at the end
	// whether jobs that ask for as many devices may need different places: parts of devices or other
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

// extra is for how many seconds jobs keep their devices at the end.
func (r *Run) extra() int64 {
	if r.Quirks.Keeps(ExtraSecond) && r.policy.AllQuirks().Keeps(ExtraSecond) {
		return 1
	}
	return 0
}
