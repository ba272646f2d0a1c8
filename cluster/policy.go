package cluster

import "context"

// Policy is a registered scheduler with its requirements.
type Policy struct {
	Name      string // name in files and flags
	About     string // help text in one line
	Estimates string // default kind of estimates, such as "ebm"; empty if the policy needs no estimates
	// Oracle means that the scheduler uses the true durations of jobs, even if estimates exist.
	Oracle bool
	// Foresees means that the scheduler uses estimated durations if they exist, otherwise the true durations.
	Foresees bool
	// Estimable means that the scheduler uses estimated durations if the user names their source.
	Estimable bool
	// Deadlines means that the scheduler orders jobs by their deadlines.
	Deadlines bool
	Resizes   bool    // the scheduler changes the number of devices of running jobs
	Shrinks   bool    // the scheduler is a [Shrinker]
	Profiles  bool    // the policy needs profiles of models
	Quirks    []Quirk // faults of the scheduler's original simulator
	// Speed returns the study's speed model, modified for the quirks that affect speeds. If Speed is nil, the model is
	// used unchanged.
	Speed func(keep Quirks, model SpeedModel) SpeedModel
	// Prepare is called once for the whole cluster, before its pools are simulated. Nil means that no preparation is
	// needed.
	Prepare func(ctx context.Context, r *Run) error
	New     func(s Setup) (Scheduler, error) // makes the scheduler of a pool
}

// Listing returns the name and a one-line description.
func (p Policy) Listing() (name, about string) { return p.Name, p.About }

// Setup is the input of a new scheduler.
type Setup struct {
	Pool   *PoolRun // pool of the scheduler, with the prepared jobs
	Study  *Study   // study that contains the pool
	Quirks Quirks   // quirks to keep
	Extra  int64    // seconds for which a job keeps its devices after its work is done
	// true if jobs request parts of devices, types of nodes, or other resources such as memory; jobs that request the
	// same number of devices can then need different placements
	Varied bool
	// true if nodes have several types, and jobs require types or have different speeds on them
	Typed bool
	// true if the rates of running jobs change with the devices of other jobs, because they share links
	Linked bool
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
